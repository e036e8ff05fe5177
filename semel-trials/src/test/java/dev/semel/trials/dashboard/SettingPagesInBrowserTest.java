package dev.semel.trials.dashboard;

import static com.microsoft.playwright.assertions.PlaywrightAssertions.assertThat;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.microsoft.playwright.Locator;
import com.microsoft.playwright.Page;
import com.microsoft.playwright.options.AriaRole;
import dev.semel.run.RunId;
import dev.semel.trials.support.ApiCaller;
import dev.semel.trials.support.ConcurrentCalls;
import dev.semel.trials.support.LiveServer;
import dev.semel.trials.support.SampleWorkflows;
import java.nio.file.Path;
import java.time.Instant;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;

/** Settings, versions, logs and views in a browser; and what is said where nothing is there. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@Tag("trial")
class SettingPagesInBrowserTest {
    private static final String HTML = "<b onclick=alert(1)>Hello</b>";

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

    @Test
    void a_token_is_shown_once_works_and_is_revoked_and_a_secret_never_shown() {
        try (BrowserTab tab = tab().go("/settings/tokens")) {
            Page page = tab.page();
            page.locator("#t-name").fill("shop");
            page.locator("input[value=read]").check();
            press(page, "Create token (shown once)");
            String token = page.locator(".note.good code").innerText();
            server.as(token).get("/v1/runs").expect(200);
            tab.go("/settings/tokens");
            assertFalse(tab.text().contains(token));
            press(page, "Revoke shop");
            assertThat(page.locator("main")).containsText("The server rejects it from now on.");
            server.as(token).get("/v1/runs").expect(401);
            tab.go("/settings/secrets");
            page.locator("#s-name").fill("smtp_password");
            page.locator("#s-value").fill("hunter2hunter2");
            press(page, "Store secret");
            assertThat(page.locator("table")).containsText("smtp_password");
            assertFalse(page.content().contains("hunter2"));
        }
    }

    @Test
    void a_cohort_is_created_filled_and_emptied() {
        api().put("/v1/profiles/usr_bea", "{\"email\":\"bea@example.com\"}").expect(200);
        try (BrowserTab tab = tab().go("/settings/cohorts")) {
            Page page = tab.page();
            page.locator("#n-name").fill("paying");
            press(page, "Save");
            assertThat(page.locator("main")).containsText("No members.");
            page.locator("#m-profile").fill("usr_bea");
            press(page, "Add member");
            assertThat(page.locator("table")).containsText("usr_bea");
            assertEquals(
                    "usr_bea",
                    api().get("/v1/cohorts/paying/members")
                            .expect(200)
                            .json()
                            .at("/items/0/profile_id")
                            .asString());
            tab.shoot("cohort");
            tab.go("/settings/cohorts");
            assertThat(page.locator("table")).containsText("Paying customers");
            tab.go("/settings/cohorts/paying");
            press(page, "Remove usr_bea");
            assertThat(page.locator("main")).containsText("No members.");
        }
    }

    @Test
    void documents_are_saved_rejected_with_their_text_and_shown_unrendered() {
        try (BrowserTab tab = tab().expecting("400").go("/settings/templates")) {
            Page page = tab.page();
            page.locator("#n-name").fill("welcome");
            page.locator("#n-document")
                    .fill("{\"channel\": \"email\", \"subject\": \"Hi\", \"text\": \"Hello {{ name\"}");
            press(page, "Save");
            assertThat(page.locator("[role=alert]")).containsText("the tag is not closed");
            page.locator("#d-text").fill("{\"channel\": \"email\", \"subject\": \"Hi\", \"html\": \"" + HTML + "\"}");
            press(page, "Save");
            assertThat(page.locator("pre.file")).hasText(HTML);
            assertEquals(0, page.locator("main b").count());
            tab.go("/settings/profiles");
            page.locator("#n-name").fill("usr_ana");
            page.locator("#n-document").fill("{\"email\": \"ana@example.com\", \"attributes\": {}}");
            press(page, "Save");
            page.locator("#s-topic").fill("lead.welcome");
            page.getByLabel("Unsubscribe: send nothing about this topic").check();
            press(page, "Save choice");
            assertThat(page.locator("table")).containsText("unsubscribed");
        }
    }

    @Test
    void the_message_log_shows_sent_suppressed_and_omitted_messages_with_reasons() {
        String url = outage.url() + "/chat";
        api().put("/v1/channels/hall", "{\"kind\":\"webhook\",\"url\":\"" + url + "\"}")
                .expect(200);
        api().put("/v1/templates/note", "{\"channel\":\"webhook\",\"text\":\"Hello\"}")
                .expect(200);
        api().publish("""
            semel: 1
            workflow: noting
            owner: trials
            steps:
              - id: note
                send: { channel: hall, to: ana, template: note }
                idempotent: { key: "${ key(\\"note\\", \\"ana\\") }", time: 12, unit: hours }
                protect: at_most_once
            """).expect(200);
        for (String key : List.of("note_1", "note_2")) {
            String id =
                    api().trigger("noting", key, "{\"data\":{}}").expect(200).text("run_id");
            ConcurrentCalls.until(
                    "it has ended",
                    () -> !api().get("/v1/runs/" + id).json().path("ended_at").isNull());
        }
        try (BrowserTab tab = tab().go("/workflows/noting/log")) {
            Locator rows = tab.page().locator("tbody tr");
            assertThat(rows).hasCount(2);
            assertThat(rows.first()).containsText("Suppressed");
            assertThat(rows.first()).containsText("the same message was sent before");
            assertThat(rows.last()).containsText("Sent");
        }
    }

    @Test
    void a_workflow_shows_topology_keys_and_changes_and_rolls_back() {
        api().publish(SampleWorkflows.flow("turning", "title: One")).expect(200);
        api().publish(SampleWorkflows.flow("turning", "title: Two")).expect(200);
        api().trigger("turning", "turning_key", "{\"data\":{}}").expect(200);
        api().trigger("turning", "turning_key", "{\"data\":{}}").expect(200);
        try (BrowserTab tab = tab().go("/workflows/new_lead/definition?as=topology")) {
            Page page = tab.page();
            Locator inner = page.locator(".topology .topology .box", new Page.LocatorOptions().setHasText("welcome"));
            assertThat(inner.first()).containsText("at most once");
            tab.go("/workflows/new_lead/keys");
            assertFalse(tab.text().contains("turning_key"));
            tab.go("/workflows/turning/keys");
            assertThat(page.locator("tbody tr")).hasCount(1);
            tab.go("/workflows/turning/versions");
            page.locator("text=from v1").click();
            assertThat(page.locator("pre.file")).containsText("+title: Two");
            page.locator("summary", new Page.LocatorOptions().setHasText("Roll back"))
                    .click();
            press(page, "Roll back");
            assertThat(page.locator("h1")).containsText("turning v3");
            tab.go("/workflows");
            assertThat(page.locator("tr", new Page.LocatorOptions().setHasText("turning"))
                            .locator("td[data-label^=Duplicates]"))
                    .containsText("1");
        }
    }

    @Test
    void publishing_warns_that_it_ends_a_rollout_candidate() {
        api().publish(SampleWorkflows.flow("tried", "title: One")).expect(200);
        try (BrowserTab tab = tab().go("/workflows/tried/edit")) {
            Page page = tab.page();
            page.locator("#yaml").fill(SampleWorkflows.flow("tried", "title: Mine"));
            String two = SampleWorkflows.flow("tried", "title: Two");
            api().send("PUT", "/v1/workflows/tried?percentage=10", two, "Content-Type: application/yaml")
                    .expect(200);
            press(page, "Publish…");
            assertThat(page.locator("[role=alert]")).containsText("Candidate version 2 gets 10 %");
            assertThat(page.locator("[role=alert]")).containsText("Publishing ends this rollout");
            assertThat(page.locator("#tried")).containsText("+title: Two");
            assertThat(page.locator("#mine")).containsText("-title: One");
            assertFalse(tab.text().contains("Another user published"), "nobody did");
            press(page, "Publish for all triggers and end the rollout of version 2");
            assertThat(page.locator("main")).containsText("Published");
            JsonNode now = api().get("/v1/workflows/tried").expect(200).json();
            assertEquals(3, now.path("version").asInt());
            assertTrue(now.path("candidate").isNull());
        }
    }

    @Test
    void a_view_name_used_by_others_is_rejected_and_ones_own_is_saved_again() {
        ApiCaller other = server.with("read", "operate");
        String her = other.put("/v1/views/ours", "{\"filter\":\"status:failed\"}")
                .expect(200)
                .text("changed_by");
        other.put("/v1/views/hers", "{\"filter\":\"status:failed\",\"owner\":\"" + her + "\"}")
                .expect(200);
        try (BrowserTab tab = tab().expecting("403").expecting("412")) {
            keep(tab, "/runs?status=completed", "hers");
            assertThat(tab.page().locator("main")).containsText("view hers belongs to another user");
            keep(tab, "/runs?status=completed", "ours");
            assertThat(tab.page().locator("main")).containsText("A shared view named ours exists");
            keep(tab, "/runs?status=completed", "mine");
            keep(tab, "/runs?status=failed", "mine");
            tab.go("/runs");
            tab.page()
                    .locator(".chips a", new Page.LocatorOptions().setHasText("mine"))
                    .click();
            tab.page().waitForURL("**/runs?status=failed");
        }
        for (String name : List.of("hers", "ours")) {
            JsonNode kept = api().get("/v1/views/" + name).expect(200).json();
            assertEquals("status:failed", kept.at("/document/filter").asString(), name);
        }
    }

    private static void keep(BrowserTab tab, String path, String name) {
        tab.go(path);
        tab.page()
                .locator("summary", new Page.LocatorOptions().setHasText("Save this view"))
                .click();
        tab.page().locator("#v-name").fill(name);
        press(tab.page(), "Save view");
    }

    @Test
    void a_view_is_saved_and_ids_of_plans_reviews_and_incidents_open() {
        String plan =
                api().post("/v1/replays", "{\"q\":\"key:nobody\"}").expect(200).text("replay_id");
        String incident =
                api().post("/v1/incidents", "{\"since\":\"1h\"}").expect(200).text("incident_id");
        try (BrowserTab tab = tab().go("/runs?status=failed&since=24h")) {
            Page page = tab.page();
            page.locator("summary", new Page.LocatorOptions().setHasText("Save this view"))
                    .click();
            page.locator("#v-name").fill("failed-today");
            press(page, "Save view");
            tab.go("/runs");
            page.locator(".chips a", new Page.LocatorOptions().setHasText("failed-today"))
                    .click();
            page.waitForURL("**/runs?status=failed&since=24h");
            for (String path : List.of("/replays/" + plan, "/incidents/" + incident)) {
                page.keyboard().press("Control+k");
                page.keyboard().insertText(path.substring(path.lastIndexOf('/') + 1));
                page.keyboard().press("Enter");
                page.waitForURL("**" + path);
            }
        }
    }

    @Test
    void a_deleted_run_and_an_unknown_page_are_reported() {
        Instant then = Instant.now().minusSeconds(3_600);
        String id = new RunId(then.getEpochSecond() * 1_000_000 << 12, 7).text();
        try (BrowserTab tab = tab().expecting("404").go("/runs/" + id)) {
            assertThat(tab.page().locator("main")).containsText("retention deleted it");
            assertThat(tab.page().locator("main")).containsText("According to its id, the run started");
            tab.go("/nowhere");
            assertThat(tab.page().locator("main")).containsText("No page has this address");
            assertThat(tab.page().locator("nav.side")).isVisible();
        }
    }
}
