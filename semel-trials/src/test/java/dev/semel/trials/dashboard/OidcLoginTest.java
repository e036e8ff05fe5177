package dev.semel.trials.dashboard;

import static com.microsoft.playwright.assertions.PlaywrightAssertions.assertThat;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.semel.server.access.oidc.OidcClientSettings;
import dev.semel.server.cli.server.ServerOptions;
import dev.semel.trials.support.ApiCaller;
import dev.semel.trials.support.ConcurrentCalls;
import dev.semel.trials.support.HttpReply;
import dev.semel.trials.support.LiveServer;
import dev.semel.trials.support.LogCapture;
import dev.semel.trials.support.TestServerOptions;
import java.io.IOException;
import java.net.ServerSocket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Objects;
import java.util.function.Consumer;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/** Logging in with an identity provider: what is believed of what it says, and what is not. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@Tag("trial")
class OidcLoginTest {
    private static final String SECRETS_OF_NOBODY = "0".repeat(43);

    private final TestOidcProvider provider = new TestOidcProvider();
    private LiveServer server;
    private String home = "";

    @BeforeAll
    void open(@TempDir Path folder) throws IOException {
        int port = freePort();
        home = "http://127.0.0.1:" + port;
        var access = new OidcClientSettings.AccessRules(
                "default",
                "profile",
                "groups",
                OidcClientSettings.parseGrants("admins=admin, ops=operator ,deciders=reviewer,everyone=viewer"));
        OidcClientSettings registration = new OidcClientSettings(
                provider.issuer(), TestOidcProvider.CLIENT, TestOidcProvider.SECRET, "Trials & Co", home, access);
        String store = "sqlite:" + folder.resolve("semel.db");
        ServerOptions base = new ServerOptions(false, true, "127.0.0.1", port, folder, store, null);
        server = LiveServer.first(
                new TestServerOptions(base).identityProvider(registration).build(), _ -> {});
    }

    /** The provider sends browsers back to a port that has to be known before the server has one. */
    private static int freePort() throws IOException {
        try (ServerSocket socket = new ServerSocket(0)) {
            return socket.getLocalPort();
        }
    }

    @AfterEach
    void tellTheTruth() {
        provider.honest();
    }

    @AfterAll
    void close() {
        server.close();
        provider.close();
    }

    private ApiCaller browser() {
        return server.stranger();
    }

    /** The first half of a log-in: what the browser keeps, and the path to which the provider sends it back. */
    private record LoginRedirect(String cookie, String back) {}

    private LoginRedirect outAndBack(String next) {
        HttpReply out = browser().get("/login/oidc?next=" + next).expect(303);
        String cookie = Objects.requireNonNull(out.header("Set-Cookie"));
        assertTrue(cookie.contains("; HttpOnly; SameSite=Lax; Max-Age=600"), cookie);
        String there = Objects.requireNonNull(out.header("Location"));
        assertTrue(there.startsWith(provider.issuer() + "/authorize?tenant=trials&"), there);
        ApiCaller atProvider = new ApiCaller(portOf(there), "", _ -> {});
        HttpReply back =
                atProvider.get(there.substring(provider.issuer().length())).expect(303);
        String location = Objects.requireNonNull(back.header("Location"));
        assertTrue(location.startsWith(home + "/login/oidc/callback?"), location);
        return new LoginRedirect(
                "Cookie: " + cookie.substring(0, cookie.indexOf(';')), location.substring(home.length()));
    }

    private static int portOf(String url) {
        return java.net.URI.create(url).getPort();
    }

    private HttpReply comeBack(LoginRedirect way) {
        return browser().send("GET", way.back(), "", way.cookie());
    }

    private HttpReply logIn() {
        return comeBack(outAndBack("%2Fruns"));
    }

    private static String session(HttpReply reply) {
        return reply.headers("Set-Cookie").stream()
                .filter(one -> one.startsWith("semel_session="))
                .map(one -> one.substring(0, one.indexOf(';')))
                .findFirst()
                .orElse("");
    }

    private void refused(String why, Consumer<TestOidcProvider> lie) {
        lie.accept(provider);
        HttpReply reply = logIn();
        provider.honest();
        assertEquals(403, reply.status(), why);
        assertTrue(reply.body().contains(why), () -> why + " is not said in " + reply.body());
        assertTrue(reply.body().contains("You are not logged in"), why);
        assertEquals("", session(reply), why);
    }

    private void refusedClaim(String why, Consumer<ObjectNode> lie) {
        refused(why, one -> one.claims = lie);
    }

    @Test
    void an_external_login_gets_the_role_of_its_group_and_logs_out_of_both() {
        try (BrowserTab tab = BrowserTab.open(server.port())) {
            tab.go("/runs");
            tab.page().locator("text=Log in with Trials & Co").click();
            tab.page().waitForURL("**/runs");
            assertThat(tab.page().locator("header")).containsText("olga");
            assertThat(tab.page().locator("header .who a")).hasAttribute("title", "Your role is operator");
            tab.page().locator("text=Log out").click();
            tab.page().waitForURL("**/login?left=here");
            assertThat(tab.page().locator("[role=status].note")).containsText("You are logged out of Semel.");
            tab.page().locator("text=log out there too").click();
            assertThat(tab.page().locator("h1")).hasText("Logged out of everything");
        }
    }

    @Test
    void a_new_session_is_created_with_any_existing_cookie() {
        LoginRedirect way = outAndBack("%2Fruns");
        String planted = "semel_session=1~olga@127.0.0.1~planted";
        HttpReply reply = browser().send("GET", way.back(), "", way.cookie() + "; " + planted);
        String session = session(reply.expect(303));
        assertFalse(session.isEmpty());
        assertNotEquals(planted, session);
        assertEquals(
                303, browser().send("GET", "/runs", "", "Cookie: " + planted).status());
        assertEquals(
                200, browser().send("GET", "/runs", "", "Cookie: " + session).status());
        assertNotEquals(session, session(logIn()), "two log-ins, two sessions");
    }

    @Test
    void a_login_not_started_in_this_browser_is_rejected() {
        LoginRedirect way = outAndBack("%2Fruns");
        LoginRedirect other = outAndBack("%2Fruns");
        for (String cookie : List.of(
                "Cookie: none=at-all",
                "Cookie: semel_oidc=" + SECRETS_OF_NOBODY + ".",
                other.cookie(),
                "Cookie: semel_oidc=x")) {
            HttpReply reply = browser().send("GET", way.back(), "", cookie);
            assertEquals(403, reply.status(), cookie);
            assertEquals("", session(reply), cookie);
        }
        HttpReply forged = browser()
                .send("GET", way.back().replaceAll("state=[^&]*", "state=" + SECRETS_OF_NOBODY), "", way.cookie());
        assertEquals(403, forged.status());
        HttpReply mixedUp =
                browser().send("GET", way.back().replaceAll("iss=[^&]*", "iss=https://evil.example"), "", way.cookie());
        assertEquals(403, mixedUp.status());
        assertEquals(303, comeBack(way).status(), "none of this has used up the code");
    }

    @Test
    void item18_only_a_cookie_of_this_server_makes_a_token_request_and_only_once() throws Exception {
        String secret = SECRETS_OF_NOBODY;
        byte[] hash = MessageDigest.getInstance("SHA-256")
                .digest(("semel oidc state " + secret).getBytes(StandardCharsets.UTF_8));
        String state = Base64.getUrlEncoder().withoutPadding().encodeToString(hash);
        int before = provider.tokenRequests.get();
        long later = Instant.now().plusSeconds(500).getEpochSecond();
        for (String cookie : List.of(secret + ".", secret + "." + "." + later + "." + "A".repeat(43))) {
            HttpReply reply = browser()
                    .send(
                            "GET",
                            "/login/oidc/callback?code=guessed&state=" + state,
                            "",
                            "Cookie: semel_oidc=" + cookie);
            assertEquals(403, reply.status(), cookie);
        }
        assertEquals(0, provider.tokenRequests.get() - before, "token requests of self-made cookies");
        LoginRedirect way = outAndBack("%2Fruns");
        for (int i = 0; i < 3; i++) {
            browser().send("GET", way.back().replaceAll("code=[^&]*", "code=guessed" + i), "", way.cookie());
        }
        assertEquals(1, provider.tokenRequests.get() - before, "token requests of one genuine cookie");
    }

    @Test
    void a_code_works_once_and_only_with_the_verifier_of_its_browser() {
        LoginRedirect way = outAndBack("%2Fruns");
        assertEquals(303, comeBack(way).status());
        HttpReply again = comeBack(way);
        assertEquals(403, again.status());
        assertEquals("", session(again));
        LoginRedirect mine = outAndBack("%2Fruns");
        LoginRedirect stolen = outAndBack("%2Fruns");
        String code = stolen.back().replaceAll(".*[?&](code=[^&]*).*", "$1");
        HttpReply injected = browser().send("GET", mine.back().replaceAll("code=[^&]*", code), "", mine.cookie());
        assertEquals(403, injected.status(), "a code of somebody else, put into one's own way back");
    }

    @Test
    void foreign_misdirected_and_expired_tokens_are_rejected() {
        refusedClaim("belongs to another login", claims -> claims.put("nonce", "another"));
        refusedClaim("belongs to another login", claims -> claims.remove("nonce"));
        refusedClaim("was issued for another application", claims -> claims.put("aud", "another"));
        refusedClaim(
                "was issued for another application",
                claims -> claims.putArray("aud").add(TestOidcProvider.CLIENT).add("another"));
        refusedClaim("was issued for another application", claims -> claims.put("azp", "another"));
        refusedClaim("comes from another issuer", claims -> claims.put("iss", "https://evil.example"));
        refusedClaim(
                "has expired", claims -> claims.put("exp", claims.path("iat").asLong() - 61));
        refusedClaim("has expired", claims -> claims.remove("exp"));
        refusedClaim(
                "was issued in the future",
                claims -> claims.put("nbf", claims.path("iat").asLong() + 600));
        refusedClaim("has no subject", claims -> claims.remove("sub"));
    }

    @Test
    void only_signatures_of_the_providers_own_keys_are_valid() {
        refused("is not signed with RS256 or ES256", one -> {
            one.signing = (_, said) ->
                    TestOidcProvider.encoded("{\"alg\":\"none\"}") + "." + TestOidcProvider.encoded(said) + ".";
        });
        refused("is not signed with RS256 or ES256", one -> {
            one.head = "{\"alg\":\"HS256\",\"kid\":\"k1\"}";
            one.signing = one::confused;
        });
        refused("has an invalid signature", one -> one.signing = one::confused);
        refused(
                "has an invalid signature",
                one -> one.signing = (head, said) -> one.signed(head, said)
                        .replaceFirst(
                                "\\.[^.]*\\.", "." + TestOidcProvider.encoded(said.replace("olga", "root")) + "."));
        refused(
                "is signed with a key that the provider does not have",
                one -> one.head = "{\"alg\":\"RS256\",\"kid\":\"k9\"}");
        refused(
                "is signed with a key that the provider does not have",
                one -> one.head = "{\"alg\":\"ES256\",\"kid\":\"k1\"}");
        refused(
                "requires an extension that this server does not support",
                one -> one.head = "{\"alg\":\"RS256\",\"kid\":\"k1\",\"crit\":[\"b64\"],\"b64\":false}");
        refused("is malformed", one -> one.signing = (_, _) -> "a.b");
    }

    @Test
    void a_provider_may_change_its_keys_and_their_kind() {
        logIn().expect(303);
        int before = provider.askedForKeys.get();
        logIn().expect(303);
        assertEquals(before, provider.askedForKeys.get(), "known keys are not asked for again");
        var first = provider.key;
        provider.rotate(TestOidcProvider.elliptic(), "k2");
        logIn().expect(303);
        provider.rotate(TestOidcProvider.rsa(), "k3");
        logIn().expect(303);
        provider.rotate(first, "k1");
        logIn().expect(303);
    }

    @Test
    void the_first_matching_group_gives_the_role_and_without_one_login_fails() {
        Consumer<String> role =
                word -> assertEquals(word, person("rolf@127.0.0.1").path("role").asString(""));
        provider.claims = rolf("ops", "admins");
        logIn().expect(303);
        role.accept("admin");
        provider.claims = rolf("everyone");
        logIn().expect(303);
        role.accept("viewer");
        refused("none of your groups has access", one -> one.claims = rolf("others"));
        server.admin().put("/v1/users/rolf@127.0.0.1", "{\"role\":\"admin\"}").expect(400);
        role.accept("viewer");
    }

    private static Consumer<ObjectNode> rolf(String... groups) {
        return claims -> {
            claims.put("sub", "s-rolf").put("preferred_username", "rolf").putArray("groups");
            for (String group : groups) {
                claims.withArray("groups").add(group);
            }
        };
    }

    private JsonNode person(String name) {
        JsonNode found = null;
        for (JsonNode one : server.admin().get("/v1/users").expect(200).json().path("items")) {
            found = one.path("name").asString("").equals(name) ? one : found;
        }
        assertNotNull(found, name);
        return found;
    }

    @Test
    void an_external_name_does_not_take_over_another_identity() {
        provider.claims = claims -> claims.put("sub", "s-2").put("preferred_username", "twin");
        logIn().expect(303);
        provider.claims = claims -> claims.put("sub", "s-3").put("preferred_username", "twin");
        String other = session(logIn().expect(303));
        assertTrue(other.matches("semel_session=1~twin-[0-9a-f]{8}@127[.]0[.]0[.]1~.*"), other);
        provider.claims = claims -> claims.put("sub", "s-3").put("preferred_username", "renamed");
        assertTrue(session(logIn().expect(303)).startsWith(other.substring(0, 30)), "the same person as before");
    }

    @Test
    void an_external_user_is_not_matched_to_a_local_user_of_that_name() {
        String workflow =
                "semel: 1\nworkflow: asks\nowner: trials\nsteps:\n  - {id: ok, approval: {to: petra, title: Go?}}\n";
        server.admin().publish(workflow).expect(200);
        String run = server.admin().trigger("asks", "asks_1", "{}").expect(200).runId();
        ConcurrentCalls.until(
                "it waits",
                () -> server.admin().get("/v1/runs/" + run).text("status").equals("waiting"));
        provider.claims = claims -> claims.put("sub", "s-5")
                .put("preferred_username", "petra")
                .putArray("groups")
                .add("deciders");
        try (BrowserTab tab = BrowserTab.open(server.port()).expecting("403")) {
            tab.go("/login/oidc");
            tab.go("/runs/" + run);
            tab.page().locator("text=Approve: the run continues").click();
            tab.page().locator("text=Record decision").click();
            assertThat(tab.page().locator("main")).containsText("and you are usr_petra@127.0.0.1");
        }
        assertEquals("provider", person("petra@127.0.0.1").path("login_method").asString(""));
        assertEquals(404, server.admin().get("/v1/users/petra").status());
        // The name is free for whoever is invited, and no invitation is made for a name of the provider's.
        server.admin()
                .put("/v1/users/petra", "{\"role\":\"viewer\"}", "If-None-Match: *")
                .expect(200);
        server.admin().put("/v1/users/new@127.0.0.1", "{\"role\":\"admin\"}").expect(400);
    }

    @Test
    void a_disabled_user_cannot_log_in_through_the_provider() {
        provider.claims = claims -> claims.put("sub", "s-4").put("preferred_username", "dora");
        String session = "Cookie: " + session(logIn().expect(303));
        assertEquals(200, browser().send("GET", "/runs", "", session).status());
        server.admin().put("/v1/users/dora@127.0.0.1", "{\"disabled\":true}").expect(200);
        assertEquals(303, browser().send("GET", "/runs", "", session).status());
        refused(
                "is disabled. You are not logged in",
                one -> one.claims = claims -> claims.put("sub", "s-4").put("preferred_username", "elsa"));
        server.admin().put("/v1/users/dora@127.0.0.1", "{\"disabled\":false}").expect(200);
        assertEquals(303, browser().send("GET", "/runs", "", session).status(), "sessions from before are over");
        provider.claims = claims -> claims.put("sub", "s-4").put("preferred_username", "dora");
        logIn().expect(303);
    }

    @Test
    void external_users_have_no_password_to_guess() {
        logIn().expect(303);
        String form = "Content-Type: application/x-www-form-urlencoded";
        assertEquals(
                403,
                browser()
                        .send("POST", "/login", "name=olga%40127.0.0.1&password=", form)
                        .status());
    }

    @Test
    void s37_the_redirect_after_the_login_is_a_local_path() {
        for (String next :
                List.of("%2F%2Fevil.com", "%2F%5Cevil.com", "https%3A%2F%2Fevil.com", "javascript%3Aalert(1)")) {
            assertEquals("/workflows", comeBack(outAndBack(next)).expect(303).header("Location"), next);
        }
        assertEquals("/runs", logIn().expect(303).header("Location"));
    }

    @Test
    void no_login_secret_is_logged() {
        List<String> secrets = new ArrayList<>(List.of(TestOidcProvider.SECRET));
        LogCapture log = new LogCapture();
        log.start();
        try {
            LoginRedirect way = outAndBack("%2Fruns");
            secrets.add(way.cookie().substring("Cookie: semel_oidc=".length()));
            secrets.add(way.back().replaceAll(".*[?&]code=([^&]*).*", "$1"));
            secrets.add(session(comeBack(way)));
            comeBack(way);
            for (String secret : secrets) {
                assertFalse(log.text().contains(secret), secret);
            }
        } finally {
            log.stop();
        }
    }
}
