package dev.semel.trials.dashboard;

import static com.microsoft.playwright.assertions.PlaywrightAssertions.assertThat;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.microsoft.playwright.Page;
import dev.semel.trials.support.ApiCaller;
import dev.semel.trials.support.ConcurrentCalls;
import dev.semel.trials.support.LiveServer;
import dev.semel.trials.support.ProblemResponseChecks;
import dev.semel.trials.support.SampleWorkflows;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;

/** Many workflows, many steps, and many kinds of things to go to. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@Tag("trial")
class LargeListsInBrowserTest {
    private static final int STEPS = 450;

    private LiveServer server;

    @BeforeAll
    void open(@TempDir Path folder) {
        server = LiveServer.dev("sqlite:" + folder.resolve("semel.db"), folder);
    }

    @AfterAll
    void close() {
        server.close();
    }

    private ApiCaller api() {
        return server.admin();
    }

    @Test
    void every_workflow_has_a_link() {
        for (int i = 0; i < 60; i++) {
            api().publish(SampleWorkflows.flow("many_%03d".formatted(i))).expect(200);
        }
        JsonNode page =
                api().get("/v1/workflows?name=many_&limit=50&summary=true").json();
        assertEquals(50, page.path("items").size());
        assertEquals(60, page.path("total").asInt());
        assertTrue(
                page.at("/items/0/rollout/0/runs").has("completed"),
                page.at("/items/0").toString());
        assertEquals(
                10,
                api().get("/v1/workflows?name=many_&limit=50&after="
                                + page.path("next").asString())
                        .json()
                        .path("items")
                        .size());
        assertTrue(api().get("/v1/workflows").json().path("items").size() > 60, "without a limit all are notified");
        try (BrowserTab tab = BrowserTab.open(server.port()).enter().go("/workflows?name=many_")) {
            assertThat(tab.page().locator("a[href='/workflows/many_055']")).hasCount(0);
            tab.page().locator("text=More workflows").click();
            assertThat(tab.page().locator("a[href='/workflows/many_055']")).isVisible();
            assertThat(tab.page().locator("tbody tr")).hasCount(10);
            tab.page().locator("#f-name").fill("_007");
            tab.page().locator("#f-name").press("Enter");
            assertThat(tab.page().locator("tbody tr")).hasCount(1);
        }
    }

    @Test
    void a_run_with_many_steps_is_shown_in_parts() {
        api().publish("""
            semel: 1
            workflow: long
            owner: trials
            steps:
              - id: all
                for_each: ${ input.items }
                item_key: ${ item }
                steps: [{id: one, set: "${ item }"}]
            """).expect(200);
        String items =
                IntStream.range(0, STEPS).mapToObj(i -> "\"i" + i + "\"").collect(Collectors.joining(",", "[", "]"));
        String id = api().post("/v1/workflows/long/trigger?wait=60s", "{\"data\":{\"items\":" + items + "}}")
                .expect(200)
                .text("run_id");
        JsonNode first = api().get("/v1/runs/" + id + "/timeline?limit=10").json();
        int total = first.path("total").asInt();
        assertTrue(total >= STEPS, first.toString());
        assertEquals(10, first.path("items").size());
        JsonNode last =
                api().get("/v1/runs/" + id + "/timeline?after=" + (total - 3)).json();
        assertEquals(3, last.path("items").size());
        assertTrue(last.path("next").isNull());
        assertEquals(
                first.at("/items/3/path").asString(),
                api().get("/v1/runs/" + id + "/timeline?limit=1&after=3")
                        .json()
                        .at("/items/0/path")
                        .asString());
        ProblemResponseChecks.expect(api().get("/v1/runs/" + id + "/timeline?after=x"), 400, "invalid-input");
        try (BrowserTab tab = BrowserTab.open(server.port()).enter().go("/runs/" + id)) {
            Page page = tab.page();
            assertThat(page.locator("table.bars tbody tr")).hasCount(400);
            assertThat(page.locator("#run")).containsText("The page shows the first 200 and the last 200 of " + total);
            page.locator("text=Steps in between").click();
            assertThat(page.locator("#run")).containsText("The page shows steps 201 to");
        }
    }

    @Test
    void the_search_opens_every_kind_of_page_also_for_deleted_objects() {
        api().put("/v1/profiles/usr_eva", "{\"email\":\"eva@example.com\"}").expect(200);
        api().put("/v1/secrets/shop_signing", "{\"value\":\"whsec_x\"}").expect(200);
        api().put("/v1/webhooks/shop_source", "{\"preset\":\"stripe\",\"secrets\":[\"shop_signing\"]}")
                .expect(200);
        String event = api().post(
                        "/v1/events", "{\"id\":\"e_1\",\"type\":\"nobody.wants\",\"source\":\"shop\",\"data\":{}}")
                .expect(200)
                .json()
                .at("/event/event_id")
                .asString();
        String lead = api().post(
                        "/v1/workflows/new_lead/trigger",
                        "{\"data\":{\"form_submission_id\":\"go_1\",\"email\":\"eva@example.com\",\"region\":\"emea\","
                                + "\"plan\":\"pro\"}}")
                .expect(200)
                .text("run_id");
        String[] effect = {""};
        ConcurrentCalls.until("it has an effect", () -> {
            api().get("/v1/runs/" + lead + "/timeline")
                    .json()
                    .path("items")
                    .valueStream()
                    .filter(step -> step.path("name").asString().equals("create_lead"))
                    .forEach(step -> effect[0] = step.path("effect_key").asString(""));
            return !effect[0].isEmpty();
        });
        String gone = "run_" + "0".repeat(22);
        try (BrowserTab tab = BrowserTab.open(server.port()).enter().expecting("404")) {
            for (String[] one : new String[][] {
                {"usr_eva", "/settings/profiles/usr_eva"},
                {"shop_source", "/webhooks/shop_source"},
                {event, "/events/" + event},
                {effect[0], "/effects?q=key"},
                {gone, "/runs/" + gone},
                {"no_such_thing", "/keys?prefix=no_such_thing"}
            }) {
                tab.go("/search?to=" + URLEncoder.encode(one[0], StandardCharsets.UTF_8));
                assertTrue(
                        tab.page().url().contains(one[1]),
                        one[0] + " led to " + tab.page().url());
            }
            tab.go("/search?to=" + gone);
            assertThat(tab.page().locator("h1")).hasText("Not found");
            tab.page().locator("h1").click();
            tab.page().keyboard().press("?");
            for (String letter : new String[] {"h webhooks", "p safe replays", "v reviews", "x workers"}) {
                assertThat(tab.page().locator("#keys-help")).containsText(letter);
            }
        }
    }
}
