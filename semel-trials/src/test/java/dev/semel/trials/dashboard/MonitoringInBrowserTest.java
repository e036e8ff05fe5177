package dev.semel.trials.dashboard;

import static com.microsoft.playwright.assertions.PlaywrightAssertions.assertThat;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.microsoft.playwright.Locator;
import com.microsoft.playwright.Page;
import com.microsoft.playwright.options.AriaRole;
import dev.semel.trials.support.ApiCaller;
import dev.semel.trials.support.ConcurrentCalls;
import dev.semel.trials.support.LiveServer;
import dev.semel.trials.support.SampleWorkflows;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;

/** From a number to the list behind it, and from a list to what can be done with its rows. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@Tag("trial")
class MonitoringInBrowserTest {
    private static final String PAYMENT =
            "{\"data\":{\"payment_id\":\"pay_abc\",\"amount\":4900,\"currency\":\"usd\"}}";

    @TempDir
    private static Path folder;

    private LiveServer server;

    /** One run that was replayed, met by a conflict, and one whose trigger had no key. */
    @BeforeAll
    void open() {
        server = LiveServer.dev("sqlite:" + folder.resolve("semel.db"), folder);
        api().publish(SampleWorkflows.flow("quiet")).expect(200);
        api().publish(SampleWorkflows.flow("busy")).expect(200);
        run("payment_receipt", "watch_1", PAYMENT);
        api().trigger("payment_receipt", "watch_1", PAYMENT).expect(200);
        api().trigger("payment_receipt", "watch_1", PAYMENT.replace("4900", "5900"))
                .expect(422);
        run("quiet", "quiet_1", "{\"data\":{}}");
        api().trigger("quiet", "quiet_1", "{\"data\":{}}").expect(200);
        ended(api().unkeyed("quiet", "{\"data\":{}}").expect(200).text("run_id"));
        ConcurrentCalls.until("all of it is counted", () -> {
            JsonNode signals = api().get("/v1/monitoring").expect(200).json();
            return signals.at("/conflict_rate/conflicts").asLong() == 1
                    && signals.at("/duplicates_prevented/replayed_requests").asLong() == 2;
        });
    }

    @AfterAll
    void close() {
        server.close();
    }

    private ApiCaller api() {
        return server.admin();
    }

    private BrowserTab tab() {
        return BrowserTab.open(server.port()).enter();
    }

    private String run(String workflow, String key, String data) {
        return ended(api().trigger(workflow, key, data).expect(200).text("run_id"));
    }

    private String ended(String id) {
        ConcurrentCalls.until(
                "the run has ended",
                () -> !api().get("/v1/runs/" + id).json().path("ended_at").isNull());
        return id;
    }

    private static void press(Page page, String button) {
        page.getByRole(AriaRole.BUTTON, new Page.GetByRoleOptions().setName(button))
                .first()
                .click();
    }

    private static Locator card(Page page, String title) {
        return page.locator(".card", new Page.LocatorOptions().setHasText(title));
    }

    @Test
    void every_monitoring_metric_links_to_its_list() {
        try (BrowserTab tab = tab().go("/monitoring")) {
            Page page = tab.page();
            assertThat(page.locator(".figure")).hasCount(5);
            card(page, "Conflict rate").locator(".figure a").click();
            assertThat(page.locator("h1")).containsText("conflicts");
            assertThat(page.locator("tbody tr")).hasCount(1);
            assertThat(page.locator("tbody")).containsText("amount");
            tab.go("/monitoring");
            card(page, "Other counts")
                    .locator("a", new Locator.LocatorOptions().setHasText("without a key"))
                    .click();
            assertThat(page.locator("tbody tr")).hasCount(1);
            assertThat(page.locator("tbody")).containsText("quiet");
            tab.go("/monitoring");
            List<String> all = new ArrayList<>();
            for (Locator link : page.locator(".cards a").all()) {
                all.add(String.valueOf(link.getAttribute("href")));
            }
            assertTrue(all.size() >= 15, all.toString());
            assertTrue(all.contains("/reviews?tab=in_doubt"), all.toString());
            for (String href : all) {
                tab.go(href);
                assertThat(page.locator("h1")).hasText(Pattern.compile("Rows: .*|Objects|Reviews|Effects"));
            }
        }
    }

    @Test
    void period_and_workflow_of_the_monitoring_are_selected_and_in_the_url() {
        try (BrowserTab tab = tab().go("/monitoring")) {
            Page page = tab.page();
            page.locator("#f-since").selectOption("7d");
            page.locator("#f-workflow").selectOption("quiet");
            press(page, "Filter");
            page.waitForURL("**/monitoring?since=7d&workflow=quiet");
            assertThat(card(page, "Duplicates prevented").locator(".figure")).hasText("1");
            card(page, "Duplicates prevented").locator(".figure a").click();
            assertThat(page.locator("tbody tr")).hasCount(1);
            assertThat(page.locator("tbody")).containsText("quiet_1");
            tab.go("/workflows/payment_receipt/monitoring?since=1h");
            assertThat(page.locator(".figure")).hasCount(5);
            assertThat(page.locator(".tabs a[aria-current=page]")).hasText("Monitoring");
            page.locator("h1").click();
            page.keyboard().press("t");
            assertThat(page.locator("#twin table")).isVisible();
            card(page, "Duplicates prevented").locator(".figure a").click();
            assertThat(page.locator("tbody")).containsText("watch_1");
            assertThat(page.locator("tbody")).not().containsText("quiet_1");
        }
    }

    @Test
    void requests_and_the_audit_are_filtered_by_their_url() {
        api().post("/v1/workflows/quiet/pause", "").expect(200);
        api().post("/v1/workflows/quiet/resume", "").expect(200);
        try (BrowserTab tab = tab().go("/requests")) {
            Page page = tab.page();
            page.locator("#f-kind").selectOption("conflict");
            press(page, "Filter");
            page.waitForURL(Pattern.compile(".*kind=conflict.*"));
            assertThat(page.locator("tbody tr")).hasCount(1);
            assertThat(page.locator("tbody")).containsText("Conflict");
            tab.go("/requests?key=quiet_1&since=24h");
            assertThat(page.locator("tbody tr")).hasCount(1);
            assertThat(page.locator("tbody")).containsText("Replayed");
            tab.go("/requests?workflow=quiet&kind=conflict");
            assertThat(page.locator(".empty")).containsText("No request matches this filter.");
            tab.go("/audit");
            page.locator("#f-action").fill("workflow.pause");
            press(page, "Filter");
            page.waitForURL(Pattern.compile(".*action=workflow.pause.*"));
            assertThat(page.locator("tbody tr")).hasCount(1);
        }
    }

    @Test
    void requests_of_a_key_are_paged_and_unknown_filters_are_rejected() {
        for (int i = 0; i < 5; i++) {
            api().trigger("busy", "paged", "{\"data\":{}}").expect(200);
        }
        ConcurrentCalls.until("they are on record", () -> times("key:paged") == 4);
        assertEquals(4, times("key:paged workflow:busy kind:replayed since:1h"));
        assertEquals(0, times("key:paged kind:conflict"));
        assertEquals(0, times("key:paged actor:nobody"));
        api().get("/v1/requests?q=kind:odd").expect(400);
        api().get("/v1/requests?q=workflow:nowhere").expect(404);
    }

    /** How many requests fit, a row at a time. */
    private long times(String words) {
        long times = 0;
        String after = "";
        do {
            JsonNode page = api().get("/v1/requests?limit=1&q=" + words.replace(" ", "%20") + after)
                    .expect(200)
                    .json();
            for (JsonNode item : page.path("items")) {
                times += item.path("times").asLong();
            }
            after = page.path("next").isNull()
                    ? ""
                    : "&after=" + page.path("next").asString();
        } while (!after.isEmpty());
        return times;
    }

    @Test
    void the_request_list_announces_new_rows_and_moves_nothing() {
        run("busy", "news_1", "{\"data\":{}}");
        try (BrowserTab tab = tab().go("/requests")) {
            Page page = tab.page();
            assertThat(page.locator("#live")).hasText("● live");
            int rows = page.locator("tbody tr").count();
            api().trigger("busy", "news_1", "{\"data\":{}}").expect(200);
            Locator show = page.locator("#news button");
            assertThat(show).containsText("new request");
            assertEquals(rows, page.locator("tbody tr").count());
            show.click();
            assertThat(page.locator("tbody")).containsText("news_1");
        }
    }

    @Test
    void the_inbox_announces_new_reviews_and_every_page_shows_their_number() {
        api().publish("""
            semel: 1
            workflow: asking
            owner: trials
            steps:
              - id: yes
                approval: { title: "May it go on?", to: "role:ops" }
            """).expect(200);
        try (BrowserTab tab = tab().go("/reviews")) {
            Page page = tab.page();
            assertThat(page.locator("#live")).hasText("● live");
            assertThat(page.locator("#waiting")).isHidden();
            api().trigger("asking", "ask_1", "{\"data\":{}}").expect(200);
            assertThat(page.locator("#news button")).hasText("1 new review: show");
            assertThat(page.locator("#waiting")).containsText("1 open");
            assertThat(page.locator("main")).not().containsText("May it go on?");
            page.locator("h1").click();
            page.keyboard().press("n");
            assertThat(page.locator("main")).containsText("May it go on?");
            tab.go("/workflows");
            assertThat(page.locator("#waiting")).containsText("1 open");
        }
    }
}
