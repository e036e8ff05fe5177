package dev.semel.server.cli;

import static dev.semel.server.cli.ScriptedServer.json;
import static dev.semel.server.cli.ScriptedServer.problem;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.semel.server.access.UserRole;
import dev.semel.server.access.oidc.OidcClientSettings;
import dev.semel.server.cli.server.ServerOptions;
import dev.semel.server.http.TrustedProxies;
import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** `people`, `reveal`, and the variables by which people log in elsewhere. */
class CliUserCommandsTest {
    private static final String LINK =
            "{\"name\":\"ada\",\"role\":\"viewer\",\"disabled\":false,\"invitation\":\"/setup?token=1.abc\"}";

    private ScriptedServer server;
    private CliTestTerminal client;

    @BeforeEach
    void open() throws IOException {
        server = new ScriptedServer();
        client = new CliTestTerminal(server);
    }

    @AfterEach
    void close() {
        server.close();
    }

    @Test
    void users_are_listed_with_their_login_method() {
        server.on("GET /v1/users", json(200, """
            {"items":[{"name":"ada","role":"admin","groups":["ops","warehouse"],"disabled":false,"login_method":"password","changed_at":"2026-11-15T09:10:04Z"},
             {"name":"olga","role":"viewer","disabled":true,"login_method":"provider","changed_at":"2026-11-15T09:12:04Z"}],"next":null}
            """));
        assertEquals("""
            NAME  ROLE    GROUPS         LOGS IN WITH  STATUS    CHANGED
            ada   admin   ops warehouse  password                2 m ago
            olga  viewer                 provider      disabled  just now
            """, client.run("user", "list").out());
        assertEquals(
                "ada\tadmin\tops warehouse\tpassword\t\t2026-11-15T09:10:04Z",
                client.run("user", "list", "--plain").out().lines().findFirst().orElse(""));
    }

    @Test
    void an_invitation_prints_the_full_link_and_changes_no_existing_user() {
        server.on("PUT /v1/users/ada", json(200, LINK), problem(412, "precondition-failed", false));
        var invited = client.run("user", "invite", "ada", "--role", "viewer");
        assertEquals(server.address() + "/setup?token=1.abc\n", invited.out());
        assertEquals("{\"role\":\"viewer\"}", server.seen.getFirst().body());
        assertEquals("*", server.seen.getFirst().header("If-None-Match"));
        assertEquals(9, client.run("user", "invite", "ada", "--role", "viewer").exit());
        assertEquals(2, client.run("user", "invite", "ada").exit());
        assertEquals(2, client.run("user").exit());
    }

    @Test
    void invitations_are_listed_with_their_author_and_revoked() {
        server.on("GET /v1/invitations", json(200, """
            {"items":[{"name":"ada","invitation_id":"inv_1","kind":"invite","role":"viewer","invited_by":"tok_1",
              "invited_at":"2026-11-15T09:10:04Z","until":"2026-11-22T09:10:04Z","open":true},
             {"name":"olga","invitation_id":"inv_2","kind":"reset","role":"admin","invited_by":"usr_max",
              "invited_at":"2026-11-15T09:10:04Z","until":"2026-11-22T09:10:04Z","open":false}],"next":null}
            """))
                .on("DELETE /v1/users/ada/invitation", json(200, "{\"name\":\"ada\",\"revoked\":true}"));
        assertEquals("""
            NAME  KIND    ROLE    CREATED BY  CREATED  EXPIRES
            ada   invite  viewer  tok_1       2 m ago  2026-11-22T09:10:04Z
            olga  reset   admin   usr_max     2 m ago  not valid any more
            """, client.run("user", "invitations").out());
        assertEquals(
                "ada has no open link\n",
                client.run("user", "revoke-link", "ada").out());
        assertEquals(6, client.run("user", "revoke-link", "nobody").exit());
    }

    @Test
    void an_existing_invitation_is_not_printed_as_a_link() {
        server.on("POST /v1/users/ada/reset", json(200, LINK.replace("\"/setup?token=1.abc\"", "null")));
        var again = client.run("user", "reset", "ada");
        assertEquals("", again.out());
        assertTrue(again.err().contains("created this link earlier"), again.err());
    }

