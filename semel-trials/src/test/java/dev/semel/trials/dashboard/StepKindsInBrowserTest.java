package dev.semel.trials.dashboard;

import static com.microsoft.playwright.assertions.PlaywrightAssertions.assertThat;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.microsoft.playwright.Page;
import com.microsoft.playwright.options.AriaRole;
import dev.semel.trials.support.ApiCaller;
import dev.semel.trials.support.LiveServer;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;

/** The builder adds and edits steps of every kind, and the settings show cohorts. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@Tag("trial")
class StepKindsInBrowserTest {
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

    private BrowserTab tab() {
        return BrowserTab.open(server.port()).enter();
    }

    private static void press(Page page, String button) {
        page.getByRole(
                        AriaRole.BUTTON,
                        new Page.GetByRoleOptions().setName(button).setExact(true))
                .first()
                .click();
    }

    private static void add(Page page, String kind, String id) {
        page.locator("summary", new Page.LocatorOptions().setHasText("Add a step"))
                .click();
        page.locator("#add-kind").selectOption(kind);
        page.locator("#add-id").fill(id);
        press(page, "Add step");
        assertThat(page.locator("#panel")).containsText("Settings of " + id);
    }

    @Test
    void steps_for_recipients_replies_and_digests_are_added_edited_and_published() {
        Map<String, List<String>> fields = new TreeMap<>(Map.of(
                "digest", List.of("#f-digest-collect_for", "20m"),
                "wait_for_reply", List.of("#f-wait_for_reply-from", "${ input.phone }"),
                "user_profile", List.of("#f-user_profile-find_or_create", "${ input.email }"),
                "subscription", List.of("#f-subscription-topic", "lead.welcome"),
                "cohort", List.of("#f-cohort-name", "paying"),
                "template_search", List.of("#f-template_search-prefix", "leads")));
        api().publish("""
            semel: 1
            workflow: journey
            owner: trials
            input: { id: string, phone: string, email: string, profile_id: string }
            steps:
              - { id: note, set: { ok: true } }
            """).expect(200);
        try (BrowserTab tab = tab().go("/workflows/journey/edit")) {
            Page page = tab.page();
            fields.forEach((kind, field) -> {
                add(page, kind, "a_" + kind);
                page.locator(field.getFirst()).fill(field.getLast());
                press(page, "Apply to the file");
                assertThat(page.locator(field.getFirst())).hasValue(field.getLast());
            });
            press(page, "Settings of a_cohort");
            page.locator("#f-cohort-member").selectOption("false");
            press(page, "Apply to the file");
            assertThat(page.locator("#yaml")).hasValue(Pattern.compile(".*member: false\\n.*", Pattern.DOTALL));
            assertThat(page.locator("#state")).containsText("can be published");
            press(page, "Publish…");
            press(page, "Publish for all new triggers");
            assertThat(page.locator("main")).containsText("Published");
        }
        String text = api().get("/v1/workflows/journey").text("definition");
        fields.forEach((kind, field) -> assertTrue(text.contains(field.getLast()), kind + ": " + text));
    }

    @Test
    void steps_inside_branches_are_moved_and_removed() {
        api().publish("""
            semel: 1
            workflow: branched
            owner: trials
            steps:
              - id: way
                choose:
                  - when: ${ input.total > 5 }
                    steps:
                      - { id: one, set: { ok: 1 } }
                      - { id: two, set: { ok: 2 } }
                  - else: true
                    steps: [{ id: three, set: { ok: 3 } }]
              - id: both
                parallel:
                  left:
                    - { id: four, set: { ok: 4 } }
                    - { id: five, set: { ok: 5 } }
                  right: [{ id: six, set: { ok: 6 } }]
            """).expect(200);
        try (BrowserTab tab = tab().go("/workflows/branched/edit")) {
            Page page = tab.page();
            assertThat(page.locator(".steps code"))
                    .containsText(new String[] {"way", "one", "two", "three", "both", "four", "five", "six"});
            press(page, "Move two up");
            press(page, "Move four down");
            assertThat(page.locator(".steps code"))
                    .containsText(new String[] {"way", "two", "one", "three", "both", "five", "four", "six"});
            press(page, "Remove two");
            press(page, "Remove five");
            assertThat(page.locator(".steps code"))
                    .containsText(new String[] {"way", "one", "three", "both", "four", "six"});
            assertThat(page.locator("#state")).containsText("can be published");
        }
    }

    @Test
    void an_override_is_added_for_the_channel_of_the_step() {
        api().put("/v1/templates/hello", "{\"channel\":\"email\",\"subject\":\"Hi\",\"text\":\"Hello\"}")
                .expect(200);
        api().publish("""
            semel: 1
            workflow: overriding
            owner: trials
            steps:
              - id: mail
                send: { channel: email, to: ann@example.com, template: hello }
                protect: at_most_once
              - id: inform
                notify: lead.welcome
                to: ann@example.com
                protect: at_most_once
            """).expect(200);
        try (BrowserTab tab = tab().go("/workflows/overriding/edit?step=mail&tab=overrides")) {
            Page page = tab.page();
            assertThat(page.locator("#panel")).containsText("an option of the channel email");
            page.locator("#o-name").fill("reply_to");
            page.locator("#o-value").fill("help@acme.example");
            press(page, "Apply to the file");
            assertThat(page.locator("#f-overrides-email-reply_to")).hasValue("help@acme.example");
            press(page, "Settings of inform");
            assertThat(page.locator("#panel")).containsText("a channel and its option");
            page.locator("#o-name").fill("email.reply_to");
            page.locator("#o-value").fill("team@acme.example");
            press(page, "Apply to the file");
            assertThat(page.locator("#f-overrides-email-reply_to")).hasValue("team@acme.example");
            press(page, "Publish…");
            press(page, "Publish for all new triggers");
            assertThat(page.locator("main")).containsText("Published");
        }
        JsonNode draft = api().post(
                        "/v1/drafts",
                        "{\"step\":\"mail\",\"text\":"
                                + api().get("/v1/workflows/overriding").json().path("definition") + "}")
                .expect(200)
                .json();
        assertEquals(
                "{\"email\":{\"reply_to\":\"help@acme.example\"}}",
                draft.at("/fields/overrides").toString());
    }

    @Test
    void a_cohort_is_created_and_its_members_are_changed() {
        try (BrowserTab tab = tab().go("/settings/cohorts")) {
            Page page = tab.page();
            page.locator("#n-name").fill("paying");
            page.locator("#n-document").fill("{\"description\": \"Paying customers\"}");
            press(page, "Save");
            assertThat(page.locator("main")).containsText("No members yet");
            for (String profile : List.of("cus_1", "cus_2")) {
                page.locator("#m-profile").fill(profile);
                press(page, "Add member");
                assertThat(page.locator("table")).containsText(profile);
            }
            press(page, "Remove cus_1");
            assertThat(page.locator("tbody tr")).hasCount(1);
            tab.go("/settings/cohorts");
            assertThat(page.locator("tbody")).containsText("Paying customers");
        }
        assertEquals(
                "cus_2",
                api().get("/v1/cohorts/paying/members")
                        .json()
                        .at("/items/0/profile_id")
                        .asString());
        try (BrowserTab tab = BrowserTab.forChecks(server.port()).enter().go("/settings/cohorts/paying")) {
            assertEquals(List.of(), tab.barriers());
        }
    }
}
