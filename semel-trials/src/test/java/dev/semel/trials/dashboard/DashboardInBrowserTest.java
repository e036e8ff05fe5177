package dev.semel.trials.dashboard;

import static com.microsoft.playwright.assertions.PlaywrightAssertions.assertThat;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.microsoft.playwright.Locator;
import com.microsoft.playwright.Page;
import com.microsoft.playwright.options.AriaRole;
import dev.semel.server.demo.DemoExternalApi;
import dev.semel.trials.support.ApiCaller;
import dev.semel.trials.support.ConcurrentCalls;
import dev.semel.trials.support.HttpReply;
import dev.semel.trials.support.LiveServer;
import dev.semel.trials.support.RawConnection;
import dev.semel.trials.support.SampleWorkflows;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.io.TempDir;

/** What people see of `semel dev --demo`. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@Tag("trial")
class DashboardInBrowserTest {
    private static final String PAYMENT =
            "{\"data\":{\"payment_id\":\"pay_abc\",\"amount\":4900,\"currency\":\"usd\"}}";
    private static final String OTHER = PAYMENT.replace("4900", "5900");
    private static final String HOSTILE = "<img src=x onerror=alert(1)>";

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

    private String run(String workflow, String key, String data) {
        String id = api().trigger(workflow, key, data).expect(200).text("run_id");
        ConcurrentCalls.until(
                "the run has ended",
                () -> !api().get("/v1/runs/" + id).json().path("ended_at").isNull());
        return id;
    }

    @Test
    void after_two_curls_the_duplicate_appears_live_beside_its_run() {
        String id = run("payment_receipt", "live_1", PAYMENT);
        try (BrowserTab tab = BrowserTab.open(server.port()).enter().go("/workflows/payment_receipt/runs")) {
            Locator run = tab.page().locator("tbody[data-run='" + id + "']");
            assertThat(run).containsText("Completed");
            assertThat(run).not().containsText("Replayed");
            assertThat(tab.page().locator("#live")).hasText("● live");
            api().trigger("payment_receipt", "live_1", PAYMENT).expect(200);
            assertThat(run.locator(".entry")).containsText("Replayed");
            assertThat(run.locator(".entry")).containsText("same data");
            api().trigger("payment_receipt", "live_1", OTHER).expect(422);
            assertThat(run.locator(".entry").last()).containsText("Conflict");
            assertThat(run.locator(".entry").last()).containsText("amount differs");
            tab.page().locator("h1").first().click();
            tab.shoot("runs");
        }
    }

    @Test
    void new_runs_wait_behind_a_button_so_that_no_row_moves() {
        run("payment_receipt", "wait_1", PAYMENT);
        try (BrowserTab tab = BrowserTab.open(server.port()).enter().go("/runs")) {
            assertThat(tab.page().locator("#live")).hasText("● live");
            String first = tab.page().locator("tbody").first().getAttribute("data-run");
            String id = run("payment_receipt", "wait_2", PAYMENT);
            Locator show = tab.page().locator("#news button");
            assertThat(show).containsText("new run");
            assertEquals(first, tab.page().locator("tbody").first().getAttribute("data-run"));
            show.click();
            assertThat(tab.page().locator("tbody").first()).hasAttribute("data-run", id);
        }
    }

    @Test
    void a_row_under_the_pointer_does_not_change() {
        String id = run("payment_receipt", "still_1", PAYMENT);
        try (BrowserTab tab = BrowserTab.open(server.port()).enter().go("/workflows/payment_receipt/runs")) {
            assertThat(tab.page().locator("#live")).hasText("● live");
            Locator run = tab.page().locator("tbody[data-run='" + id + "']");
            run.hover();
            api().trigger("payment_receipt", "still_1", PAYMENT).expect(200);
            assertThat(tab.page().locator("#news button")).containsText("1 changed");
            assertThat(run.locator(".entry")).hasCount(0);
            tab.page().locator("h1").first().hover();
            assertThat(run.locator(".entry")).containsText("Replayed");
        }
    }

    @Test
    void the_page_of_a_run_shows_its_steps_key_and_requests() {
        String id = run("payment_receipt", "page_1", PAYMENT);
        api().trigger("payment_receipt", "page_1", OTHER).expect(422);
        try (BrowserTab tab = BrowserTab.open(server.port()).enter().go("/runs/" + id)) {
            assertThat(tab.page().locator("h1")).containsText("Completed");
            assertTrue(tab.page().locator("table.bars rect").count() > 0, "no bar is drawn");
            assertThat(tab.page().locator("main")).containsText("amount");
            tab.page().keyboard().press("t");
            assertThat(tab.page().locator("#twin table")).isVisible();
            tab.shoot("run");
            tab.page().locator("main >> text=page_1").first().click();
            assertThat(tab.page().locator(".story")).containsText("rejected one request because amount differed");
            tab.shoot("key");
            Locator simulation = tab.page().locator("#simulation");
            assertThat(simulation).containsText("200");
            tab.page().locator("#w-data").fill("{\"payment_id\":\"pay_abc\",\"amount\":1,\"currency\":\"usd\"}");
            simulation.locator("button").click();
            assertThat(tab.page().locator("#simulation [role=status]")).containsText("422");
            tab.page().locator("#w-data").fill("");
            tab.page().locator("#w-after").selectOption("48h");
            tab.page().locator("#simulation button").click();
            assertThat(tab.page().locator("#simulation [role=status]")).containsText("new run");
        }
    }

    @Test
    void a_run_is_signalled_becomes_in_doubt_and_is_decided_on_its_page() {
        Objects.requireNonNull(server.serve().playground()).dropNextResponse(DemoExternalApi.PICKS, () -> {});
        String id = api().trigger(
                        "fulfil_order",
                        "doubt_1",
                        "{\"data\":{\"order_id\":\"10443\",\"warehouse\":\"berlin\",\"total\":4900,"
                                + "\"lines\":[{\"sku\":\"SKU-881\",\"qty\":1}]}}")
                .expect(200)
                .text("run_id");
        ConcurrentCalls.until(
                "it waits", () -> api().get("/v1/runs/" + id).text("status").equals("waiting"));
        try (BrowserTab tab = BrowserTab.open(server.port()).enter().go("/runs/" + id)) {
            Page page = tab.page();
            page.locator("summary", new Page.LocatorOptions().setHasText("Signal"))
                    .click();
            assertThat(page.locator("#s-name")).hasValue("payment.captured");
            page.locator("text=Send signal").click();
            page.locator("#jump").hover();
            assertThat(page.locator("main")).containsText("Signal sent.");
            assertThat(page.locator("h1")).containsText("In doubt");
            assertThat(page.locator("#run")).containsText("asks a user");
            tab.shoot("doubt");
            tab.go("/reviews");
            assertThat(page.locator("main")).containsText("fulfil_order");
            page.locator("table a[href='/runs/" + id + "']").first().click();
            page.getByLabel("It happened: record it and send nothing").check();
            page.locator("text=Record decision").click();
            page.locator("#jump").hover();
            assertThat(page.locator("main")).containsText("Decision recorded.");
            assertThat(page.locator("h1")).containsText("Completed");
        }
    }

    @Test
    void pasted_ids_open_in_the_search() {
        String id = run("payment_receipt", "jump_1", PAYMENT);
        try (BrowserTab tab = BrowserTab.open(server.port()).enter()) {
            Page page = tab.page();
            for (String[] one : new String[][] {
                {id, "/runs/" + id}, {"jump_1", "/keys/jump_1"}, {"payment_receipt", "/workflows/payment_receipt"}
            }) {
                page.keyboard().press("Control+k");
                page.keyboard().insertText(one[0]);
                page.keyboard().press("Enter");
                page.waitForURL("**" + one[1]);
            }
            page.locator("h1").click();
            page.keyboard().press("g");
            page.keyboard().press("r");
            page.waitForURL("**/runs");
        }
    }

    @Test
    void a_form_sent_twice_is_one_run() {
        api().publish(SampleWorkflows.flow("twice")).expect(200);
        try (BrowserTab tab = BrowserTab.open(server.port()).enter().go("/workflows/twice")) {
            tab.page()
                    .locator("summary", new Page.LocatorOptions().setHasText("Send test"))
                    .click();
            tab.page().evaluate("""
                () => { const form = document.querySelector('form[action$="/trigger"]');
                  const again = () => fetch(form.action, {method: 'POST', body: new URLSearchParams(new FormData(form))});
                  return Promise.all([again(), again(), again()]).then(() => 1); }
                """);
            tab.page()
                    .getByRole(AriaRole.BUTTON, new Page.GetByRoleOptions().setName("Start a run"))
                    .click();
            tab.page().waitForURL("**/runs/run_*");
            assertEquals(
                    1,
                    api().get("/v1/workflows/twice/runs").json().path("items").size());
        }
    }

    @Test
    void s32_markup_in_key_payload_error_and_title_is_shown_as_text() {
        api().publish(SampleWorkflows.failing("hostile", "title: '" + HOSTILE + "</script><script>alert(2)</script>'"))
                .expect(200);
        String id =
                run("hostile", HOSTILE, "{\"data\":{\"a\":\"</pre><script>alert(3)</script>\",\"" + HOSTILE + "\":1}}");
        api().trigger("hostile", HOSTILE, "{\"data\":{\"" + HOSTILE + "\":2}}").expect(200);
        try (BrowserTab tab = BrowserTab.open(server.port()).enter()) {
            for (String path :
                    List.of("/workflows", "/workflows/hostile", "/runs", "/runs/" + id, "/keys", "/requests")) {
                tab.go(path);
                assertTrue(tab.text().contains(HOSTILE), path);
                assertEquals(0, tab.page().locator("img[src=x]").count(), path);
            }
            tab.go("/runs/" + id);
            assertTrue(tab.text().contains("</pre><script>alert(3)</script>"));
            tab.page().locator("main >> text=" + HOSTILE).first().click();
            assertThat(tab.page().locator("h1")).containsText(HOSTILE);
        }
    }

    @Test
    void every_page_is_accessible_in_both_themes_without_horizontal_scrolling_at_320_pixels() {
        String id = run("payment_receipt", "axe_1", PAYMENT);
        api().trigger("payment_receipt", "axe_1", PAYMENT).expect(200);
        api().trigger("payment_receipt", "axe_1", OTHER).expect(422);
        List<String> found = new ArrayList<>();
        List<String> paths = List.of(
                "/login",
                "/workflows",
                "/workflows/payment_receipt",
                "/workflows/new_lead/definition",
                "/workflows/new_lead/effects",
                "/workflows/payment_receipt/versions",
                "/runs",
                "/runs?status=cancelled",
                "/runs/" + id,
                "/runs/gone",
                "/requests",
                "/keys",
                "/keys/axe_1",
                "/schedules",
                "/events",
                "/webhooks",
                "/reviews",
                "/effects",
                "/replays",
                "/incidents",
                "/monitoring",
                "/workflows/payment_receipt/monitoring",
                "/facts?kind=conflict",
                "/objects?having=writes%3E0",
                "/workers",
                "/audit",
                "/sessions",
                "/settings/users",
                "/settings",
                "/settings/workspaces",
                "/settings/tokens");
        try (BrowserTab tab = BrowserTab.forChecks(server.port()).enter().expecting("404")) {
            for (String path : paths) {
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
                    found.add(path + " is " + wide + " pixels wide on a screen of 320: "
                            + tab.page()
                                    .evaluate("() => [...document.querySelectorAll('main *')].filter(one =>"
                                            + " one.getBoundingClientRect().right > 320).map(one =>"
                                            + " one.outerHTML.slice(0, 80))"));
                }
                tab.page().setViewportSize(1200, 800);
            }
        }
        assertEquals(List.of(), found);
    }

    @Test
    void accessibility_violations_and_console_errors_are_detected() {
        try (BrowserTab tab = BrowserTab.forChecks(server.port()).enter()) {
            tab.page().evaluate("() => { document.querySelector('main').innerHTML = '<img src=\"data:,\"><input>'; }");
            assertTrue(tab.barriers().size() >= 2, "axe finds nothing wrong with anything");
        }
        BrowserTab loud = BrowserTab.open(server.port()).enter();
        loud.page().evaluate("() => console.error('planted')");
        loud.page()
                .evaluate(
                        "() => { const one = document.createElement('p'); one.setAttribute('style', 'color: red'); }");
        assertTrue(assertThrows(AssertionError.class, loud::close).toString().contains("planted"));
    }

    @Test
    void a_stopped_server_is_reported_on_the_page() {
        Path other = folder.resolve("other");
        BrowserTab tab = BrowserTab.open(0).expecting("ERR_");
        try (LiveServer gone = LiveServer.dev("sqlite:" + other.resolve("semel.db"), other)) {
            tab.at(gone.port()).enter().go("/runs");
            assertThat(tab.page().locator("#live")).hasText("● live");
        }
        assertThat(tab.page().locator("#live")).containsText("server unreachable");
        tab.close();
    }

    @Test
    void the_dashboard_can_be_read_without_javascript() {
        String id = run("payment_receipt", "plain_1", PAYMENT);
        api().trigger("payment_receipt", "plain_1", PAYMENT).expect(200);
        try (BrowserTab tab = BrowserTab.withoutScript(server.port()).enter().go("/runs?key=plain_1")) {
            assertThat(tab.page().locator("tbody[data-run='" + id + "'] .entry"))
                    .containsText("Replayed");
            tab.page().locator("#jump").fill("plain_1");
            tab.page().locator("#jump").press("Enter");
            assertThat(tab.page().locator(".story")).containsText("One duplicate request was answered with this run");
        }
    }

    @Test
    void a_list_without_entries_shows_the_command_that_fills_it() {
        try (BrowserTab tab = BrowserTab.open(server.port()).enter().go("/incidents")) {
            assertThat(tab.page().locator(".command")).containsText("semel incident");
            tab.go("/workflows");
            tab.shoot("workflows");
            tab.go("/workflows/new_lead/effects");
            assertThat(tab.page().locator("main")).containsText("What is the damage if it happens twice?");
            tab.shoot("effects");
        }
    }

    @Test
    void one_click_login_works_only_for_local_host_names() {
        String type = "Content-Type: application/x-www-form-urlencoded";
        String head = server.stranger().head("POST", "/login/dev", type, "Content-Length: 0");
        try (RawConnection wire = server.wire()) {
            HttpReply other = wire.send(head.replace("Host: localhost", "Host: semel.test") + "\r\n")
                    .reply();
            assertEquals(403, other.status(), other.body());
        }
    }

    @Test
    void responses_have_a_strict_content_security_policy_and_little_script() {
        var page = server.stranger().get("/login").expect(200);
        String head = String.join("\n", page.lines());
        assertTrue(head.contains("default-src 'none'; script-src 'self'; style-src 'self'"), head);
        assertTrue(head.contains("nosniff") && head.contains("Referrer-Policy: same-origin"), head);
        assertFalse(page.body().contains("<style") || page.body().contains(" style="), "a style inside of the page");
        int script = 0;
        for (String part : page.body().split("\"")) {
            if (part.startsWith("/assets/") && part.endsWith(".js")) {
                script += server.stranger().get(part).expect(200).body().length();
            }
        }
        assertTrue(script > 0 && script <= 80_000, script + " bytes of script");
    }
}