    @Test
    void a_user_action_is_one_request_that_creates_no_user() {
        String put = "{\"name\":\"ada\",\"role\":\"operator\",\"disabled\":false,\"invitation\":null}";
        server.on("PUT /v1/users/ada", json(200, put))
                .on("POST /v1/users/ada/reset", json(200, LINK))
                .on("DELETE /v1/users/ada/sessions", json(200, "{\"name\":\"ada\",\"ended\":true}"))
                .on("DELETE /v1/users/ada", json(200, "{\"name\":\"ada\",\"removed\":true}"));
        assertEquals(
                "ada is operator\n",
                client.run("user", "role", "ada", "operator").out());
        assertEquals("*", server.seen.getLast().header("If-Match"));
        assertEquals("ada is disabled\n", client.run("user", "disable", "ada").out());
        assertEquals("{\"disabled\":true}", server.seen.getLast().body());
        assertEquals("*", server.seen.getLast().header("If-Match"));
        assertEquals(
                "ada can log in again\n", client.run("user", "enable", "ada").out());
        assertEquals(
                server.address() + "/setup?token=1.abc\n",
                client.run("user", "reset", "ada").out());
        assertEquals(
                "ada is logged out everywhere\n",
                client.run("user", "logout", "ada").out());
        assertEquals("ada is deleted\n", client.run("user", "delete", "ada").out());
        assertEquals(6, client.run("user", "disable", "nobody").exit());
    }

    @Test
    void groups_are_set_for_an_existing_user_and_none_removes_all() {
        server.on("PUT /v1/users/ada", json(200, "{\"name\":\"ada\",\"role\":\"viewer\"}"));
        assertEquals(
                "ada is in ops, warehouse\n",
                client.run("user", "groups", "ada", "ops", "warehouse").out());
        assertEquals(
                "{\"groups\":[\"ops\",\"warehouse\"]}", server.seen.getLast().body());
        assertEquals("*", server.seen.getLast().header("If-Match"));
        assertEquals("ada is in no group\n", client.run("user", "groups", "ada").out());
        assertEquals("{\"groups\":[]}", server.seen.getLast().body());
    }

    @Test
    void a_password_change_reads_two_lines_of_stdin_and_no_argument() {
        server.on("POST /v1/users/ada/password", json(200, "{\"name\":\"ada\",\"changed\":true}"));
        client.stdin = "the old one\r\nthe new one\n";
        var changed = client.run("user", "password", "ada");
        assertEquals("ada has a new password; all sessions have ended\n", changed.out());
        assertEquals(
                "{\"old\":\"the old one\",\"new\":\"the new one\"}",
                server.seen.getLast().body());
        for (String missing : List.of("", "the old one", "the old one\n", "\nthe new one")) {
            client.stdin = missing;
            var refused = client.run("user", "password", "ada");
            assertEquals(2, refused.exit(), missing);
            assertFalse(refused.err().contains("one in the"), refused.err());
        }
        assertEquals(2, client.run("user", "password", "ada", "the old one").exit());
        assertEquals(1, server.seen.size());
    }

    @Test
    void sessions_of_a_user_are_listed_and_a_full_link_is_printed_unchanged() {
        server.on("GET /v1/users/ada/sessions", json(200, """
            {"items":[{"session_id":"0a1b2c3d4e5f6071","created_at":"2026-11-15T09:10:04Z","until":"2026-11-15T21:10:04Z","address":"198.51.100.1"}],"next":null}
            """))
                .on("POST /v1/users/ada/reset", json(200, LINK.replace("/setup", "https://semel.example.com/setup")));
        assertEquals("""
            SESSION           FROM          STARTED  EXPIRES
            0a1b2c3d4e5f6071  198.51.100.1  2 m ago  2026-11-15T21:10:04Z
            """, client.run("user", "sessions", "ada").out());
        assertEquals(
                "https://semel.example.com/setup?token=1.abc\n",
                client.run("user", "reset", "ada").out());
    }

    @Test
    void a_profile_is_revealed_only_with_a_reason() {
        server.on("POST /v1/profiles/cus_1/reveal", json(200, "{\"profile_id\":\"cus_1\",\"version\":1}"));
        assertEquals(2, client.run("profile", "reveal", "cus_1").exit());
        assertTrue(client.run("profile", "reveal", "cus_1", "--reason", "ticket 7")
                .out()
                .contains("cus_1"));
        assertEquals("{\"reason\":\"ticket 7\"}", server.seen.getLast().body());
    }

