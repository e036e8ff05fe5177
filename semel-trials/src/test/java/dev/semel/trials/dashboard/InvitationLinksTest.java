package dev.semel.trials.dashboard;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.semel.trials.support.ApiCaller;
import dev.semel.trials.support.HttpReply;
import dev.semel.trials.support.LiveServer;
import dev.semel.trials.support.ProblemResponseChecks;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.MissingNode;

/** Links by which people set up their log-in: one for each name, taken back, made once; and what one saw of a person. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class InvitationLinksTest {
    private static final String FORM = "Content-Type: application/x-www-form-urlencoded";
    private static final String PASSWORD = "correct+horse+battery";

    private LiveServer server;

    @BeforeAll
    void open(@TempDir Path folder) {
        server = LiveServer.first("sqlite:" + folder.resolve("semel.db"), folder, _ -> {});
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

    @Test
    void a_user_name_has_one_open_link_and_a_new_one_replaces_it() {
        String first = link("lena", "viewer");
        String second = link("lena", "operator");
        assertEquals(404, browser().get(first).status());
        assertEquals(200, browser().get(second).status());
        JsonNode listed = invitation("lena");
        assertEquals("operator", listed.path("role").asString());
        assertEquals("invite", listed.path("kind").asString());
        assertTrue(listed.path("open").asBoolean());
        assertTrue(listed.path("invited_by").asString().startsWith("tok_"), listed.toString());
        assertFalse(listed.path("until").isNull());
        assertFalse(server.admin().get("/v1/invitations").body().contains(second.substring(second.indexOf('=') + 1)));
        setUp(second, "lena", PASSWORD);
        assertTrue(invitation("lena").isMissingNode(), "what was used is open no more");
        String reset =
                server.admin().post("/v1/users/lena/reset", "").expect(200).text("invitation");
        String again =
                server.admin().post("/v1/users/lena/reset", "").expect(200).text("invitation");
        assertEquals(404, browser().get(reset).status());
        assertEquals(200, browser().get(again).status());
        assertEquals("reset", invitation("lena").path("kind").asString());
        server.admin().put("/v1/users/lena", "{\"role\":\"viewer\"}").expect(200);
        assertFalse(invitation("lena").path("open").asBoolean(), "it was for who they were before");
    }

    private JsonNode invitation(String name) {
        return server.admin()
                .get("/v1/invitations")
                .expect(200)
                .json()
                .path("items")
                .valueStream()
                .filter(one -> one.path("name").asString().equals(name))
                .findFirst()
                .orElse(MissingNode.getInstance());
    }

    @Test
    void a_revoked_link_opens_nothing() {
        String link = link("tina", "admin");
        assertTrue(
                server.admin().delete("/v1/users/tina/invitation").expect(200).flag("revoked"));
        assertEquals(404, browser().get(link).status());
        String form = "token=" + link.substring(link.indexOf('=') + 1) + "&name=tina&password=" + PASSWORD + "&again="
                + PASSWORD;
        assertEquals(404, browser().send("POST", "/setup", form, FORM).status());
        ProblemResponseChecks.expect(server.admin().delete("/v1/users/tina/invitation"), 404, "not-found");
        assertTrue(server.admin().get("/v1/audit?q=action:user.uninvite").body().contains("\"target\":\"tina\""));
        setUp(link("tina", "viewer"), "tina", PASSWORD);
        assertEquals("viewer", role("tina"));
    }

    @Test
    void an_invitation_with_a_key_is_created_once_and_its_link_shown_once() {
        String body = "{\"role\":\"viewer\"}";
        HttpReply first = server.admin()
                .put("/v1/users/karl", body, "Idempotency-Key: invite-karl")
                .expect(200);
        HttpReply again = server.admin()
                .put("/v1/users/karl", body, "Idempotency-Key: invite-karl")
                .expect(200);
        assertEquals("true", again.header("Idempotent-Replayed"));
        assertTrue(again.json().path("invitation").isNull(), again.body());
        assertEquals(first.text("invitation_id"), again.text("invitation_id"));
        assertEquals(
                first.text("invitation_id"),
                invitation("karl").path("invitation_id").asString());
        assertEquals(200, browser().get(first.text("invitation")).status(), "the first link is as good as before");
        ProblemResponseChecks.expect(
                server.admin().put("/v1/users/karl", "{\"role\":\"admin\"}", "Idempotency-Key: invite-karl"),
                422,
                "idempotency-key-conflict");
        setUp(first.text("invitation"), "karl", PASSWORD);
        assertEquals(
                first.text("invitation_id"),
                server.admin()
                        .put("/v1/users/karl", body, "Idempotency-Key: invite-karl")
                        .expect(200)
                        .text("invitation_id"),
                "also when it was accepted");
        HttpReply reset = server.admin()
                .send("POST", "/v1/users/karl/reset", "", "Idempotency-Key: reset-karl")
                .expect(200);
        HttpReply resetAgain = server.admin()
                .send("POST", "/v1/users/karl/reset", "", "Idempotency-Key: reset-karl")
                .expect(200);
        assertTrue(resetAgain.json().path("invitation").isNull(), resetAgain.body());
        assertEquals(200, browser().get(reset.text("invitation")).status());
    }

    @Test
    void a_change_based_on_an_outdated_user_is_rejected() {
        person("vera", "viewer");
        HttpReply reply = server.admin().get("/v1/users/vera").expect(200);
        String tag = Objects.requireNonNull(reply.header("ETag"));
        assertEquals("\"" + reply.json().path("version").asInt() + "\"", tag);
        HttpReply changed = server.admin()
                .put("/v1/users/vera", "{\"role\":\"operator\"}", "If-Match: " + tag)
                .expect(200);
        assertNotEquals(tag, changed.header("ETag"));
        ProblemResponseChecks.expect(
                server.admin().put("/v1/users/vera", "{\"role\":\"admin\"}", "If-Match: " + tag),
                412,
                "precondition-failed");
        ProblemResponseChecks.expect(
                server.admin().send("DELETE", "/v1/users/vera", "", "If-Match: " + tag), 412, "precondition-failed");
        ProblemResponseChecks.expect(
                server.admin().put("/v1/users/vero", "{\"role\":\"admin\"}", "If-Match: " + tag),
                412,
                "precondition-failed");
        assertEquals("operator", role("vera"));
        server.admin()
                .send("DELETE", "/v1/users/vera", "", "If-Match: " + changed.header("ETag"))
                .expect(200);
        assertEquals("", role("vera"));
    }

    @Test
    void versioned_resources_have_an_etag() {
        for (String path : List.of("/v1/views/tagged", "/v1/profiles/tagged")) {
            String document = path.contains("views") ? "{\"filter\":\"status:failed\"}" : "{\"email\":\"a@b.example\"}";
            HttpReply put = server.admin().put(path, document).expect(200);
            assertEquals("\"1\"", put.header("ETag"), path);
            assertEquals("\"1\"", server.admin().get(path).expect(200).header("ETag"), path);
        }
    }

    @Test
    void workspaces_are_paged_for_administrators() {
        server.admin()
                .post("/v1/tokens", "{\"scopes\":[\"read\"],\"workspace\":\"another\"}")
                .expect(200);
        HttpReply first = server.admin().get("/v1/workspaces?limit=1").expect(200);
        assertEquals(
                "[{\"workspace\":\"default\",\"current\":true}]",
                first.json().path("items").toString());
        HttpReply second = server.admin()
                .get("/v1/workspaces?limit=50&after=" + first.text("next"))
                .expect(200);
        assertEquals(
                "[{\"workspace\":\"another\",\"current\":false}]",
                second.json().path("items").toString());
        assertTrue(second.json().path("next").isNull());
        ProblemResponseChecks.expect(server.with("read").get("/v1/workspaces"), 403, "forbidden");
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
    void a_form_sent_twice_creates_one_link_and_the_button_revokes_it() {
        String admin = person("anja", "admin");
        HttpReply page = browser().send("GET", "/settings/users", "", admin).expect(200);
        String csrf = page.body().replaceAll("(?s).*?name=\"csrf\" value=\"([^\"]*)\".*", "$1");
        String form = "name=gero&role=viewer&key=form-1&csrf=" + csrf;
        String first = browser()
                .send("POST", "/settings/users", form, admin, FORM)
                .expect(200)
                .body();
        String link = first.replaceAll("(?s).*>http://[^/<]*(/setup[?]token=[^<]*)<.*", "$1");
        assertEquals(200, browser().get(link).status(), link);
        String second = browser()
                .send("POST", "/settings/users", form, admin, FORM)
                .expect(200)
                .body();
        assertFalse(second.contains("/setup?token="), second);
        assertTrue(second.contains("This form was sent before, and the link was shown then."), second);
        assertEquals(200, browser().get(link).status());
        assertTrue(second.contains("Revoke the link of gero"), second);
        assertTrue(second.contains("created by usr_anja"), second);
        String turn = "name=gero&action=revoke-invitation&key=form-2&csrf=" + csrf;
        browser().send("POST", "/settings/users/action", turn, admin, FORM).expect(303);
        assertEquals(404, browser().get(link).status());
    }
}
