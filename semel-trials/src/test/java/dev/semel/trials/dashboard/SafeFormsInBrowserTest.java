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
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.io.TempDir;

/** Pages that decide nothing by accident, move nothing under the pointer, and lose nothing that was typed. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@Tag("trial")
class SafeFormsInBrowserTest {
    private LiveServer server;

    @BeforeAll
    void open(@TempDir Path folder) {
        server = LiveServer.dev("sqlite:" + folder.resolve("semel.db"), folder);
        api().publish(asking("asked", "ok")).expect(200);
        api().publish(asking("asked_twice", "first", "second")).expect(200);
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

    private static String asking(String name, String... steps) {
        StringBuilder text = new StringBuilder("semel: 1\nworkflow: " + name + "\nowner: trials\nsteps:\n");
        for (String step : steps) {
            text.append("  - id: ")
                    .append(step)
                    .append("\n    approval: { to: \"role:ops\", title: \"Go on?\", timeout: 1d }\n");
        }
        return text.toString();
    }

    /** A run that asks, and the review that it asks by. */
    private record RunWithReview(String run, String review) {}

    private RunWithReview asks(String workflow, String key) {
        String run = api().trigger(workflow, key, "{\"data\":{}}").expect(200).text("run_id");
        return new RunWithReview(run, review(run, 1));
    }

    /** The open review of a run that has asked so often. */
    private String review(String run, int count) {
        String[] found = {""};
        ConcurrentCalls.until("a person is asked", () -> {
            var reviews = api().get("/v1/runs/" + run + "/timeline").json().path("reviews");
            reviews.valueStream()
                    .filter(one -> one.path("open").asBoolean())
                    .forEach(one -> found[0] = one.path("review_id").asString());
            return reviews.size() == count && !found[0].isEmpty();
        });
        return found[0];
    }

    private static void press(Page page, String button) {
        page.getByRole(AriaRole.BUTTON, new Page.GetByRoleOptions().setName(button))
                .click();
    }

    private String decision(String review) {
        return api().get("/v1/reviews/" + review).json().at("/decided/decision").asString("");
    }

    @Test
    void enter_in_a_note_decides_nothing() {
        RunWithReview one = asks("asked", "enter_1");
        RunWithReview other = asks("asked", "enter_2");
        RunWithReview more = asks("asked", "enter_3");
        try (BrowserTab tab = tab().go("/runs/" + one.run())) {
            Page page = tab.page();
            page.getByLabel("Note").fill("no");
            page.getByLabel("Note").press("Enter");
            page.getByLabel("Reject").check();
            press(page, "Record decision");
            assertThat(page.locator("main")).containsText("Decision recorded.");
            tab.go("/reviews/" + other.review());
            page.locator("#d-note").fill("no");
            page.locator("#d-note").press("Enter");
            page.getByLabel("Reject").check();
            press(page, "Record decision");
            assertThat(page.locator("main")).containsText("Decision recorded.");
            asks("asked", "enter_4");
            tab.go("/reviews?tab=approval&workflow=asked");
            page.locator("input[value^='" + more.review() + "']").check();
            page.locator("#m-note").fill("no");
            page.locator("#m-note").press("Enter");
            page.getByLabel("Reject").check();
            press(page, "Record decision for each");
            assertThat(page.locator("main")).containsText("1 of 1 reviews decided");
        }
        for (RunWithReview runWithReview : List.of(one, other, more)) {
            assertEquals("reject", decision(runWithReview.review()), "Enter was taken for an approval");
        }
    }

    @Test
    void enter_in_a_topic_unsubscribes_no_one() {
        api().put("/v1/profiles/usr_ben", "{\"email\":\"ben@example.com\"}").expect(200);
        try (BrowserTab tab = tab().go("/settings/profiles/usr_ben")) {
            tab.page().locator("#s-topic").fill("lead.welcome");
            tab.page().locator("#s-topic").press("Enter");
            tab.page().getByLabel("Subscribe again").check();
            press(tab.page(), "Save choice");
            assertThat(tab.page().locator("main")).containsText("Subscription saved.");
            assertThat(tab.page().locator("main")).not().containsText("unsubscribed");
        }
    }

    @Test
    void a_run_page_does_not_refresh_under_the_pointer_or_over_typed_text() {
        RunWithReview runWithReview = asks("asked_twice", "still_1");
        try (BrowserTab tab = tab().go("/runs/" + runWithReview.run())) {
            Page page = tab.page();
            assertThat(page.locator("#live")).hasText("● live");
            assertThat(page.locator("#run a[href='/reviews/" + runWithReview.review() + "']"))
                    .isVisible();
            page.locator("#twin summary").click();
            page.locator("h3").first().hover();
            api().post("/v1/reviews/" + runWithReview.review() + "/decide", "{\"decision\":\"approve\",\"version\":1}")
                    .expect(200);
            Locator show = page.locator("#news button");
            assertThat(show).hasText("run changed, now waiting: show");
            assertThat(page.locator("input[name=step]")).hasValue("first");
            page.getByLabel("Note").fill("half a sentence");
            show.click();
            assertThat(page.locator("input[name=step]")).hasValue("second");
            assertThat(page.locator("#twin")).hasAttribute("open", "");
            assertThat(show).hasCount(0);
            page.locator("summary", new Page.LocatorOptions().setHasText("Cancel…"))
                    .click();
            page.locator("#c-reason").fill("typed");
            page.locator("#jump").hover();
            page.locator("#c-reason").blur();
            api().post("/v1/runs/" + runWithReview.run() + "/cancel", "{}").expect(200);
            assertThat(show).hasText("run changed, now cancelled: show");
            assertThat(page.locator("#c-reason")).hasValue("typed");
            page.locator("#c-reason").fill("");
            page.locator("#c-reason").blur();
            page.locator("#jump").hover();
            assertThat(page.locator("h1")).containsText("Cancelled");
            assertThat(page.locator("form[action$='/cancel']")).hasCount(0);
            assertThat(page.locator("form[action$='/signal']")).hasCount(0);
        }
    }

    @Test
    void a_rejected_form_keeps_typed_text() {
        RunWithReview runWithReview = asks("asked", "typed_1");
        try (BrowserTab tab = tab().expecting("400").expecting("412").go("/runs/" + runWithReview.run())) {
            Page page = tab.page();
            page.locator("summary", new Page.LocatorOptions().setHasText("Signal…"))
                    .click();
            page.locator("#s-name").fill("paid");
            page.locator("#s-data").fill("{\"amount\": 49");
            press(page, "Send signal");
            assertThat(page.locator("[role=alert]")).isVisible();
            assertThat(page.locator("#s-name")).hasValue("paid");
            assertThat(page.locator("#s-data")).hasValue("{\"amount\": 49");
            page.getByLabel("Note").fill("looked at it");
            api().post("/v1/reviews/" + runWithReview.review() + "/decide", "{\"decision\":\"reject\",\"version\":1}")
                    .expect(200);
            page.getByLabel("Approve: the run continues").check();
            press(page, "Record decision");
            assertThat(page.locator("[role=alert]")).isVisible();
            tab.go("/workflows/asked");
            page.locator("summary", new Page.LocatorOptions().setHasText("Send test"))
                    .click();
            page.locator("#t-key").fill("mine_1");
            page.locator("#t-data").fill("{\"a\": ");
            press(page, "Start a run");
            assertThat(page.locator("[role=alert]")).isVisible();
            assertThat(page.locator("#t-key")).hasValue("mine_1");
            assertThat(page.locator("#t-data")).hasValue("{\"a\": ");
            tab.go("/keys/typed_1");
            page.locator("#w-data").fill("{\"b\": ");
            page.locator("#simulation button").click();
            assertThat(page.locator("[role=alert]")).isVisible();
            assertThat(page.locator("#w-data")).hasValue("{\"b\": ");
        }
    }

    @Test
    void a_later_decision_keeps_its_typed_note() {
        RunWithReview runWithReview = asks("asked", "slower_1");
        try (BrowserTab tab = tab().expecting("409").go("/reviews/" + runWithReview.review())) {
            Page page = tab.page();
            page.locator("#d-note").fill("called the customer");
            page.getByLabel("Approve").check();
            api().post("/v1/reviews/" + runWithReview.review() + "/decide", "{\"decision\":\"reject\",\"version\":1}")
                    .expect(200);
            press(page, "Record decision");
            assertThat(page.locator("[role=alert]")).containsText("decided first");
            assertThat(page.locator("main")).containsText("called the customer");
        }
    }

    @Test
    void a_filtered_list_says_that_more_may_match() {
        api().publish(SampleWorkflows.flow("fitting")).expect(200);
        try (BrowserTab tab = tab().go("/runs?status=completed&key=fit_2")) {
            assertThat(tab.page().locator("#live")).hasText("● live");
            api().trigger("fitting", "fit_1", "{\"data\":{}}").expect(200);
            String id = api().trigger("fitting", "fit_2", "{\"data\":{}}")
                    .expect(200)
                    .text("run_id");
            assertThat(tab.page().locator("#news button")).hasText("1 new run may match the filter: show");
            tab.page().locator("#news button").click();
            assertThat(tab.page().locator("tbody[data-run='" + id + "']")).containsText("Completed");
            assertThat(tab.page().locator("tbody[data-run]")).hasCount(1);
        }
    }

    @Test
    void paging_older_keys_keeps_the_filter() {
        api().publish(SampleWorkflows.flow("many")).expect(200);
        String items = IntStream.range(0, 130)
                .mapToObj(i -> "{\"key\":\"%s_%03d\",\"data\":{}}".formatted(i % 2 == 0 ? "even" : "odd", i))
                .collect(Collectors.joining(","));
        api().post("/v1/workflows/many/trigger-batch", "{\"items\":[" + items + "]}")
                .expect(200);
        try (BrowserTab tab = tab()) {
            for (String list : new String[] {"/keys?prefix=odd_", "/workflows/many/keys?prefix=odd_"}) {
                tab.go(list);
                assertThat(tab.page().locator("#f-prefix")).hasValue("odd_");
                tab.page().locator("text=Older").click();
                tab.page().waitForURL("**after=**");
                assertThat(tab.page().locator("#f-prefix")).hasValue("odd_");
                assertTrue(tab.page().locator("tbody tr").count() > 0, list);
                assertEquals(
                        0,
                        tab.page()
                                .locator("tbody tr", new Page.LocatorOptions().setHasText("even_"))
                                .count(),
                        list);
            }
        }
    }

    @Test
    void a_key_of_two_workflows_is_shown_for_each() {
        String mail = SampleWorkflows.flow("mail_it", "idempotency: { scope: workflow }");
        String call = SampleWorkflows.flow("call_them", "idempotency: { scope: workflow }");
        api().publish(mail).expect(200);
        api().publish(call).expect(200);
        String mailed =
                api().trigger("mail_it", "both_1", "{\"data\":{}}").expect(200).text("run_id");
        String called = api().trigger("call_them", "both_1", "{\"data\":{}}")
                .expect(200)
                .text("run_id");
        try (BrowserTab tab = tab().go("/runs/" + mailed)) {
            Page page = tab.page();
            page.locator(".facts a", new Page.LocatorOptions().setHasText("both_1"))
                    .click();
            assertThat(page.locator(".facts").first()).containsText(mailed);
            assertThat(page.locator("#simulation [role=status]")).containsText(mailed);
            page.locator("#w-after").selectOption("1h");
            page.locator("#simulation button").click();
            assertThat(page.locator("#simulation [role=status]")).containsText(mailed);
            page.locator("a[href='/keys/both_1?workflow=call_them']").click();
            assertThat(page.locator(".facts").first()).containsText(called);
            assertThat(page.locator("#simulation [role=status]")).containsText(called);
            assertThat(page.locator("a[href='/keys/both_1?workflow=mail_it']")).isVisible();
        }
    }

    @Test
    void a_workflow_may_be_named_new() {
        try (BrowserTab tab = tab().go("/workflows/new")) {
            assertThat(tab.page().locator("h1")).containsText("New workflow");
            api().publish(SampleWorkflows.flow("new")).expect(200);
            tab.go("/workflows/new");
            assertThat(tab.page().locator("h1")).containsText("new v1");
            tab.go("/workflows/new/edit");
            assertThat(tab.page().locator("h1")).containsText("Edit new");
        }
    }
}
