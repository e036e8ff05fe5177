package dev.semel.trials.dashboard;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.semel.server.cli.server.ServerOptions;
import dev.semel.server.http.TrustedProxies;
import dev.semel.trials.support.ApiCaller;
import dev.semel.trials.support.ConcurrentCalls;
import dev.semel.trials.support.HttpReply;
import dev.semel.trials.support.LiveServer;
import dev.semel.trials.support.ProblemResponseChecks;
import dev.semel.trials.support.TestServerOptions;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.io.TempDir;

/** People at their own source, behind a proxy: nobody shuts it for them, and nobody is left without a key to it. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class AccountSecurityTest {
    private static final String FORM = "Content-Type: application/x-www-form-urlencoded";
    private static final String PASSWORD = "correct horse battery";
    private static final String HOME = "X-Forwarded-For: 198.51.100.1";

    private int sent;
    private LiveServer server;
    private LiveServer trusting;

    /** One that knows its proxy, which is this machine here, and one that was not notified. */
    @BeforeAll
    void open(@TempDir Path known, @TempDir Path plain) {
        var front =
                new ServerOptions.ProxySettings(TrustedProxies.of(List.of("127.0.0.1")), "https://semel.example.com/");
        String store = "sqlite:" + known.resolve("semel.db");
        ServerOptions base = new ServerOptions(false, false, "127.0.0.1", 0, known, store, null);
        trusting = LiveServer.first(
                new TestServerOptions(base).proxySettings(front).build(), _ -> {});
        server = LiveServer.first("sqlite:" + plain.resolve("semel.db"), plain, _ -> {});
        person("rosa", "admin");
    }

    @AfterAll
    void close() {
        server.close();
        trusting.close();
    }

    private static String form(String... fields) {
        List<String> pairs = new ArrayList<>();
        for (int i = 0; i < fields.length; i += 2) {
            pairs.add(fields[i] + "=" + URLEncoder.encode(fields[i + 1], StandardCharsets.UTF_8));
        }
        return String.join("&", pairs);
    }

    /** The cookies that an answer sets, by their names. */
    private static Map<String, String> cookies(HttpReply reply) {
        return reply.expect(303).headers("Set-Cookie").stream()
                .map(line -> line.substring(0, line.indexOf(';')).split("=", 2))
                .collect(java.util.stream.Collectors.toMap(pair -> pair[0], pair -> pair[1]));
    }

    private static String session(HttpReply reply) {
        return "Cookie: semel_session=" + Objects.requireNonNull(cookies(reply).get("semel_session"));
    }

    private static String known(HttpReply reply) {
        return cookies(reply).entrySet().stream()
                .filter(one -> one.getKey().startsWith("semel_known_"))
                .map(one -> "Cookie: " + one.getKey() + "=" + one.getValue())
                .findFirst()
                .orElseThrow();
    }

    /** A new person; answers their first session. */
    private String person(String name, String role) {
        return person(server, name, role);
    }

    private static String person(LiveServer at, String name, String role) {
        String link = at.admin()
                .put("/v1/users/" + name, "{\"role\":\"" + role + "\"}")
                .expect(200)
                .text("invitation");
        String token = link.substring(link.indexOf('=') + 1);
        String body = form("token", token, "name", name, "password", PASSWORD, "again", PASSWORD);
        return session(at.stranger().send("POST", "/setup", body, FORM));
    }

    private static HttpReply logIn(LiveServer at, String name, String password, String... headers) {
        List<String> all = new ArrayList<>(List.of(headers));
        all.add(FORM);
        return at.stranger()
                .send("POST", "/login", form("name", name, "password", password), all.toArray(String[]::new));
    }

    private int looks(String session) {
        return server.stranger().send("GET", "/runs", "", session).status();
    }

    private HttpReply page(String path, String session, String... headers) {
        List<String> all = new ArrayList<>(List.of(headers));
        all.add(session);
        return server.stranger().send("GET", path, "", all.toArray(String[]::new));
    }

    /** Sends a form of a page as its person does. */
    private HttpReply send(String path, String from, String session, String... fields) {
        String csrf =
                page(from, session).expect(200).body().replaceAll("(?s).*?name=\"csrf\" value=\"([^\"]*)\".*", "$1");
        return server.stranger()
                .send("POST", path, form(fields) + "&" + form("csrf", csrf, "key", "k-" + ++sent), session, FORM);
    }

    @Test
    void behind_a_proxy_failed_logins_delay_only_their_own_address() {
        person(trusting, "ada", "viewer");
        person(trusting, "eve", "viewer");
        String known = known(logIn(trusting, "ada", PASSWORD, HOME));
        String eves = known(logIn(trusting, "eve", PASSWORD, HOME));
        String stolen = known.substring(0, known.indexOf('=') + 1) + eves.substring(eves.indexOf('=') + 1);
        for (int i = 0; i < 10; i++) {
            String forged = "X-Forwarded-For: 10.0.0." + i + ", 203.0.113.7";
            assertEquals(403, logIn(trusting, "ada", "wrong " + i, forged).status());
        }
        String stranger = "X-Forwarded-For: 8.8.8.8, 203.0.113.7";
        HttpReply slow = logIn(trusting, "ada", PASSWORD, stranger);
        assertEquals(429, slow.status());
        assertTrue(Integer.parseInt(Objects.requireNonNull(slow.header("Retry-After"))) <= 30, slow.toString());
        assertEquals(429, logIn(trusting, "ada", PASSWORD, stranger, stolen).status(), "somebody else's mark");
        assertEquals(
                429, logIn(trusting, "ada", PASSWORD, stranger, known + "x").status());
        assertEquals(303, logIn(trusting, "ada", PASSWORD, HOME).status(), "from elsewhere");
        assertEquals(303, logIn(trusting, "ada", PASSWORD, stranger, known).status(), "this browser is known");
        String taken = "Cookie: semel_session=" + known.substring(known.indexOf('=') + 1);
        assertEquals(303, trusting.stranger().send("GET", "/runs", "", taken).status(), "it opens nothing");
        assertEquals(
                "198.51.100.1",
                trusting.admin()
                        .get("/v1/users/eve/sessions")
                        .expect(200)
                        .json()
                        .at("/items/1/address")
                        .asString());
    }

    @Test
    void a_browser_cookie_is_only_for_the_login_and_no_script_or_other_site() {
        HttpReply in = logIn(server, "rosa", PASSWORD, "X-Forwarded-Proto: https", HOME);
        String set = in.headers("Set-Cookie").getLast();
        assertTrue(set.endsWith("; Path=/login; HttpOnly; SameSite=Strict; Max-Age=15552000; Secure"), set);
        assertFalse(set.contains("rosa"), "it does not say whose it is");
        String sessions =
                server.admin().get("/v1/users/rosa/sessions").expect(200).body();
        assertFalse(sessions.contains("198.51.100.1"), "what a stranger writes about their address is not believed");
    }

    @Test
    void a_password_change_needs_the_old_one_and_ends_all_other_sessions() {
        String here = person("pia", "viewer");
        String elsewhere = session(logIn(server, "pia", PASSWORD));
        String path = "/sessions/password";
        String fresh = "another horse battery";
        assertEquals(
                400,
                send(path, "/sessions", here, "old", PASSWORD, "new", fresh, "again", "other")
                        .status());
        assertEquals(
                403,
                send(path, "/sessions", here, "old", "wrong", "new", fresh, "again", fresh)
                        .status());
        assertEquals(
                400,
                send(path, "/sessions", here, "old", PASSWORD, "new", "short", "again", "short")
                        .status());
        assertEquals(200, looks(elsewhere), "nothing was changed");
        assertEquals(
                303,
                send(path, "/sessions", here, "old", PASSWORD, "new", fresh, "again", fresh)
                        .status());
        assertEquals(303, looks(elsewhere));
        assertEquals(200, looks(here));
        assertEquals(403, logIn(server, "pia", PASSWORD).status());
        assertEquals(303, logIn(server, "pia", fresh).status());
        assertTrue(server.admin().get("/v1/audit?q=action:user.password").body().contains("\"actor_id\":\"usr_pia\""));
    }

    @Test
    void the_api_changes_a_known_password_and_a_repeat_returns_the_same() {
        person("kim", "viewer");
        ApiCaller any = server.with("read");
        String body = "{\"old\":\"" + PASSWORD + "\",\"new\":\"a third horse battery\"}";
        for (int i = 0; i < 2; i++) {
            assertTrue(any.post("/v1/users/kim/password", body).expect(200).flag("changed"));
        }
        ProblemResponseChecks.expect(
                any.post("/v1/users/kim/password", body.replace("third", "fourth")), 403, "forbidden");
        ProblemResponseChecks.expect(any.post("/v1/users/nobody/password", body), 404, "not-found");
        ProblemResponseChecks.expect(
                any.post("/v1/users/kim/password", "{\"old\":\"" + PASSWORD + "\",\"new\":\"" + PASSWORD + "\"}"),
                400,
                "invalid-input");
    }

    @Test
    void the_last_administrator_cannot_be_removed() {
        for (String turn : List.of("{\"role\":\"viewer\"}", "{\"disabled\":true}")) {
            ProblemResponseChecks.expect(server.admin().put("/v1/users/rosa", turn), 409, "last-admin");
        }
        ProblemResponseChecks.expect(server.admin().delete("/v1/users/rosa"), 409, "last-admin");
        String session = session(logIn(server, "rosa", PASSWORD));
        HttpReply refused =
                send("/settings/users/action", "/settings/users", session, "name", "rosa", "action", "disable");
        assertEquals(409, refused.status());
        assertTrue(refused.body().contains("Give another user the role admin first"), refused.body());
        assertEquals(200, looks(session));
        person("ina", "admin");
        List<HttpReply> both = ConcurrentCalls.atOnce(
                2, i -> server.admin().put("/v1/users/" + (i == 0 ? "rosa" : "ina"), "{\"role\":\"viewer\"}"));
        assertEquals(
                List.of(200, 409), both.stream().map(HttpReply::status).sorted().toList(), "of two at once one wins");
        String left = both.getFirst().status() == 200 ? "ina" : "rosa";
        String other = left.equals("ina") ? "rosa" : "ina";
        server.admin().put("/v1/users/" + other, "{\"role\":\"admin\"}").expect(200);
        send("/settings/users/action", "/settings/users", session, "name", "ina", "action", "remove")
                .expect(303);
        assertFalse(server.admin().get("/v1/users").body().contains("\"ina\""), "gone");
    }

    @Test
    void groups_are_set_links_are_complete_and_a_repeated_removal_returns_the_same() {
        person("gus", "reviewer");
        String rosa = session(logIn(server, "rosa", PASSWORD));
        String people = "/settings/users";
        send(people + "/action", people, rosa, "name", "gus", "action", "groups", "groups", "packing finance")
                .expect(303);
        assertTrue(page(people, rosa).body().contains("packing, finance"), "shown");
        assertEquals(
                400,
                send(people + "/action", people, rosa, "name", "none", "action", "groups")
                        .status());
        HttpReply link = send(people, people, rosa, "name", "new", "role", "viewer");
        assertTrue(link.expect(200).body().contains("http://localhost/setup?token="), link.body());
        assertTrue(trusting.admin()
                .put("/v1/users/other", "{\"role\":\"viewer\"}")
                .text("invitation")
                .startsWith("https://semel.example.com/setup?token="));
        for (int i = 0; i < 2; i++) {
            HttpReply removed = server.admin().send("DELETE", "/v1/users/gus", "", "Idempotency-Key: gone-1");
            assertTrue(removed.expect(200).flag("removed"));
            assertEquals(i == 0 ? null : "true", removed.header("X-Idempotent-Replayed"));
        }
        ProblemResponseChecks.expect(server.admin().delete("/v1/users/gus"), 404, "not-found");
        HttpReply late = server.admin().send("DELETE", "/v1/users/gus", "", "Idempotency-Key: gone-2");
        ProblemResponseChecks.expect(late, 404, "not-found");
    }

    @Test
    void personal_data_in_a_profile_are_masked_until_revealed() {
        String text = "{\"email\":\"ann@example.com\",\"phone\":\"+4930123456\",\"chat\":\"U0815\","
                + "\"attributes\":{\"name\":\"Ann Other\",\"plan\":\"gold\",\"note\":\"write to ann@example.com\"},"
                + "\"pii\":[\"name\"]}";
        server.admin().put("/v1/profiles/cus_7", text).expect(200);
        ApiCaller viewer = server.with("read");
        for (String path : List.of("/v1/profiles/cus_7", "/v1/profiles")) {
            String seen = viewer.get(path).expect(200).body();
            for (String hidden : List.of("ann@", "+4930", "U0815", "Other")) {
                assertFalse(seen.contains(hidden), hidden + " in " + seen);
            }
            assertTrue(seen.contains("gold"), seen);
        }
        assertEquals(
                "[\"email\",\"phone\",\"chat\",\"attributes.name\"]",
                viewer.get("/v1/profiles/cus_7").json().path("masked").toString());
        ProblemResponseChecks.expect(viewer.get("/v1/profiles?email=ann%40example.com"), 403, "forbidden");
        ProblemResponseChecks.expect(viewer.post("/v1/profiles/cus_7/reveal", "{\"reason\":\"x\"}"), 403, "forbidden");
        String whole = server.with("operate", "read")
                .get("/v1/profiles/cus_7")
                .expect(200)
                .body();
        assertTrue(whole.contains("ann@example.com"), "a program that keeps profiles reads them");
        ProblemResponseChecks.expect(
                server.admin().put("/v1/profiles/cus_7", "{\"chat\":\"•••\",\"attributes\":{}}"), 400, "invalid-input");
    }

    @Test
    void users_reveal_a_profile_before_they_change_it() {
        server.admin()
                .put("/v1/profiles/cus_8", "{\"email\":\"bob@example.com\",\"attributes\":{}}")
                .expect(200);
        String path = "/settings/profiles/cus_8";
        String operator = person("otto", "operator");
        String viewer = person("vera", "viewer");
        for (String session : List.of(operator, viewer)) {
            String page = page(path, session).expect(200).body();
            assertFalse(page.contains("bob@example.com"), page);
            assertFalse(page.contains(">Save</button>"), "what is masked is not written over");
        }
        assertEquals(
                403,
                send(path + "/reveal", "/runs", viewer, "reason", "curious").status());
        assertEquals(400, send(path + "/reveal", path, operator, "reason", " ").status());
        HttpReply shown = send(path + "/reveal", path, operator, "reason", "ticket 4711");
        assertTrue(shown.expect(200).body().contains("bob@example.com"), shown.body());
        assertTrue(shown.body().contains(">Save</button>"), shown.body());
        String row = server.admin()
                .get("/v1/audit?q=action:profile.reveal")
                .expect(200)
                .body();
        assertTrue(row.contains("usr_otto") && row.contains("ticket 4711") && row.contains("email"), row);
        assertFalse(row.contains("bob@"), row);
    }
}
