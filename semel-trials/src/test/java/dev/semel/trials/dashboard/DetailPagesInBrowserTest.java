package dev.semel.trials.dashboard;

import static com.microsoft.playwright.assertions.PlaywrightAssertions.assertThat;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.microsoft.playwright.Locator;
import com.microsoft.playwright.Page;
import com.microsoft.playwright.options.AriaRole;
import dev.semel.server.demo.DemoExternalApi;
import dev.semel.trials.support.ApiCaller;
import dev.semel.trials.support.ConcurrentCalls;
import dev.semel.trials.support.LiveServer;
import java.net.URI;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.io.TempDir;

/** The pages on which somebody acts: plans of replays, reviews, incidents. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@Tag("trial")
class DetailPagesInBrowserTest {
    private static final String ORDER =
            "{\"data\":{\"order_id\":\"10443\",\"warehouse\":\"berlin\",\"total\":4900,\"lines\":"
                    + "[{\"sku\":\"SKU-881\",\"qty\":1}]}}";

    @TempDir
    private static Path folder;

    private LiveServer server;
    private OutageProvider outage;

    @BeforeAll
    void open() {
        server = LiveServer.dev("sqlite:" + folder.resolve("semel.db"), folder);
        outage = OutageProvider.start();
    }

    @AfterAll
    void close() {
        server.close();
        outage.close();
    }

    private ApiCaller api() {
        return server.admin();
    }

    private BrowserTab tab() {
        return BrowserTab.open(server.port()).enter();
    }

    private static void press(Page page, String button) {
        page.getByRole(AriaRole.BUTTON, new Page.GetByRoleOptions().setName(button))
                .first()
                .click();
    }

    private List<String> failed(String workflow, int runs) {
        return outage.failed(api(), workflow, runs);
    }

    @Test
    void failed_runs_are_planned_from_their_list_applied_and_verified_live() {
        failed("outage", 3);
        outage.forget();
        try (BrowserTab tab = tab()) {
            Page page = tab.page();
            tab.go("/workflows/outage/runs?status=failed");
            press(page, "Plan a safe replay of these 3 runs");
            assertThat(page.locator("h1")).containsText("status:failed workflow:outage");
            Locator main = page.locator("main");
            assertThat(main).containsText("Nothing was replayed.");
            assertThat(main).containsText("Possible duplicates: 0 in the safe part");
            tab.shoot("plan");
            page.locator("a[href='?worst=send#runs']").click();
            assertThat(page.locator("h2#runs")).containsText("send");
            assertEquals(3, page.locator("h2#runs ~ table tbody tr").count());
            assertThat(page.locator("h2#runs ~ table")).containsText("reuse");
            assertEquals(List.of(), outage.mails(), "a plan sent something");
            outage.end();
            press(page, "Apply the safe part: 3 runs");
            assertThat(page.locator("#plan")).containsText("3 replayed, 3 completed");
            assertThat(page.locator("#plan")).containsText("Verified");
            assertEquals(3, outage.mails().size());
            assertEquals(List.of(), outage.charges(), "a charge was repeated");
        }
    }

    @Test
    void an_outdated_plan_shows_the_differences_and_is_replanned() {
        String id = failed("moved", 1).getFirst();
        try (BrowserTab tab = tab().expecting("412")) {
            Page page = tab.page();
            tab.go("/runs/" + id);
            page.locator("summary", new Page.LocatorOptions().setHasText("Replay"))
                    .click();
            press(page, "Plan a safe replay of this run");
            String first = page.url();
            String other = api().post("/v1/replays", "{\"runs\":[\"" + id + "\"]}")
                    .expect(200)
                    .text("replay_id");
            outage.end();
            api().post("/v1/replays/" + other + "/apply", "{}").expect(200);
            ConcurrentCalls.until(
                    "the other one is done",
                    () -> api().get("/v1/replays/" + other)
                            .json()
                            .at("/progress/verified")
                            .asBoolean());
            press(page, "Apply the safe part");
            assertThat(page.locator("[role=alert]")).containsText("its runs have changed since it was created");
            assertThat(page.locator("[role=alert] li")).containsText("run_");
            press(page, "Create a new plan for the same runs");
            assertThat(page.locator("main")).containsText("Plan created.");
            assertFalse(page.url().equals(first));
        }
    }

    @Test
    void a_plan_waits_for_a_second_user_and_is_stopped_with_a_reason() {
        failed("watched", 12);
        String second = server.token("\"name\":\"second\"", "operate", "read");
        try (BrowserTab tab = tab()) {
            Page page = tab.page();
            tab.go("/workflows/watched/runs?status=failed");
            page.locator("input[name=approval]").check();
            page.locator("input[name=rate]").fill("1");
            press(page, "Plan a safe replay of these 12 runs");
            assertThat(page.locator("main")).containsText("another user must approve it");
            String id = page.url().replaceAll(".*/(rpl_[A-Za-z0-9]+).*", "$1");
            server.as(second).post("/v1/replays/" + id + "/approve", "{}").expect(200);
            tab.go("/replays/" + id);
            assertThat(page.locator("main")).containsText("Approved options: the safe actions, 1 runs per second");
            outage.end();
            press(page, "Apply the safe part: 12 runs");
            page.locator("#s-reason").fill("enough seen");
            press(page, "Stop: start no more runs");
            assertThat(page.locator("h1")).containsText("Stopped");
            assertThat(page.locator("#plan")).containsText("enough seen");
        }
    }

    /** The answer of the next pick is lost. */
    private void lose() {
        Objects.requireNonNull(server.serve().playground()).dropNextResponse(DemoExternalApi.PICKS, () -> {});
    }

    /** A run that does not know whether its pick came through. */
    private String doubting(String key) {
        lose();
        String order = ORDER.replace("10443", key);
        String id = api().trigger("fulfil_order", key, order).expect(200).text("run_id");
        ConcurrentCalls.until(
                "it waits", () -> api().get("/v1/runs/" + id).text("status").equals("waiting"));
        api().post("/v1/runs/" + id + "/signals/payment.captured", "{\"data\":{}}")
                .expect(200);
        ConcurrentCalls.until(
                "it is in doubt",
                () -> api().get("/v1/runs/" + id).text("status").equals("in_doubt"));
        return id;
    }

    /** What a run asks, once it asks so often. */
    private String asked(String run, int version) {
        String[] id = {""};
        ConcurrentCalls.until("it is asked in version " + version, () -> {
            api().get("/v1/runs/" + run + "/timeline")
                    .json()
                    .path("reviews")
                    .valueStream()
                    .filter(review -> review.path("version").asInt() == version
                            && review.path("open").asBoolean())
                    .forEach(review -> id[0] = review.path("review_id").asString());
            return !id[0].isEmpty();
        });
        return id[0];
    }

    @Test
    void a_decision_applies_only_to_the_review_that_was_shown() {
        String run = doubting("again_1");
        String other = doubting("again_2");
        String review = asked(run, 1);
        asked(other, 1);
        try (BrowserTab list = tab().go("/reviews?tab=in_doubt");
                BrowserTab page = tab().expecting("412").go("/runs/" + run)) {
            page.page()
                    .getByLabel("It did not happen: send it with the same key")
                    .check();
            lose();
            api().post("/v1/reviews/" + review + "/decide", "{\"decision\":\"did_not_happen\",\"version\":1}")
                    .expect(200);
            asked(run, 2);
            list.page()
                    .locator("tr", new Page.LocatorOptions().setHasText(run))
                    .locator("input[name=ids]")
                    .check();
            list.page().getByLabel("It did not happen").check();
            press(list.page(), "Record decision for each");
            assertThat(list.page().locator("main")).containsText("0 of 1 reviews decided");
            assertThat(list.page().locator("main")).containsText("now has version 2, not 1");
            press(page.page(), "Record decision");
            assertThat(page.page().locator("main"))
                    .containsText("a user has already decided, or the run has continued");
        }
        assertEquals("open", api().get("/v1/reviews/" + review).text("status"), "the second send is not decided");
        String known = "{\"ids\":[\"" + review + "@2\",\"" + asked(other, 1) + "@1\"],\"decision\":\"happened\"}";
        assertEquals(
                2,
                api().post("/v1/reviews/decide", known).json().path("decided").asInt());
    }

    @Test
    void an_effect_in_doubt_is_decided_once_in_the_inbox_and_its_run_completes() {
        String id = doubting("inbox_1");
        try (BrowserTab tab = tab();
                BrowserTab slow = tab().expecting("409")) {
            Page page = tab.page();
            tab.go("/reviews?tab=in_doubt");
            Locator row = page.locator("tr", new Page.LocatorOptions().setHasText(id));
            row.locator("a").first().click();
            assertThat(page.locator(".evidence"))
                    .containsText(
                            "The outcome of the effect is unknown. Semel does not send it again before a decision.");
            tab.shoot("review");
            slow.go(URI.create(page.url()).getPath());
            page.locator("#d-note").fill("the warehouse has it");
            page.getByLabel("It happened", new Page.GetByLabelOptions().setExact(true))
                    .check();
            press(page, "Record decision");
            assertThat(page.locator("main")).containsText("Decision recorded.");
            assertThat(page.locator(".note.good").last()).containsText("the warehouse has it");
            slow.page().getByLabel("It did not happen").check();
            press(slow.page(), "Record decision");
            assertThat(slow.page().locator("[role=alert]")).containsText("decided first");
            assertThat(slow.page().locator("[role=alert]")).containsText("It happened");
            page.locator("text=Open the run").click();
            page.locator("#jump").hover();
            assertThat(page.locator("h1")).containsText("Completed");
            tab.go("/reviews?tab=decided");
            assertThat(page.locator("tr", new Page.LocatorOptions().setHasText(id)))
                    .containsText("It happened");
        }
    }

    @Test
    void selected_approvals_are_decided_together() {
        api().publish("semel: 1\nworkflow: together\nowner: trials\nsteps:\n  - id: ok\n"
                        + "    approval: { to: \"role:ops\", title: \"Go on?\", timeout: 1d }\n")
                .expect(200);
        List<String> ids = new ArrayList<>();
        for (int i = 0; i < 3; i++) {
            ids.add(api().trigger("together", "together_" + i, "{\"data\":{}}")
                    .expect(200)
                    .text("run_id"));
        }
        ConcurrentCalls.until(
                "three wait",
                () -> api().get("/v1/reviews?q=kind:approval%20workflow:together")
                                .json()
                                .path("items")
                                .size()
                        == 3);
        try (BrowserTab tab = tab().go("/reviews?tab=approval&workflow=together")) {
            Page page = tab.page();
            for (String id : ids.subList(0, 2)) {
                page.locator("tr", new Page.LocatorOptions().setHasText(id))
                        .locator("input[name=ids]")
                        .check();
            }
            page.getByLabel("Approve", new Page.GetByLabelOptions().setExact(true))
                    .check();
            press(page, "Record decision for each");
            assertThat(page.locator("main")).containsText("2 of 2 reviews decided");
            tab.go("/reviews?tab=approval&workflow=together");
            assertThat(page.locator("tbody tr")).hasCount(1);
            assertThat(page.locator("tbody")).containsText(ids.getLast());
        }
    }

    @Test
    void an_incident_report_is_drafted_answered_without_overwriting_and_exported() {
        failed("broken", 1);
        try (BrowserTab tab = tab().expecting("412").go("/incidents")) {
            Page page = tab.page();
            page.locator("#i-title").fill("Mail outage");
            page.locator("#i-since").fill("1h");
            press(page, "Create draft from recorded facts");
            assertThat(page.locator("h1")).hasText("Mail outage");
            assertThat(page.locator("#i-trigger")).hasValue(Pattern.compile("Run run_.* failed first"));
            String id = page.url().replaceAll(".*/(inc_[A-Za-z0-9]+).*", "$1");
            api().put("/v1/incidents/" + id, "{\"answers\":{\"visible\":\"An alert came.\"}}")
                    .expect(200);
            page.locator("#i-cause").fill("Their platform: it answered 400.");
            press(page, "Save answers");
            assertThat(page.locator("[role=alert]")).containsText("Another request changed this document");
            assertThat(page.locator("#i-cause")).hasValue("Their platform: it answered 400.");
            press(page, "Save answers");
            assertThat(page.locator("main")).containsText("version 3");
            Object text =
                    page.evaluate("path => fetch(path).then(answer => answer.text())", "/incidents/" + id + ".md");
            assertTrue(String.valueOf(text).contains("Their platform: it answered 400."), String.valueOf(text));
            assertTrue(String.valueOf(text).contains("An alert came."), "somebody else's answer is lost");
        }
    }

    @Test
    void every_detail_page_is_accessible_in_both_themes_and_at_320_pixels() {
        String run = failed("axe", 2).getFirst();
        String plan = api().post("/v1/replays", "{\"q\":\"status:failed workflow:axe\"}")
                .expect(200)
                .text("replay_id");
        String incident = api().post("/v1/incidents", "{\"since\":\"1h\",\"title\":\"Axe\"}")
                .expect(200)
                .text("incident_id");
        api().publish("semel: 1\nworkflow: axe_asks\nowner: trials\nsteps:\n  - id: ok\n"
                        + "    approval: { to: \"role:ops\", title: \"Go on?\", timeout: 1d }\n")
                .expect(200);
        api().trigger("axe_asks", "axe_a", "{\"data\":{}}").expect(200);
        api().trigger("axe_asks", "axe_b", "{\"data\":{}}").expect(200);
        String asked = "/v1/reviews?q=kind:approval%20workflow:axe_asks";
        ConcurrentCalls.until(
                "two wait", () -> api().get(asked).json().path("items").size() == 2);
        String review = api().get(asked).json().at("/items/0/review_id").asString();
        api().put("/v1/alerts/axe", "{\"metric\":\"conflicts\",\"above\":1,\"channel\":\"x\",\"to\":\"ops\"}")
                .expect(200);
        api().put("/v1/profiles/usr_axe", "{\"email\":\"axe@example.com\"}").expect(200);
        api().put("/v1/secrets/axe", "{\"value\":\"something\"}").expect(200);
        List<String> found = new ArrayList<>();
        try (BrowserTab tab = BrowserTab.forChecks(server.port()).enter().expecting("404")) {
            for (String path : List.of(
                    "/runs?status=failed",
                    "/runs/" + run,
                    "/replays/" + plan,
                    "/reviews?tab=approval",
                    "/reviews?tab=held",
                    "/reviews/" + review,
                    "/incidents",
                    "/incidents/" + incident,
                    "/settings/tokens",
                    "/settings/secrets",
                    "/settings/alerts",
                    "/settings/alerts/axe",
                    "/settings/profiles/usr_axe",
                    "/workflows/new_lead/definition?as=topology",
                    "/workflows/new_lead/log",
                    "/workflows/payment_receipt/versions",
                    "/nowhere")) {
                tab.go(path);
                for (String theme : List.of("light", "dark")) {
                    tab.theme(theme);
                    found.addAll(tab.barriers().stream()
                            .map(one -> theme + " " + one)
                            .toList());
                }
                tab.page().setViewportSize(320, 640);
                Object wide = tab.page().evaluate("() => document.documentElement.scrollWidth");
                if (((Number) wide).intValue() > 320) {
                    found.add(path + " is " + wide + " pixels wide on a screen of 320");
                }
                tab.page().setViewportSize(1200, 800);
            }
        }
        assertEquals(List.of(), found);
    }
}
