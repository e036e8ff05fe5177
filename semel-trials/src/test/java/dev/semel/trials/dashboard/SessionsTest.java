package dev.semel.trials.dashboard;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.semel.trials.support.ApiCaller;
import dev.semel.trials.support.HttpReply;
import dev.semel.trials.support.LiveServer;
import dev.semel.trials.support.ProblemResponseChecks;
import dev.semel.trials.support.SampleWorkflows;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.io.TempDir;

/** Sessions: made new, ended at once, reported to their owner, and of no use to other sites. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class SessionsTest {
    private static final String FORM = "Content-Type: application/x-www-form-urlencoded";
    private static final String PASSWORD = "correct+horse+battery";

    private LiveServer server;

    @BeforeAll
    void open(@TempDir Path folder) {
        server = LiveServer.first("sqlite:" + folder.resolve("semel.db"), folder, _ -> {});
        person("chief", "admin"); // somebody has to be left who can administer
    }

    @AfterAll
    void close() {
        server.close();
    }

    private ApiCaller browser() {
        return server.stranger();
    }

    private static String session(HttpReply reply) {
        String set = Objects.requireNonNull(reply.expect(303).header("Set-Cookie"));
        return "Cookie: " + set.substring(0, set.indexOf(';'));
    }

    private String link(String name, String role) {
        return server.admin()
                .put("/v1/users/" + name, "{\"role\":\"" + role + "\"}")
                .expect(200)
                .text("invitation");
    }

    /** A new person; answers the cookie of their first session. */
    private String person(String name, String role) {
        return setUp(link(name, role), name, PASSWORD);
    }

    private String setUp(String link, String name, String password) {
        String token = link.substring(link.indexOf('=') + 1);
        return session(browser()
                .send(
                        "POST",
                        "/setup",
                        "token=" + token + "&name=" + name + "&password=" + password + "&again=" + password,
                        FORM));
    }

    private HttpReply logIn(String name, String password, String... headers) {
        String[] all = java.util.Arrays.copyOf(headers, headers.length + 1);
        all[headers.length] = FORM;
        return browser().send("POST", "/login", "name=" + name + "&password=" + password, all);
    }

    private int looks(String session) {
        return browser().send("GET", "/runs", "", session).status();
    }

    @Test
    void a_login_creates_a_new_session_with_any_existing_cookie() {
        person("fix", "viewer");
        String planted = "Cookie: semel_session=1~fix~planted";
        String session = session(logIn("fix", PASSWORD, planted));
        assertNotEquals(planted, session);
        assertEquals(303, looks(planted));
        assertEquals(200, looks(session));
    }

    @Test
    void the_cookie_is_http_only_same_site_and_secure_behind_tls() {
        person("cook", "viewer");
        String plain = Objects.requireNonNull(logIn("cook", PASSWORD).header("Set-Cookie"));
        assertTrue(plain.endsWith("; Path=/; HttpOnly; SameSite=Lax; Max-Age=604800"), plain);
        String secure = Objects.requireNonNull(
                logIn("cook", PASSWORD, "X-Forwarded-Proto: https").header("Set-Cookie"));
        assertTrue(secure.endsWith("; HttpOnly; SameSite=Lax; Max-Age=604800; Secure"), secure);
    }

    @Test
    void a_changed_role_applies_at_the_next_request() {
        String session = person("rolf", "admin");
        assertEquals(200, browser().send("GET", "/settings/tokens", "", session).status());
        server.admin().put("/v1/users/rolf", "{\"role\":\"viewer\"}").expect(200);
        assertEquals(403, browser().send("GET", "/settings/tokens", "", session).status());
    }

    @Test
    void a_disabled_user_is_logged_out_immediately_and_cannot_log_in() {
        String session = person("dirk", "admin");
        String other = session(logIn("dirk", PASSWORD));
        HttpReply disabled =
                server.admin().put("/v1/users/dirk", "{\"disabled\":true}").expect(200);
        assertTrue(disabled.flag("disabled"));
        assertEquals("admin", disabled.text("role"));
        assertEquals(303, looks(session));
        assertEquals(303, looks(other));
        assertEquals(403, logIn("dirk", PASSWORD).status());
        server.admin().put("/v1/users/dirk", "{\"disabled\":false}").expect(200);
        assertEquals(303, looks(session), "sessions from before stay over");
        assertEquals(200, looks(session(logIn("dirk", PASSWORD))));
    }

    @Test
    void users_see_and_end_their_own_sessions() {
        String first = person("sara", "viewer");
        String second = session(logIn("sara", PASSWORD));
        HttpReply page = browser().send("GET", "/sessions", "", second).expect(200);
        String csrf = page.body().replaceAll("(?s).*?name=\"csrf\" value=\"([^\"]*)\".*", "$1");
        String id = page.body().replaceAll("(?s).*action=\"/sessions/([0-9a-f]{16})/end\".*", "$1");
        assertTrue(page.body().contains("current session"), page.body());
        assertFalse(page.body().contains(second.substring(second.lastIndexOf('~') + 1)), "its secret is shown");
        String stranger = person("sven", "viewer");
        String theirs = browser()
                .send("GET", "/sessions", "", stranger)
                .body()
                .replaceAll("(?s).*?name=\"csrf\" value=\"([^\"]*)\".*", "$1");
        String path = "/sessions/" + id + "/end";
        assertEquals(
                404,
                browser()
                        .send("POST", path, "key=k&csrf=" + theirs, stranger, FORM)
                        .status(),
                "somebody else's");
        assertEquals(
                403, browser().send("POST", path, "key=k", second, FORM).status(), "without the token of the session");
        assertEquals(200, looks(first));
        assertEquals(
                303,
                browser().send("POST", path, "key=k&csrf=" + csrf, second, FORM).status());
        assertEquals(303, looks(first));
        assertEquals(200, looks(second));
        assertTrue(server.admin().get("/v1/audit?q=action:session.end").body().contains("\"target\":\"sara\""));
        assertEquals(
                "[]", server.admin().get("/v1/sessions").json().path("items").toString(), "a token has none");
    }

    @Test
    void an_administrator_ends_all_sessions_of_a_user() {
        String session = person("emil", "viewer");
        server.admin().delete("/v1/users/emil/sessions").expect(200);
        assertEquals(303, looks(session));
        assertEquals(200, looks(session(logIn("emil", PASSWORD))));
        ProblemResponseChecks.expect(server.admin().delete("/v1/users/nobody-here/sessions"), 404, "not-found");
    }

    @Test
    void a_password_reset_link_works_once_and_ends_open_sessions() {
        String session = person("resa", "operator");
        String link =
                server.admin().post("/v1/users/resa/reset", "").expect(200).text("invitation");
        assertEquals(200, looks(session), "until it is used nothing changes");
        String renewed = setUp(link, "resa", "another+horse+battery");
        assertEquals(303, looks(session));
        assertEquals(200, looks(renewed));
        assertEquals(403, logIn("resa", PASSWORD).status());
        assertEquals(303, logIn("resa", "another+horse+battery").status());
        assertEquals("operator", role("resa"));
        assertEquals(404, browser().get(link).status());
        ProblemResponseChecks.expect(server.admin().post("/v1/users/nobody-here/reset", ""), 404, "not-found");
        String old = server.admin().post("/v1/users/resa/reset", "").expect(200).text("invitation");
        server.admin().delete("/v1/users/resa").expect(200);
        String next = person("resa", "admin");
        String stolen = "token=" + old.substring(old.indexOf('=') + 1) + "&name=resa&password=" + PASSWORD + "&again="
                + PASSWORD;
        assertEquals(404, browser().send("POST", "/setup", stolen, FORM).status(), "whoever had the name before");
        assertEquals(200, looks(next));
    }

    private String role(String name) {
        return server.admin()
                .get("/v1/users")
                .json()
                .path("items")
                .valueStream()
                .filter(one -> one.path("name").asString().equals(name))
                .map(one -> one.path("role").asString())
                .findFirst()
                .orElse("");
    }

    @Test
    void inviting_never_changes_a_user_and_changing_never_invites() {
        ProblemResponseChecks.expect(
                server.admin().put("/v1/users/never", "{\"role\":\"admin\"}", "If-Match: *"), 404, "not-found");
        ProblemResponseChecks.expect(server.admin().put("/v1/users/never", "{\"disabled\":true}"), 404, "not-found");
        person("nina", "viewer");
        ProblemResponseChecks.expect(
                server.admin().put("/v1/users/nina", "{\"role\":\"admin\"}", "If-None-Match: *"),
                412,
                "precondition-failed");
        assertEquals("viewer", role("nina"));
        ProblemResponseChecks.expect(server.admin().put("/v1/users/nina", "{}"), 400, "invalid-input");
        ProblemResponseChecks.expect(server.admin().put("/v1/users/nina", "{\"disabled\":1}"), 400, "invalid-input");
    }

    @Test
    void s36_no_other_site_reads_a_stream_or_a_response_or_frames_a_page() {
        String session = person("live", "viewer");
        for (String origin :
                List.of("Origin: null", "Origin: https://localhost.evil.com", "Sec-Fetch-Site: cross-site")) {
            HttpReply stream = browser().send("GET", "/live", "", session, origin);
            assertEquals(403, stream.status(), origin);
            for (String path : List.of("/v1/runs", "/v1/tail?seconds=1")) {
                HttpReply reply = browser().send("GET", path, "", session, origin);
                assertEquals(401, reply.status(), "a session is no credential of the API: " + path);
                assertNull(reply.header("Access-Control-Allow-Origin"), path);
            }
            HttpReply allowed = server.admin().send("GET", "/v1/runs", "", origin);
            assertNull(
                    allowed.header("Access-Control-Allow-Origin"), "whoever has a token is not a page of another site");
            assertNull(allowed.header("Access-Control-Allow-Credentials"));
        }
        for (String path : List.of("/login", "/runs", "/sessions", "/settings", "/runs/gone")) {
            HttpReply page = browser().send("GET", path, "", session);
            assertEquals("DENY", page.header("X-Frame-Options"), path);
            assertTrue(
                    Objects.requireNonNull(page.header("Content-Security-Policy"))
                            .contains("frame-ancestors 'none'"),
                    path);
        }
    }

    @Test
    void s33_s34_run_output_is_never_served_as_html_or_a_spreadsheet() {
        server.admin().publish(SampleWorkflows.flow("raw")).expect(200);
        String hostile = "{\"data\":{\"html\":\"<script>alert(1)</script>\",\"cell\":\"=cmd|' /C calc'!A0\"}}";
        String run = server.admin().trigger("raw", "raw-1", hostile).expect(200).runId();
        for (String accept : List.of("text/html", "text/csv", "*/*")) {
            for (String path : List.of("/v1/runs/" + run, "/v1/runs", "/v1/audit")) {
                HttpReply reply = server.admin().send("GET", path, "", "Accept: " + accept);
                assertEquals("application/json", reply.expect(200).header("Content-Type"), path);
                assertEquals("nosniff", reply.header("X-Content-Type-Options"), path);
            }
        }
        ProblemResponseChecks.expect(server.admin().get("/v1/audit?format=csv"), 400, "invalid-input");
    }
}
