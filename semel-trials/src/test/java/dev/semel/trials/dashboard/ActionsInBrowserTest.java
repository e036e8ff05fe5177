package dev.semel.trials.dashboard;

import static com.microsoft.playwright.assertions.PlaywrightAssertions.assertThat;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.microsoft.playwright.Locator;
import com.microsoft.playwright.Page;
import com.microsoft.playwright.options.AriaRole;
import dev.semel.trials.support.ApiCaller;
import dev.semel.trials.support.ConcurrentCalls;
import dev.semel.trials.support.LiveServer;
import dev.semel.trials.support.SampleWorkflows;
import java.nio.file.Path;
import java.time.Instant;
import java.util.List;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.io.TempDir;

/** What can be done with the rows of a list, with what lets runs in, and in the builder. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@Tag("trial")
class ActionsInBrowserTest {
    private static final String BRANCHES = """
        semel: 1
        workflow: branches
        owner: trials
        steps:
          - id: first
            set: { total: "${ input.total }" } # what it comes to
          - id: way
            choose:
              - when: ${ input.total > 5 }
                steps:
                  - id: large
                    set: { ok: true }
              - else: true
                steps:
                  - id: small
                    set: { ok: false }
          - id: both
            parallel:
              left:
                - id: one
                  set: { ok: true }
              right:
                - id: two
                  set: { ok: true }
        """;

    @TempDir
    private static Path folder;

    private LiveServer server;

    @BeforeAll
    void open() {
        server = LiveServer.dev("sqlite:" + folder.resolve("semel.db"), folder);
        api().publish(SampleWorkflows.flow("busy")).expect(200);
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

    private static void unfold(Page page, String summary) {
        page.locator("summary", new Page.LocatorOptions().setHasText(summary)).click();
    }

    @Test
    void runs_are_selected_by_keyboard_collapsed_and_planned() {
        String one = run("busy", "tick_1", "{\"data\":{}}");
        run("busy", "tick_2", "{\"data\":{}}");
        api().trigger("busy", "tick_1", "{\"data\":{}}").expect(200);
        ConcurrentCalls.until(
                "it is on record",
                () -> api().get("/v1/runs/" + one).json().path("replays").asLong() == 1);
        try (BrowserTab tab = tab().go("/workflows/busy/runs?key=tick_1")) {
            Page page = tab.page();
            Locator entry = page.locator(".entry").first();
            assertThat(entry).isVisible();
            page.locator("h1").click();
            page.keyboard().press("j");
            page.keyboard().press("e");
            assertThat(entry).isHidden();
            page.keyboard().press("e");
            assertThat(entry).isVisible();
            tab.go("/workflows/busy/runs");
            assertThat(page.locator("#picked")).hasText("(0 selected)");
            page.locator("h1").click();
            page.keyboard().press("j");
            page.keyboard().press("x");
            page.keyboard().press("j");
            page.keyboard().press("x");
            assertThat(page.locator("#picked")).hasText("(2 selected)");
            assertThat(page.locator("input[value='" + one + "']")).isChecked();
            page.keyboard().press("r");
            page.waitForURL("**/replays/rpl_*");
            assertThat(page.locator("main")).containsText("Nothing was replayed.");
            assertThat(page.locator("h2#runs ~ table tbody tr")).hasCount(2);
        }
    }

    @Test
    void without_javascript_runs_are_selected_and_planned_by_a_form() {
        String one = run("busy", "plain_1", "{\"data\":{}}");
        try (BrowserTab tab =
                BrowserTab.withoutScript(server.port()).expecting("400").enter().go("/workflows/busy/runs")) {
            Page page = tab.page();
            press(page, "Safe replay…");
            assertThat(page.locator("main")).containsText("No run is selected");
            tab.go("/workflows/busy/runs");
            page.locator("input[value='" + one + "']").check();
            press(page, "Safe replay…");
            assertThat(page.locator("h2#runs ~ table")).containsText(one);
        }
    }

    @Test
    void a_webhook_is_created_tested_rotated_and_removed_and_its_secret_shown_once() {
        try (BrowserTab tab = tab().go("/webhooks")) {
            Page page = tab.page();
            page.locator("#h-name").fill("shop");
            page.locator("#h-preset").selectOption("standard");
            press(page, "Create webhook");
            String secret = page.locator(".note.good code").innerText();
            assertTrue(secret.startsWith("whsec_"), secret);
            tab.go("/webhooks/shop");
            assertFalse(page.content().contains(secret));
            press(page, "Send a sample twice");
            assertThat(page.locator(".note.good").first()).containsText("Accepted");
            assertThat(page.locator(".note.good").last()).containsText("Replayed");
            assertThat(page.locator("tbody tr")).hasCount(2);
            press(page, "Reprocess");
            assertThat(page.locator("main")).containsText("Reprocessed.");
            String path = page.locator("code.long").first().innerText();
            unfold(page, "Rotate secret");
            page.locator("#h-secret").fill("shop_2027");
            page.locator("#h-value").fill("whsec_c2VtZWwgc2FtcGxlOiAyNCBieXRlcyEh");
            press(page, "Rotate: accept both secrets");
            assertThat(page.locator("main .facts")).containsText("shop_2027, shop_signing");
            Integer version =
                    api().get("/v1/secrets/shop_2027").json().path("version").asInt();
            tab.expecting("412");
            unfold(page, "Rotate secret");
            page.locator("#h-secret").fill("shop_2027");
            page.locator("#h-value").fill("whsec_c2VtZWwgc2FtcGxlOiAyNCBieXRlcyEh");
            press(page, "Rotate: accept both secrets");
            assertThat(page.locator("main")).containsText("accepts the secret shop_2027 already");
            assertEquals(
                    version,
                    api().get("/v1/secrets/shop_2027").json().path("version").asInt());
            tab.go("/webhooks/shop");
            press(page, "End rotation");
            assertThat(page.locator("main .facts")).not().containsText("shop_signing");
            unfold(page, "Change URL");
            press(page, "Change the URL");
            assertThat(page.locator("code.long").first()).not().hasText(path);
            unfold(page, "Remove");
            press(page, "Remove shop");
            assertThat(page.locator(".empty")).containsText("No webhook source yet");
        }
    }

    @Test
    void a_schedule_is_backfilled_paused_and_resumed() {
        api().publish(SampleWorkflows.flow("hourly", "trigger: {schedules: [{id: hour, every: 1h}]}"))
                .expect(200);
        try (BrowserTab tab = tab().go("/schedules/hourly/hour")) {
            Page page = tab.page();
            String now = api().get("/v1/workflows/hourly/schedules/hour").text("next_at");
            unfold(page, "Backfill");
            page.locator("#b-from")
                    .fill(Instant.parse(now)
                            .minusSeconds(4 * 3600 + 60)
                            .toString()
                            .substring(0, 16));
            page.locator("#b-to")
                    .fill(Instant.parse(now)
                            .minusSeconds(2 * 3600 + 60)
                            .toString()
                            .substring(0, 16));
            press(page, "Backfill: start missing runs");
            assertThat(page.locator(".note.good")).containsText("Runs started: 2. Ticks that already had a run: 0.");
            assertThat(page.locator("tbody tr")).hasCount(2);
            tab.go("/schedules");
            press(page, "Pause");
            assertThat(page.locator("h1")).containsText("paused");
            tab.go("/schedules");
            press(page, "Resume");
            assertThat(page.locator("main")).containsText("Resumed.");
        }
    }

    @Test
    void a_key_is_extended_with_a_reason() {
        run("busy", "long_1", "{\"data\":{}}");
        String before = api().get("/v1/keys/long_1").text("expires_at");
        try (BrowserTab tab = tab().go("/keys/long_1")) {
            Page page = tab.page();
            unfold(page, "Extend");
            page.locator("#x-for").fill("72h");
            page.locator("#x-reason").fill("retries come late");
            press(page, "Extend the window");
            assertThat(page.locator("main")).containsText("The key's window is extended.");
        }
        String after = api().get("/v1/keys/long_1").text("expires_at");
        assertTrue(after.compareTo(before) > 0, before + " " + after);
        assertTrue(api().get("/v1/audit?q=action:key.extend").body().contains("retries come late"));
    }

    @Test
    void cases_branches_and_values_have_forms_and_fields_can_be_inserted() {
        api().publish(BRANCHES).expect(200);
        run("branches", "b_1", "{\"data\":{\"total\":7,\"currency\":\"usd\"}}");
        try (BrowserTab tab = tab().go("/workflows/branches/edit?step=way&tab=general")) {
            Page page = tab.page();
            assertThat(page.locator("#f-choose-0-when")).hasValue("${ input.total > 5 }");
            page.locator("#f-choose-0-when").fill("${ input.total > 10 }");
            press(page, "Apply to the file");
            assertThat(page.locator("#yaml"))
                    .hasValue(Pattern.compile(".*when: \\$\\{ input.total > 10 }.*", Pattern.DOTALL));
            assertThat(page.locator("#yaml")).hasValue(Pattern.compile(".*# what it comes to.*", Pattern.DOTALL));
            press(page, "Settings of both");
            assertThat(page.locator("#panel")).containsText("left: one");
            press(page, "Settings of large");
            page.locator("#o-name").fill("paid_in");
            page.locator("#o-value").fill("in ");
            page.locator("#insert").selectOption("input.currency");
            assertThat(page.locator("#o-value")).hasValue("in ${ input.currency }");
            press(page, "Apply to the file");
            assertThat(page.locator("#f-set-paid_in")).hasValue("in ${ input.currency }");
            assertThat(page.locator("#state")).containsText("can be published");
            List<String> offered = page.locator("#insert option").allInnerTexts();
            assertTrue(offered.contains("steps.first.total"), offered.toString());
        }
    }

    @Test
    void a_test_is_sent_from_the_builder_with_the_data_of_the_newest_run() {
        api().publish(BRANCHES.replace("branches", "tested")).expect(200);
        run("tested", "b_2", "{\"data\":{\"total\":7,\"currency\":\"usd\"}}");
        try (BrowserTab tab = tab().go("/workflows/tested/edit")) {
            Page page = tab.page();
            unfold(page, "Send test");
            assertThat(page.locator("#t-data")).hasValue(Pattern.compile(".*\"usd\".*", Pattern.DOTALL));
            press(page, "Start a run");
            assertThat(page.locator("h1")).containsText("Completed");
            assertThat(page.locator("main")).containsText("usd");
        }
    }
}