    @Test
    void a_proxy_is_trusted_only_if_configured() {
        assertEquals(ServerOptions.ProxySettings.NONE, served(Map.of()).proxySettings());
        ServerOptions.ProxySettings front = served(Map.of(
                        "SEMEL_TRUSTED_PROXIES", "127.0.0.1, 10.0.0.0/24",
                        "SEMEL_PUBLIC_URL", "https://semel.example.com/"))
                .proxySettings();
        assertEquals(TrustedProxies.of(List.of("127.0.0.1", "10.0.0.0/24")), front.trustedProxies());
        assertEquals("https://semel.example.com", front.publicUrl());
        assertEquals(0, client.run("serve", "--trusted-proxy", "::1").exit());
        assertEquals(
                TrustedProxies.of(List.of("::1")),
                client.served.getLast().proxySettings().trustedProxies());
        var wrong = client.run("serve", "--trusted-proxy", "proxy.example");
        assertEquals(2, wrong.exit());
        assertTrue(wrong.err().contains("Nothing was started"), wrong.err());
    }

    @Test
    void masked_data_are_shown_only_with_a_reason() {
        server.on(
                "POST /v1/runs/run_1/reveal",
                json(200, "{\"run_id\":\"run_1\",\"input\":{\"email\":\"a@b.example\"}}"));
        assertEquals(2, client.run("run", "reveal", "run_1").exit());
        assertEquals(0, server.seen.size());
        assertTrue(client.run("run", "reveal", "run_1", "--reason", "ticket 7")
                .out()
                .contains("a@b.example"));
        assertEquals("{\"reason\":\"ticket 7\"}", server.seen.getFirst().body());
    }

    @Test
    void an_identity_provider_is_configured_by_variables_and_its_secret_never_printed() {
        assertNull(served(Map.of()).identityProvider());
        ServerOptions options = served(Map.of(
                "SEMEL_OIDC_ISSUER", "https://id.example.com/",
                "SEMEL_OIDC_CLIENT_ID", "semel",
                "SEMEL_OIDC_CLIENT_SECRET", "hush",
                "SEMEL_PUBLIC_URL", "https://semel.example.com/",
                "SEMEL_OIDC_ROLES", "cn=ops,dc=x=operator; *=viewer"));
        assertFalse(options.toString().contains("hush"), options.toString());
        OidcClientSettings provider = Objects.requireNonNull(options.identityProvider());
        assertEquals("https://semel.example.com", provider.publicUrl());
        assertEquals("hush", provider.secret());
        assertEquals("groups", provider.access().claim());
        assertEquals(
                List.of(
                        new OidcClientSettings.RoleGrant("cn=ops,dc=x", UserRole.OPERATOR),
                        new OidcClientSettings.RoleGrant("*", UserRole.VIEWER)),
                provider.access().grants());
    }

    private ServerOptions served(Map<String, String> variables) {
        client.environment.putAll(variables);
        var result = client.run("serve");
        assertEquals(0, result.exit(), result.err());
        return client.served.getLast();
    }

    @Test
    void an_incomplete_identity_provider_stops_the_start() {
        Map<String, String> whole = Map.of(
                "SEMEL_OIDC_ISSUER", "https://id.example.com",
                "SEMEL_OIDC_CLIENT_ID", "semel",
                "SEMEL_PUBLIC_URL", "https://semel.example.com",
                "SEMEL_OIDC_ROLES", "*=viewer");
        for (var wrong : Map.of(
                        "SEMEL_OIDC_ISSUER", "http://id.example.com",
                        "SEMEL_OIDC_CLIENT_ID", "",
                        "SEMEL_PUBLIC_URL", "semel.example.com",
                        "SEMEL_OIDC_ROLES", "ops=king")
                .entrySet()) {
            client.environment.putAll(whole);
            client.environment.put(wrong.getKey(), wrong.getValue());
            var result = client.run("serve");
            assertEquals(2, result.exit(), wrong.toString());
            assertTrue(result.err().contains(wrong.getKey()), result.err());
            assertTrue(result.err().contains("Nothing was started"), result.err());
        }
        assertEquals(0, client.served.size());
    }
}
