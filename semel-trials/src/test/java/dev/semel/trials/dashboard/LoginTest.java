package dev.semel.trials.dashboard;

import static com.microsoft.playwright.assertions.PlaywrightAssertions.assertThat;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.microsoft.playwright.Page;
import com.microsoft.playwright.options.AriaRole;
import com.microsoft.playwright.options.Cookie;
import dev.semel.server.access.UserRole;
import dev.semel.trials.support.ApiCaller;
import dev.semel.trials.support.ConcurrentCalls;
import dev.semel.trials.support.HttpReply;
import dev.semel.trials.support.LiveServer;
import dev.semel.trials.support.SampleWorkflows;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.io.TempDir;

/** Who comes in, and what they may do there: `semel serve`, where nobody enters by a click. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@Tag("trial")
class LoginTest {
    private static final String PASSWORD = "correct horse battery";
    private static final String FORM = "Content-Type: application/x-www-form-urlencoded";

    private LiveServer server;
    private String firstLink = "";

    @BeforeAll
    void open(@TempDir Path folder) {
        server = LiveServer.first("sqlite:" + folder.resolve("semel.db"), folder, _ -> {});
        server.admin().publish(SampleWorkflows.flow("kept")).expect(200);
        firstLink = "/setup?token=" + server.serve().users().invitations().create(1, UserRole.ADMIN, true, "");
        try (BrowserTab tab = BrowserTab.open(server.port())) {
            setUp(tab, firstLink, "ada");
            assertThat(tab.page().locator("header")).containsText("ada");
        }
    }

    @AfterAll
    void close() {
        server.close();
    }

    private static void setUp(BrowserTab tab, String link, String name) {
        tab.go(link);
        if (tab.page().locator("#name").inputValue().isEmpty()) {
            tab.page().locator("#name").fill(name);
        }
        tab.page().locator("#password").fill(PASSWORD);
        tab.page().locator("#again").fill(PASSWORD);
        tab.page()
                .getByRole(AriaRole.BUTTON, new Page.GetByRoleOptions().setName("Create account"))
                .click();
        tab.page().waitForURL("**/workflows");
    }

    /** A person with this role, and a tab that is theirs. */
    private BrowserTab person(String name, String role) {
        String link = server.admin()
                .put("/v1/users/" + name, "{\"role\":\"" + role + "\"}")
                .expect(200)
                .text("invitation");
        BrowserTab tab = BrowserTab.open(server.port());
        setUp(tab, link, name);
        return tab;
    }

    @Test
    void the_setup_link_of_the_first_administrator_works_once() {
        HttpReply again = server.stranger().get(firstLink);
        assertEquals(404, again.status());
        String other = "/setup?token=" + server.serve().users().invitations().create(1, UserRole.ADMIN, true, "");
        assertEquals(404, server.stranger().get(other).status(), "a first link, although somebody is there");
    }

    @Test
    void a_logged_out_user_is_sent_to_the_login_and_then_back() {
        try (BrowserTab tab = BrowserTab.open(server.port()).expecting("403")) {
            tab.go("/runs");
            Page page = tab.page();
            page.waitForURL("**/login?next=%2Fruns");
            page.locator("#name").fill("ada");
            page.locator("#password").fill("not the password");
            page.locator("#password").press("Enter");
            assertThat(page.locator("[role=alert]")).hasText("Wrong name or password.");
            page.locator("#name").fill("ada");
            page.locator("#password").fill(PASSWORD);
            page.locator("#password").press("Enter");
            assertThat(page.locator("header")).containsText("ada");
            Cookie cookie = page.context().cookies().stream()
                    .filter(one -> one.name.equals("semel_session"))
                    .findFirst()
                    .orElseThrow();
            assertTrue(cookie.httpOnly);
            page.locator("text=Log out").click();
            page.waitForURL("**/login");
            HttpReply gone = caller().send("GET", "/runs", "", "Cookie: semel_session=" + cookie.value);
            assertEquals(303, gone.status(), "the session outlived its log-out");
        }
    }

    private ApiCaller caller() {
        return server.stranger();
    }

    @Test
    void s37_the_redirect_after_the_login_is_a_local_path() {
        for (String next : List.of(
                "//evil.com?a=b", "/\\evil.com", "https://evil.com", "javascript:alert(1)", "/runs?a=\r\nX: y")) {
            HttpReply reply = caller().send(
                            "POST",
                            "/login",
                            "name=ada&password=" + PASSWORD.replace(' ', '+') + "&next="
                                    + java.net.URLEncoder.encode(next, java.nio.charset.StandardCharsets.UTF_8),
                            FORM);
            assertEquals(303, reply.status(), next);
            assertEquals("/workflows", reply.header("Location"), next);
        }
    }

    @Test
    void a_viewer_can_read_and_cannot_change_anything() {
        try (BrowserTab tab = person("vera", "viewer").expecting("403")) {
            tab.go("/workflows/kept");
            assertThat(tab.page().locator("h1")).containsText("kept");
            assertEquals(0, tab.page().locator("form[action$='/trigger']").count());
            assertEquals(0, tab.page().locator("form[action$='/pause']").count());
            tab.go("/settings/tokens");
            assertThat(tab.page().locator("h1")).hasText("Not allowed");
            String csrf = tab.page().locator("input[name=csrf]").first().inputValue();
            Object status = tab.page()
                    .evaluate(
                            "csrf => fetch('/workflows/kept/pause', {method: 'POST', redirect: 'manual', body: new"
                                    + " URLSearchParams({csrf, key: 'k'})}).then(answer => answer.status)",
                            csrf);
            assertEquals(403, ((Number) status).intValue());
            assertFalse(server.admin()
                    .get("/v1/workflows/kept")
                    .json()
                    .path("paused")
                    .asBoolean());
        }
    }

    @Test
    void an_operator_pauses_and_releases_and_the_audit_names_them() {
        server.admin().publish(SampleWorkflows.flow("stopped")).expect(200);
        server.admin().trigger("stopped", "let_go", SampleWorkflows.data("")).expect(200);
        try (BrowserTab tab = person("otto", "operator")) {
            tab.go("/workflows/stopped");
            tab.page().locator("text=Pause: queue new runs").click();
            assertThat(tab.page().locator("h1")).containsText("paused");
            assertTrue(server.admin().get("/v1/workflows/stopped").flag("paused"));
            tab.go("/keys/let_go");
            tab.page()
                    .locator("summary", new Page.LocatorOptions().setHasText("Release"))
                    .click();
            tab.page().locator("#r-reason").fill("a trial");
            tab.page().locator("text=Release: allow a second run").click();
            assertThat(tab.page().locator("h1")).containsText("Released");
            tab.go("/audit");
            assertThat(tab.page().locator("main")).containsText("usr_otto");
        }
    }

    @Test
    void a_reviewer_approves_and_may_not_send() {
        server.admin()
                .publish("semel: 1\n"
                        + "workflow: asked\n"
                        + "owner: trials\n"
                        + "steps:\n"
                        + "  - id: ok\n"
                        + "    approval: { to: \"role:ops\", title: \"Go on?\", timeout: 1d }\n")
                .expect(200);
        String id = server.admin()
                .trigger("asked", "ask_1", SampleWorkflows.data(""))
                .expect(200)
                .text("run_id");
        ConcurrentCalls.until(
                "it waits",
                () -> server.admin().get("/v1/runs/" + id).text("status").equals("waiting"));
        try (BrowserTab tab = person("rosa", "reviewer").expecting("403")) {
            tab.go("/workflows/asked");
            assertEquals(0, tab.page().locator("form[action$='/trigger']").count());
            tab.go("/runs/" + id);
            approve(tab.page());
            assertThat(tab.page().locator("main")).containsText("Only role:ops or an administrator");
            server.admin()
                    .put("/v1/users/rosa", "{\"role\":\"reviewer\",\"groups\":[\"ops\"]}")
                    .expect(200);
            tab.go("/runs/" + id);
            approve(tab.page());
            assertThat(tab.page().locator("h1")).containsText("Completed");
            assertEquals(
                    "usr_rosa",
                    server.admin()
                            .get("/v1/runs/" + id + "/timeline")
                            .json()
                            .at("/items/0/result/by")
                            .asString());
        }
    }

    private static void approve(Page page) {
        page.getByLabel("Approve: the run continues").check();
        page.getByRole(AriaRole.BUTTON, new Page.GetByRoleOptions().setName("Record decision"))
                .click();
        page.locator("#jump").hover();
    }

    @Test
    void s35_a_form_without_the_token_of_the_session_or_from_another_site_does_nothing() {
        try (BrowserTab tab = person("carl", "operator")) {
            tab.go("/workflows/kept");
            String session = tab.page().context().cookies().stream()
                    .filter(one -> one.name.equals("semel_session"))
                    .findFirst()
                    .orElseThrow()
                    .value;
            String csrf = tab.page().locator("input[name=csrf]").first().inputValue();
            String cookie = "Cookie: semel_session=" + session;
            String path = "/workflows/kept/pause";
            assertEquals(403, caller().send("POST", path, "key=k", cookie, FORM).status());
            assertEquals(
                    403,
                    caller().send("POST", path, "key=k&csrf=" + "0".repeat(64), cookie, FORM)
                            .status());
            String whole = "key=k&csrf=" + csrf;
            for (String origin : List.of(
                    "Origin: https://evil.com",
                    "Origin: null",
                    "Origin: https://localhost.evil.com",
                    "Sec-Fetch-Site: cross-site")) {
                assertEquals(
                        403,
                        caller().send("POST", path, whole, cookie, FORM, origin).status(),
                        origin);
            }
            assertEquals(
                    415,
                    caller().send("POST", path, whole, cookie, "Content-Type: text/plain")
                            .status());
            assertFalse(server.admin()
                    .get("/v1/workflows/kept")
                    .json()
                    .path("paused")
                    .asBoolean());
            String own = "Origin: http://localhost";
            assertEquals(
                    303, caller().send("POST", path, whole, cookie, FORM, own).status());
            assertTrue(server.admin()
                    .get("/v1/workflows/kept")
                    .json()
                    .path("paused")
                    .asBoolean());
            server.admin().post("/v1/workflows/kept/resume", "{}").expect(200);
        }
    }

    @Test
    void s37_password_guessing_is_throttled() {
        String body = "name=nobody&password=guess";
        for (int i = 0; i < 10; i++) {
            assertEquals(403, caller().send("POST", "/login", body, FORM).status());
        }
        assertEquals(429, caller().send("POST", "/login", body, FORM).status());
    }

    @Test
    void one_click_login_is_not_offered_here() {
        assertEquals(403, caller().send("POST", "/login/dev", "", FORM).status());
        assertFalse(caller().get("/login").body().contains("Log in as dev"));
    }

    @Test
    void a_removed_user_is_logged_out_immediately() {
        try (BrowserTab tab = person("rita", "admin")) {
            server.admin().put("/v1/users/rita", "{\"role\":\"viewer\"}").expect(200);
            server.admin().delete("/v1/users/rita").expect(200);
            tab.go("/runs");
            tab.page().waitForURL("**/login**");
            String audit = server.admin().get("/v1/audit").expect(200).body();
            for (String action : List.of("user.invite", "user.put", "user.remove")) {
                assertTrue(audit.contains("\"action\":\"" + action + "\",\"target\":\"rita\""), action + " " + audit);
            }
        }
    }

    @Test
    void a_session_that_ends_under_a_live_page_prompts_a_login() {
        try (BrowserTab tab = person("liv", "viewer").expecting("401").go("/runs")) {
            Page page = tab.page();
            assertThat(page.locator("#live")).hasText("● live");
            server.admin().delete("/v1/users/liv").expect(200);
            int[] sent = {0};
            page.waitForCondition(() -> {
                server.admin()
                        .trigger("kept", "after_" + sent[0]++, SampleWorkflows.data(""))
                        .expect(200);
                return page.locator("#live").innerText().contains("log in again");
            });
            page.locator("#live a").click();
            page.waitForURL("**/login?next=%2Fruns");
        }
    }
}
