package dev.semel.trials.dashboard;

import static com.microsoft.playwright.assertions.PlaywrightAssertions.assertThat;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.microsoft.playwright.Page;
import com.microsoft.playwright.options.AriaRole;
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

/** A session ends while somebody works: nothing is done, nothing is lost, and they go on where they were. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@Tag("trial")
class ExpiredSessionTest {
    private static final String PASSWORD = "correct horse battery";
    private static final String FORM = "Content-Type: application/x-www-form-urlencoded";
    private static final String OURS = "Origin: http://localhost";

    private LiveServer server;

    @BeforeAll
    void open(@TempDir Path folder) {
        server = LiveServer.first("sqlite:" + folder.resolve("semel.db"), folder, _ -> {});
        server.admin().publish(SampleWorkflows.flow("kept")).expect(200);
    }

    @AfterAll
    void close() {
        server.close();
    }

    private BrowserTab person(String name) {
        return person(BrowserTab.open(server.port()), name);
    }

    private BrowserTab person(BrowserTab tab, String name) {
        String link = server.admin()
                .put("/v1/users/" + name, "{\"role\":\"admin\"}")
                .expect(200)
                .text("invitation");
        tab.go(link.substring(link.indexOf("/setup")));
        tab.page().locator("#password").fill(PASSWORD);
        tab.page().locator("#again").fill(PASSWORD);
        press(tab.page(), "Create account");
        tab.page().waitForURL("**/workflows");
        return tab.expecting("401").expecting("403");
    }

    private void end(String name) {
        server.admin().delete("/v1/users/" + name + "/sessions").expect(200);
    }

    private static void press(Page page, String button) {
        page.getByRole(AriaRole.BUTTON, new Page.GetByRoleOptions().setName(button))
                .click();
    }

    private static void logIn(Page page, String name, String password, String button) {
        page.locator("#name").fill(name);
        page.locator("#password").fill(password);
        press(page, button);
    }

    @Test
    void a_form_sent_after_the_session_ended_is_kept_through_the_login() {
        try (BrowserTab tab = person(BrowserTab.forChecks(server.port()), "uma").go("/workflows/kept/edit")) {
            Page page = tab.page();
            end("uma");
            page.evaluate("() => { document.querySelector('#yaml').value += '# written for an hour\\n'; }");
            press(page, "Check");
            assertThat(page.locator("h1")).hasText("Your session has ended");
            assertEquals(List.of(), tab.barriers());
            logIn(page, "uma", "not the password", "Log in and continue");
            assertThat(page.locator("[role=alert]")).containsText("Wrong name or password.");
            logIn(page, "uma", PASSWORD, "Log in and continue");
            assertThat(page.locator("h1")).hasText("Send the form again?");
            assertThat(page.locator("main")).containsText("You are now logged in as uma.");
            assertEquals(List.of(), tab.barriers());
            press(page, "Send now");
            assertTrue(page.locator("#yaml").inputValue().endsWith("# written for an hour\n"));
            assertThat(page.locator("#state")).containsText("1 line differs");
        }
    }

    @Test
    void a_login_in_another_tab_continues_in_this_one() {
        try (BrowserTab tab = person("ole").go("/workflows/kept/edit")) {
            Page page = tab.page();
            end("ole");
            page.locator("#yaml").press("Control+End");
            page.keyboard().insertText("# more\n");
            assertThat(page.locator("#live")).containsText("log in in another tab, then continue here");
            Page other = page.context().newPage();
            other.navigate(page.url().replaceFirst("/workflows.*", "/login"));
            logIn(other, "ole", PASSWORD, "Log in");
            other.waitForURL("**/workflows");
            other.close();
            page.evaluate("() => window.dispatchEvent(new Event('focus'))");
            assertThat(page.locator("#live")).containsText("logged in again");
            assertTrue(page.locator("#yaml").inputValue().endsWith("# more\n"));
            press(page, "Check");
            assertThat(page.locator("#state")).containsText("1 line differs");
        }
    }

    @Test
    void the_redirect_keeps_the_filter_also_after_a_wrong_password() {
        try (BrowserTab tab = person("nora")) {
            Page page = tab.page();
            end("nora");
            tab.go("/runs?status=failed&key=a%2Fb");
            page.waitForURL("**/login?next=**");
            logIn(page, "nora", "not the password", "Log in");
            assertThat(page.locator("[role=alert]")).isVisible();
            logIn(page, "nora", PASSWORD, "Log in");
            page.waitForURL("**/runs?status=failed&key=a%2Fb");
            assertThat(page.locator("#f-key")).hasValue("a/b");
        }
    }

    @Test
    void a_page_fragment_is_never_the_login_page() {
        String[] script = {"HX-Request: true"};
        for (String path : List.of("/runs/run_1/row", "/runs/run_1", "/replays/rpl_1")) {
            HttpReply reply = server.stranger().send("GET", path, "", script);
            assertEquals(401, reply.status(), path);
            assertEquals("application/problem+json", reply.header("Content-Type"), path);
        }
        assertEquals(
                401,
                server.stranger()
                        .send("POST", "/workflows/kept/edit", "text=x", FORM, "HX-Request: true")
                        .status());
    }

    @Test
    void no_password_or_secret_is_kept_and_other_sites_get_no_response() {
        String sent = "csrf=abc&value=hunter2&name=stripe&reason=because";
        HttpReply over = server.stranger().send("POST", "/settings/secrets", sent, FORM, OURS);
        assertEquals(401, over.status());
        assertTrue(over.body().contains("because"), over.body());
        assertFalse(over.body().contains("hunter2") || over.body().contains("value=\"abc\""), over.body());
        HttpReply foreign = server.stranger().send("POST", "/workflows/kept/pause", "reason=x", FORM, "Origin: null");
        assertEquals(403, foreign.status());
        assertFalse(foreign.body().contains("pending.field"), foreign.body());
    }

    @Test
    void s35_a_form_of_another_session_is_shown_and_not_executed() {
        try (BrowserTab tab = person("cleo").go("/workflows/kept")) {
            String cookie = "Cookie: semel_session="
                    + tab.page().context().cookies().stream()
                            .filter(one -> one.name.equals("semel_session"))
                            .findFirst()
                            .orElseThrow()
                            .value;
            String path = "/workflows/kept/pause";
            HttpReply shown = server.stranger().send("POST", path, "key=k&csrf=old", FORM, cookie, OURS);
            assertEquals(403, shown.status());
            assertTrue(shown.body().contains("Send now"), shown.body());
            HttpReply unsure = server.stranger().send("POST", path, "key=k&csrf=old", FORM, cookie);
            assertEquals(403, unsure.status());
            assertFalse(unsure.body().contains("Send now"), unsure.body());
            assertFalse(server.admin().get("/v1/workflows/kept").flag("paused"));
        }
    }
}
