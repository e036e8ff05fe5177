package dev.semel.trials.dashboard;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.semel.trials.support.Caller;
import dev.semel.trials.support.Flows;
import dev.semel.trials.support.LiveServer;
import dev.semel.trials.support.Problem;
import dev.semel.trials.support.Reply;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.io.TempDir;

/** Sessions: made new, ended at once, told to their owner, and of no use to other sites. */
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

    private Caller browser() {
        return server.stranger();
    }

    private static String session(Reply reply) {
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

    private Reply logIn(String name, String password, String... headers) {
        String[] all = java.util.Arrays.copyOf(headers, headers.length + 1);
        all[headers.length] = FORM;
        return browser().send("POST", "/login", "name=" + name + "&password=" + password, all);
    }

    private int looks(String session) {
        return browser().send("GET", "/runs", "", session).status();
    }

    @Test
    void a_log_in_makes_a_new_session_whatever_the_browser_brought() {
        person("fix", "viewer");
        String planted = "Cookie: semel_session=1~fix~planted";
        String session = session(logIn("fix", PASSWORD, planted));
        assertNotEquals(planted, session);
        assertEquals(303, looks(planted));
        assertEquals(200, looks(session));
    }

    @Test
    void the_cookie_is_for_no_script_and_no_other_site_and_behind_tls_for_tls_alone() {
        person("cook", "viewer");
        String plain = Objects.requireNonNull(logIn("cook", PASSWORD).header("Set-Cookie"));
        assertTrue(plain.endsWith("; Path=/; HttpOnly; SameSite=Lax; Max-Age=604800"), plain);
        String secure = Objects.requireNonNull(
                logIn("cook", PASSWORD, "X-Forwarded-Proto: https").header("Set-Cookie"));
        assertTrue(secure.endsWith("; HttpOnly; SameSite=Lax; Max-Age=604800; Secure"), secure);
    }

    @Test
    void another_role_counts_at_the_next_request() {
        String session = person("rolf", "admin");
        assertEquals(200, browser().send("GET", "/settings/tokens", "", session).status());
        server.admin().put("/v1/users/rolf", "{\"role\":\"viewer\"}").expect(200);
        assertEquals(403, browser().send("GET", "/settings/tokens", "", session).status());
    }

    @Test
    void who_is_disabled_is_out_at_once_and_cannot_log_in_until_enabled() {
        String session = person("dirk", "admin");
        String other = session(logIn("dirk", PASSWORD));
        Reply disabled =
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
    void everybody_sees_their_own_sessions_and_ends_them() {
        String first = person("sara", "viewer");
        String second = session(logIn("sara", PASSWORD));
        Reply page = browser().send("GET", "/sessions", "", second).expect(200);
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
    void an_administrator_ends_all_sessions_of_somebody() {
        String session = person("emil", "viewer");
        server.admin().delete("/v1/users/emil/sessions").expect(200);
        assertEquals(303, looks(session));
        assertEquals(200, looks(session(logIn("emil", PASSWORD))));
        Problem.expect(server.admin().delete("/v1/users/nobody-here/sessions"), 404, "not-found");
    }

    @Test
    void a_link_for_another_password_works_once_and_ends_what_was_open() {
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
        Problem.expect(server.admin().post("/v1/users/nobody-here/reset", ""), 404, "not-found");
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
    void nobody_is_invited_where_somebody_was_to_be_changed_nor_changed_where_somebody_was_to_be_invited() {
        Problem.expect(server.admin().put("/v1/users/never", "{\"role\":\"admin\"}", "If-Match: *"), 404, "not-found");
        Problem.expect(server.admin().put("/v1/users/never", "{\"disabled\":true}"), 404, "not-found");
        person("nina", "viewer");
        Problem.expect(
                server.admin().put("/v1/users/nina", "{\"role\":\"admin\"}", "If-None-Match: *"),
                412,
                "precondition-failed");
        assertEquals("viewer", role("nina"));
        Problem.expect(server.admin().put("/v1/users/nina", "{}"), 400, "invalid-input");
        Problem.expect(server.admin().put("/v1/users/nina", "{\"disabled\":1}"), 400, "invalid-input");
    }

    @Test
    void s36_no_other_site_reads_a_stream_or_an_answer_or_frames_a_page() {
        String session = person("live", "viewer");
        for (String origin :
                List.of("Origin: null", "Origin: https://semel.test.evil.com", "Sec-Fetch-Site: cross-site")) {
            Reply stream = browser().send("GET", "/live", "", session, origin);
            assertEquals(403, stream.status(), origin);
            for (String path : List.of("/v1/runs", "/v1/tail?seconds=1")) {
                Reply asked = browser().send("GET", path, "", session, origin);
                assertEquals(401, asked.status(), "a session is no credential of the API: " + path);
                assertNull(asked.header("Access-Control-Allow-Origin"), path);
            }
            Reply allowed = server.admin().send("GET", "/v1/runs", "", origin);
            assertNull(
                    allowed.header("Access-Control-Allow-Origin"), "whoever has a token is not a page of another site");
            assertNull(allowed.header("Access-Control-Allow-Credentials"));
        }
        for (String path : List.of("/login", "/runs", "/sessions", "/settings", "/runs/gone")) {
            Reply page = browser().send("GET", path, "", session);
            assertEquals("DENY", page.header("X-Frame-Options"), path);
            assertTrue(
                    Objects.requireNonNull(page.header("Content-Security-Policy"))
                            .contains("frame-ancestors 'none'"),
                    path);
        }
    }

    @Test
    void s33_s34_what_a_run_gave_is_never_served_as_a_page_or_a_spreadsheet() {
        server.admin().publish(Flows.flow("raw")).expect(200);
        String hostile = "{\"data\":{\"html\":\"<script>alert(1)</script>\",\"cell\":\"=cmd|' /C calc'!A0\"}}";
        String run = server.admin().trigger("raw", "raw-1", hostile).expect(200).runId();
        for (String accept : List.of("text/html", "text/csv", "*/*")) {
            for (String path : List.of("/v1/runs/" + run, "/v1/runs", "/v1/audit")) {
                Reply reply = server.admin().send("GET", path, "", "Accept: " + accept);
                assertEquals("application/json", reply.expect(200).header("Content-Type"), path);
                assertEquals("nosniff", reply.header("X-Content-Type-Options"), path);
            }
        }
        Problem.expect(server.admin().get("/v1/audit?format=csv"), 400, "invalid-input");
    }
}
