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
import dev.semel.trials.support.SampleWorkflows;
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

/** A workflow file as a list of steps with forms, beside its text. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@Tag("trial")
class BuilderInBrowserTest {
    private static final String HOSTILE = "</textarea><img src=x onerror=alert(1)>";

    @TempDir
    private static Path folder;

    private LiveServer server;

    @BeforeAll
    void open() {
        server = LiveServer.dev("sqlite:" + folder.resolve("semel.db"), folder);
    }

    @AfterAll
    void close() {
        server.close();
    }

    private ApiCaller api() {
        return server.admin();
    }

    private String picks() {
        return Objects.requireNonNull(server.serve().playground()).url() + "/picks";
    }

    private long picked() {
        return Objects.requireNonNull(server.serve().playground())
                .counts(DemoExternalApi.PICKS)
                .calls();
    }

    /** One step that tells somebody, every time that a run comes to it. */
    private String letters(String name) {
        return """
            # Letters, and %s
            semel: 1
            workflow: %s
            owner: trials

            input:
              id: { type: string, required: true }   # whose letter it is

            steps:
              # the effect itself
              - id: tell
                http:
                  method: POST
                  url: %s                            # counts every call
                  body: { id: "${ input.id }" }
                protect: at_most_once                # never twice in a run

              - id: note
                set: { ok: true }
            """.formatted(HOSTILE, name, picks());
    }

    private String run(String workflow, String key, String id) {
        String run = api().trigger(workflow, key, "{\"data\":{\"id\":\"" + id + "\"}}")
                .expect(200)
                .text("run_id");
        ConcurrentCalls.until(
                "the run has ended",
                () -> !api().get("/v1/runs/" + run).json().path("ended_at").isNull());
        return run;
    }

    private static Locator button(Page page, String name) {
        return page.getByRole(
                AriaRole.BUTTON, new Page.GetByRoleOptions().setName(name).setExact(true));
    }

    private static void put(Page page, String field, String value) {
        page.locator("#f-idempotent-" + field).fill(value);
    }

    private static void choose(Page page, String field, String value) {
        page.locator("#f-idempotent-" + field).selectOption(value);
    }

    @Test
    void the_idempotent_tab_is_edited_published_and_used_by_the_next_run() {
        String before = letters("letters");
        api().publish(before).expect(200);
        run("letters", "l_1", "ann");
        run("letters", "l_2", "ann");
        long calls = picked();
        try (BrowserTab tab = BrowserTab.open(server.port()).enter().go("/workflows/letters")) {
            Page page = tab.page();
            page.locator("text=Edit…").click();
            button(page, "Settings of tell").click();
            button(page, "Idempotent").click();
            assertThat(page.locator("#sentence")).containsText("This step has no key of its own");
            put(page, "key", "${ key(\"letter\", input.id) }");
            put(page, "time", "12");
            choose(page, "unit", "hours");
            choose(page, "on_change", "suppress");
            button(page, "Apply to the file").click();
            assertThat(page.locator("#sentence"))
                    .hasText("A second call with the same key within 12 hours is suppressed, whatever its data.");
            assertThat(page.locator("#preview")).containsText("letter:ann");
            assertThat(page.locator("#tried")).containsText("after this step has run with a key");
            assertThat(page.locator("#state")).containsText("5 lines differ");
            button(page, "Publish…").click();
            assertThat(page.locator("#mine .more").first()).containsText("+    idempotent:");
            assertThat(page.locator("#mine .less")).hasCount(0);
            button(page, "Publish for all new triggers").click();
            assertThat(page.locator("main")).containsText("Published. New triggers get this version.");
        }
        String after = before.replace("# never twice in a run\n", """
            # never twice in a run
                idempotent:
                  key: ${ key("letter", input.id) }
                  time: 12
                  unit: hours
                  on_change: suppress
            """);
        assertEquals(after, api().get("/v1/workflows/letters").text("definition"), "comments and all");
        run("letters", "l_3", "bob");
        String second = run("letters", "l_4", "bob");
        assertEquals(calls + 1, picked(), "the second was sent");
        assertEquals(
                "suppressed",
                api().get("/v1/runs/" + second + "/timeline")
                        .json()
                        .at("/items/0/status")
                        .stringValue());
        try (BrowserTab tab = BrowserTab.open(server.port()).enter().go("/runs/" + second)) {
            assertThat(tab.page().locator("#run")).containsText("Suppressed");
            tab.go("/workflows/letters/edit?step=tell&tab=idempotent#panel");
            assertThat(tab.page().locator("#tried caption")).containsText("against 2 past executions");
            assertThat(tab.page().locator("#tried tbody tr").nth(1)).containsText("12h");
            assertThat(tab.page().locator("#tried tbody tr").nth(1).locator("td"))
                    .containsText(new String[] {"12h", "1", "1"});
            tab.shoot("idempotent");
        }
    }

    @Test
    void a_mistake_is_shown_while_typing_and_the_steps_follow_the_text() {
        api().publish(letters("typed")).expect(200);
        try (BrowserTab tab = BrowserTab.open(server.port()).enter().go("/workflows/typed/edit")) {
            Page page = tab.page();
            assertThat(page.locator("#state")).containsText("can be published");
            page.locator("#yaml")
                    .fill(letters("typed")
                            .replace("at_most_once ", "sometimes ")
                            .replace("id: note", "id: last"));
            Locator finding = page.locator("#findings .finding").first();
            assertThat(finding).containsText("Line 16, column 14");
            assertThat(finding.locator("pre")).containsText("^^^");
            assertThat(page.locator("#outline")).containsText("last");
            assertThat(page.locator("#state")).containsText("cannot be published yet");
            finding.locator("button").click();
            assertTrue(
                    String.valueOf(page.evaluate("() => document.getSelection().toString()"
                                    + " || document.querySelector('#yaml').value.slice("
                                    + "document.querySelector('#yaml').selectionStart,"
                                    + "document.querySelector('#yaml').selectionEnd)"))
                            .startsWith("sometimes"),
                    "the place is not chosen");
            page.locator("#yaml").fill(letters("typed"));
            assertThat(page.locator("#state")).containsText("can be published");
            assertThat(page.locator("#findings .finding")).hasCount(0);
        }
    }

    @Test
    void a_conflicting_publish_is_reported_with_both_texts() {
        api().publish(letters("shared")).expect(200);
        try (BrowserTab tab =
                BrowserTab.open(server.port()).enter().expecting("412").go("/workflows/shared/edit")) {
            Page page = tab.page();
            page.locator("#yaml").fill(letters("shared").replace("ok: true", "ok: mine"));
            button(page, "Publish…").click();
            assertThat(page.locator("#mine")).containsText("ok: mine");
            api().publish(letters("shared").replace("ok: true", "ok: theirs")).expect(200);
            button(page, "Publish for all new triggers").click();
            assertThat(page.locator("[role=alert]")).containsText("was changed by another request");
            assertThat(page.locator("#theirs")).containsText("+    set: { ok: theirs }");
            assertThat(page.locator("#mine")).containsText("-    set: { ok: theirs }");
            assertEquals(
                    2, api().get("/v1/workflows/shared").json().path("version").asInt());
            button(page, "Publish mine to replace version 2").click();
            assertThat(page.locator("main")).containsText("Published");
            assertEquals(
                    3, api().get("/v1/workflows/shared").json().path("version").asInt());
        }
    }

    @Test
    void steps_are_added_moved_and_removed_without_javascript_and_mouse() {
        api().publish(letters("plain")).expect(200);
        try (BrowserTab tab = BrowserTab.withoutScript(server.port()).enter().go("/workflows/plain/edit")) {
            Page page = tab.page();
            page.locator("summary", new Page.LocatorOptions().setHasText("Add a step"))
                    .click();
            page.locator("#add-kind").selectOption("sleep");
            page.locator("#add-id").fill("rest");
            page.locator("#add-id").press("Enter");
            assertThat(page.locator(".steps code")).containsText(new String[] {"tell", "note", "rest"});
            assertThat(page.locator("#panel")).containsText("Settings of rest");
            Locator up = button(page, "Move rest up");
            up.focus();
            page.keyboard().press("Enter");
            assertThat(page.locator(".steps code")).containsText(new String[] {"tell", "rest", "note"});
            Locator gear = button(page, "Settings of note");
            gear.focus();
            page.keyboard().press("Enter");
            page.waitForURL(Pattern.compile(".*/edit\\?step=note&tab=general#panel"));
            page.locator("#f-set-ok").fill("false");
            page.locator("#f-set-ok").press("Enter");
            assertThat(page.locator("#yaml")).hasValue(Pattern.compile("set: \\{ ok: false \\}"));
            button(page, "Retry").focus();
            page.keyboard().press("Enter");
            assertThat(page.locator("#panel")).containsText("has no side effect");
            button(page, "Remove note").click();
            assertThat(page.locator(".steps code")).hasCount(2);
            page.locator("#yaml").fill("semel: 1\nworkflow: plain\nsteps:\n  - id: tell\n    set: [\n");
            button(page, "Check").click();
            assertThat(page.locator("#findings")).containsText("not valid YAML");
        }
    }

    @Test
    void a_new_workflow_starts_with_the_smallest_file_and_is_published_once() {
        try (BrowserTab tab = BrowserTab.open(server.port()).enter().go("/builder")) {
            Page page = tab.page();
            String text = page.locator("#yaml").inputValue().replace("my_workflow", "begun");
            page.locator("#yaml").fill(text);
            button(page, "Publish…").click();
            button(page, "Publish for all new triggers").click();
            page.waitForURL("**/workflows/begun/definition**");
            assertEquals(text, api().get("/v1/workflows/begun").text("definition"));
        }
    }

    @Test
    void user_text_is_never_markup() {
        api().publish(letters("looked").replace("owner: trials", "owner: '" + HOSTILE + "'"))
                .expect(200);
        try (BrowserTab tab =
                BrowserTab.open(server.port()).enter().go("/workflows/looked/edit?step=tell&tab=general")) {
            assertThat(tab.page().locator("#yaml")).hasValue(Pattern.compile("</textarea><img src=x"));
            assertEquals(0, tab.page().locator("img[src=x]").count());
            tab.page().locator("#f-title").fill("\"><img src=x onerror=alert(1)>");
            button(tab.page(), "Apply to the file").click();
            assertThat(tab.page().locator("#f-title")).hasValue("\"><img src=x onerror=alert(1)>");
            button(tab.page(), "Publish…").click();
            assertThat(tab.page().locator("#mine")).containsText("onerror=alert(1)");
            assertEquals(0, tab.page().locator("img[src=x]").count());
        }
        server.stranger()
                .send("POST", "/workflows/looked/publish", "", "Content-Type: application/x-www-form-urlencoded")
                .expect(401);
        assertEquals(1, api().get("/v1/workflows/looked").json().path("version").asInt());
    }

    @Test
    void a_viewer_sees_the_settings_and_can_change_nothing() {
        api().publish(letters("viewed")).expect(200);
        String link =
                api().put("/v1/users/vera", "{\"role\":\"viewer\"}").expect(200).text("invitation");
        try (BrowserTab tab = BrowserTab.open(server.port()).expecting("403").go(link)) {
            Page page = tab.page();
            page.locator("#password").fill("a long password");
            page.locator("#again").fill("a long password");
            button(page, "Create account").click();
            page.waitForURL("**/workflows");
            tab.go("/workflows/viewed/edit");
            assertThat(page.locator("main")).containsText("Only users with the role admin can change it.");
            button(page, "Settings of tell").click();
            button(page, "Idempotent").click();
            assertThat(page.locator("#f-idempotent-key")).isDisabled();
            assertThat(page.locator("#yaml")).not().isEditable();
            assertThat(button(page, "Publish…")).hasCount(0);
            assertThat(button(page, "Remove tell")).hasCount(0);
            Object status = page.evaluate("""
                () => { const form = new FormData(document.querySelector('#builder'));
                  form.set('text', form.get('text') + '# mine');
                  return fetch('/workflows/viewed/publish', {method: 'POST', body: new URLSearchParams(form)})
                      .then(answer => answer.status); }
                """);
            assertEquals(403, ((Number) status).intValue());
            assertEquals(
                    1, api().get("/v1/workflows/viewed").json().path("version").asInt());
        }
    }

    @Test
    void a_file_with_dos_line_ends_keeps_them() {
        String text = SampleWorkflows.flow("dos").replace("\n", "\r\n");
        api().publish(text).expect(200);
        try (BrowserTab tab = BrowserTab.open(server.port()).enter().go("/workflows/dos/edit?step=note&tab=general")) {
            tab.page().locator("#f-title").fill("A note");
            button(tab.page(), "Apply to the file").click();
            button(tab.page(), "Publish…").click();
            button(tab.page(), "Publish for all new triggers").click();
            assertThat(tab.page().locator("main")).containsText("Published");
        }
        String after = api().get("/v1/workflows/dos").text("definition");
        assertEquals(text.replace("set: { ok: true }\r\n", "set: { ok: true }\r\n    title: A note\r\n"), after);
    }

    @Test
    void an_override_is_written_inside_its_channel() {
        try (BrowserTab tab = BrowserTab.open(server.port()).enter()) {
            tab.go("/workflows/new_lead/edit?step=welcome&tab=overrides");
            Page page = tab.page();
            page.locator("#o-channel").fill("email");
            page.locator("#o-name").fill("reply_to");
            page.locator("#o-value").fill("help@acme.example");
            button(page, "Apply to the file").click();
            assertThat(page.locator("#f-overrides-email-reply_to")).hasValue("help@acme.example");
            String text = page.locator("#yaml").inputValue();
            assertTrue(text.replaceAll("\\s+", " ").contains("overrides: email: reply_to: help@acme.example"), text);
            assertThat(page.locator("#state")).containsText("can be published");
            tab.shoot("overrides");
        }
    }

    @Test
    void a_step_of_every_message_kind_has_its_fields_and_moves_out_of_a_branch() {
        String text = """
            semel: 1
            workflow: nested
            owner: o
            steps:
              - id: branch
                choose:
                  - when: ${ input.n > 0 }
                    steps:
                      - id: vip
                        cohort: { profile: "${ input.id }", name: vip }
                      - id: note
                        set: { ok: true }
            """;
        api().publish(text).expect(200);
        try (BrowserTab tab = BrowserTab.open(server.port()).enter()) {
            tab.go("/workflows/nested/edit?step=vip&tab=general");
            Page page = tab.page();
            page.locator("#f-cohort-member").selectOption("true");
            button(page, "Apply to the file").click();
            assertThat(page.locator("#yaml")).hasValue(java.util.regex.Pattern.compile("member: true"));
            button(page, "Move vip up").click();
            assertThat(page.locator("ol.steps > li").first()).containsText("vip");
            tab.shoot("moved");
        }
    }

    @Test
    void every_builder_page_is_accessible_in_both_themes_and_at_320_pixels() {
        List<String> found = new ArrayList<>();
        List<String> paths = List.of(
                "/builder",
                "/workflows/new_lead/edit",
                "/workflows/new_lead/edit?step=welcome&tab=general",
                "/workflows/new_lead/edit?step=welcome&tab=idempotent",
                "/workflows/new_lead/edit?step=create_lead&tab=protection",
                "/workflows/new_lead/edit?step=create_lead&tab=retry",
                "/workflows/new_lead/edit?step=welcome&tab=overrides");
        try (BrowserTab tab = BrowserTab.forChecks(server.port()).enter()) {
            for (String path : paths) {
                tab.go(path);
                look(tab, path, found);
            }
            tab.go("/workflows/new_lead/edit");
            tab.shoot("builder");
            tab.go("/workflows/new_lead/edit?step=welcome&tab=idempotent");
            tab.page().locator("#yaml").fill("semel: 1\nworkflow: new_lead\nsteps: 5\n");
            assertThat(tab.page().locator("#findings .finding").first()).containsText("Line 3");
            look(tab, "with mistakes", found);
            tab.go("/workflows/new_lead/edit");
            tab.page()
                    .locator("#yaml")
                    .fill(tab.page().locator("#yaml").inputValue().replace("time: 12", "time: 24"));
            button(tab.page(), "Publish…").click();
            assertThat(tab.page().locator("#mine .more")).containsText("time: 24");
            look(tab, "to be published", found);
        }
        assertEquals(List.of(), found);
    }

    private static void look(BrowserTab tab, String path, List<String> found) {
        for (String theme : List.of("light", "dark")) {
            tab.theme(theme);
            tab.barriers().forEach(one -> found.add(theme + " " + one));
        }
        tab.page().setViewportSize(320, 640);
        Object wide = tab.page().evaluate("() => document.documentElement.scrollWidth");
        if (((Number) wide).intValue() > 320) {
            found.add(path + " is " + wide + " pixels wide on a screen of 320");
        }
        tab.page().setViewportSize(1200, 800);
        assertFalse(tab.text().isEmpty());
    }
}
