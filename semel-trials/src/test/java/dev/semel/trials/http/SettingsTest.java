package dev.semel.trials.http;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.semel.trials.support.ConcurrentCalls;
import dev.semel.trials.support.HttpReply;
import dev.semel.trials.support.OnBothStores;
import dev.semel.trials.support.ProblemResponseChecks;
import dev.semel.trials.support.ServerFixture;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import tools.jackson.databind.JsonNode;

/** Templates, channels, routes, profiles and cohorts, as the API keeps them. */
class SettingsTest extends OnBothStores {
    SettingsTest(ServerFixture stage) {
        super(stage);
    }

    private HttpReply put(String path, String document, String... headers) {
        return stage.admin().put("/v1/" + path, document, headers);
    }

    private static String text(String words) {
        return "{\"channel\":\"sms\",\"text\":\"" + words + "\"}";
    }

    @Test
    void a_template_keeps_its_versions() {
        put("templates/welcome", text("one")).expect(200);
        assertEquals(
                1,
                put("templates/welcome", text("one"))
                        .expect(200)
                        .json()
                        .get("version")
                        .asInt());
        assertEquals(
                2,
                put("templates/welcome", text("two"))
                        .expect(200)
                        .json()
                        .get("version")
                        .asInt());
        stage.admin().delete("/v1/templates/welcome").expect(200);
        assertEquals(
                4,
                put("templates/welcome", text("four"))
                        .expect(200)
                        .json()
                        .get("version")
                        .asInt());
        JsonNode versions = stage.admin()
                .get("/v1/templates/welcome/versions")
                .expect(200)
                .json()
                .get("items");
        assertEquals(4, versions.size());
        assertTrue(versions.get(1).get("removed").asBoolean());
        HttpReply first = stage.admin().get("/v1/templates/welcome/versions/1").expect(200);
        assertEquals("one", first.json().at("/document/text").asString());
        ProblemResponseChecks.expect(stage.admin().get("/v1/templates/welcome/versions/3"), 404, "not-found");
        ProblemResponseChecks.expect(stage.admin().get("/v1/templates/welcome/versions/x"), 404, "not-found");
    }

    @Test
    void of_many_concurrent_writers_of_one_version_one_wins_and_the_others_get_a_conflict() {
        put("channels/contested", "{\"kind\":\"chat\",\"url\":\"https://example.com/0\"}")
                .expect(200);
        List<HttpReply> replies = ConcurrentCalls.atOnce(
                8,
                i -> put(
                        "channels/contested",
                        "{\"kind\":\"chat\",\"url\":\"https://example.com/" + (i + 1) + "\"}",
                        "If-Match: \"1\""));
        int won = 0;
        for (HttpReply reply : replies) {
            if (reply.status() == 200) {
                won++;
            } else {
                ProblemResponseChecks.expect(reply, 412, "precondition-failed");
            }
            assertEquals(2, reply.json().get("version").asInt());
        }
        assertEquals(1, won);
    }

    @Test
    void a_put_with_a_key_is_done_once_and_does_not_undo_a_later_one() {
        HttpReply first =
                put("templates/keyed", text("first"), "Idempotency-Key: put-1").expect(200);
        put("templates/keyed", text("second")).expect(200);
        HttpReply again =
                put("templates/keyed", text("first"), "Idempotency-Key: put-1").expect(200);
        assertEquals(first.body(), again.body());
        assertEquals("true", again.header("X-Idempotent-Replayed"));
        HttpReply now = stage.admin().get("/v1/templates/keyed").expect(200);
        assertEquals("second", now.json().at("/document/text").asString());
        ProblemResponseChecks.expect(
                put("templates/keyed", text("third"), "Idempotency-Key: put-1"), 422, "idempotency-key-conflict");
    }

    @Test
    void if_none_match_creates_only_missing_documents() {
        put("templates/new", text("mine"), "If-None-Match: *").expect(200);
        ProblemResponseChecks.expect(
                put("templates/new", text("yours"), "If-None-Match: *"), 412, "precondition-failed");
        ProblemResponseChecks.expect(put("templates/new", text("yours"), "If-Match: W/x"), 400, "invalid-input");
        ProblemResponseChecks.expect(stage.admin().delete("/v1/templates/never"), 404, "not-found");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '`',
            value = {
                "channels/x  | {}                                                                              | /kind",
                "channels/x  | {\"kind\":\"fax\"}                                                              | /kind",
                "channels/x  | {\"kind\":\"email\"}                                                            | /smtp",
                "channels/x  | {\"kind\":\"email\",\"smtp\":{\"host\":\"h\",\"port\":0,\"from\":\"a@b.c\"}}          |"
                        + " /smtp/port",
                "channels/x  | {\"kind\":\"email\",\"smtp\":{\"host\":\"h\\n"
                        + "\",\"port\":25,\"from\":\"a@b.c\"}}      | /smtp/host",
                "channels/x  |"
                    + " {\"kind\":\"email\",\"smtp\":{\"host\":\"h\",\"port\":25,\"from\":\"a@b.c\",\"user\":\"u\"}} |"
                    + " /smtp/password_secret",
                "channels/x  |"
                    + " {\"kind\":\"email\",\"smtp\":{\"host\":\"h\",\"port\":25,\"from\":\"a@b.c\",\"password\":\"p\"}}"
                    + " | /smtp/password",
                "channels/x  | {\"kind\":\"chat\"}                                                             | /url",
                "channels/x  | {\"kind\":\"chat\",\"url\":\"https://u:p@example.com\"}                         | /url",
                "channels/x  | {\"kind\":\"webhook\",\"url\":\"file:///etc/passwd\"}                           | /url",
                "channels/x  | {\"kind\":\"webhook\",\"url\":\"https://a.b\",\"hedders\":{}}                   |"
                        + " /hedders",
                "channels/x  | {\"kind\":\"webhook\",\"url\":\"https://a.b\",\"headers\":{\"Authorization\":\"Bearer"
                        + " x\"}} | /headers",
                "channels/x  | {\"kind\":\"sms\",\"http\":{\"url\":\"https://a.b\"},\"honours\":[\"provider_key\"]}  "
                        + " | /provider_window",
                "channels/x  | {\"kind\":\"sms\",\"http\":{\"url\":\"https://a.b\"},\"honours\":[\"tx\"]}            "
                        + " | /honours",
                "templates/x | {\"channel\":\"email\",\"text\":\"hi\"}                                         |"
                        + " /subject",
                "templates/x | {\"channel\":\"email\",\"subject\":\"a\\r"
                        + "\\n"
                        + "Bcc: x\",\"text\":\"hi\"}                 | /subject",
                "templates/x | {\"channel\":\"sms\"}                                                           | /text",
                "routes/x    | {\"notification\":\"x\",\"channels\":[]}                                               "
                        + " | /channels",
                "routes/x    |"
                    + " {\"notification\":\"x\",\"channels\":[{\"channel\":\"a\",\"template\":\"t\",\"when\":\"fallback\"}]}"
                    + " | /channels/0/when",
                "profiles/x  | {\"email\":\"a@b@c\"}                                                           |"
                        + " /email",
                "profiles/x  | {\"phone\":\"030 123\"}                                                         |"
                        + " /phone",
                "profiles/x  | {\"attributes\":[]}                                                             |"
                        + " /attributes"
            })
    void an_invalid_document_is_reported_with_its_path(String path, String document, String pointer) {
        HttpReply refused = ProblemResponseChecks.expect(put(path, document), 400, "invalid-input");
        List<String> places = new ArrayList<>();
        refused.json()
                .get("errors")
                .forEach(error -> places.add(error.get("pointer").asString()));
        assertTrue(places.contains(pointer), refused.body());
        assertEquals(404, stage.admin().get("/v1/" + path).status());
    }

    @Test
    void a_channel_lists_its_protections_and_warns_of_a_missing_secret() {
        HttpReply reply = put("channels/texts", """
            {"kind":"sms","http":{"url":"https://sms.example.com/send","headers":{"Authorization":
            "Bearer ${ secret.sms }"},"body":{"to":"{{ to }}"}},"honours":["provider_key"],
            "provider_window":"24h","message_id":"/id"}
            """).expect(200);
        assertTrue(
                reply.json().get("warnings").get(0).asString().contains("secret sms does not exist yet"), reply.body());
        HttpReply mail = put("channels/mail", """
            {"kind":"email","smtp":{"host":"mail.example.com","port":587,"user":"semel",
            "password_secret":"no-such-secret","from":"Shop <shop@example.com>"}}
            """).expect(200);
        assertTrue(mail.json().get("warnings").get(0).asString().contains("no-such-secret"), mail.body());
        var channels = stage.server().serve().settings().channels();
        var texts = java.util.Objects.requireNonNull(channels.find(1, "texts")).value();
        assertEquals(
                java.util.Set.of("at_most_once", "ask", "provider_key"),
                texts.protections().names());
        assertEquals(java.time.Duration.ofDays(1), texts.protections().providerWindow());
        var email = java.util.Objects.requireNonNull(channels.find(1, "mail")).value();
        assertEquals(
                java.util.Set.of("at_most_once", "ask"), email.protections().names());
        stage.admin().delete("/v1/channels/mail").expect(200);
        assertEquals(null, channels.find(1, "mail"), "a change counts at once");
    }

    @Test
    void a_profile_is_found_by_its_address_and_an_opt_out_outlives_it() {
        put("profiles/cus%201%2F2", "{\"email\":\"Anna@Example.com\"}").expect(200);
        JsonNode found = stage.admin()
                .get("/v1/profiles?email=ANNA%40example.com")
                .expect(200)
                .json()
                .get("items");
        assertEquals("cus 1/2", found.get(0).get("profile_id").asString());
        put("profiles/cus%201%2F2/subscriptions/email", "{\"subscribed\":false}")
                .expect(200);
        put("profiles/cus%201%2F2", "{\"email\":\"anna@other.example\"}").expect(200);
        assertEquals(
                0,
                stage.admin()
                        .get("/v1/profiles?email=anna%40example.com")
                        .json()
                        .get("items")
                        .size());
        JsonNode user =
                stage.admin().get("/v1/profiles/cus%201%2F2").expect(200).json();
        assertEquals("email", user.at("/subscriptions/0/topic").asString());
        assertEquals(false, user.at("/subscriptions/0/subscribed").asBoolean());
        stage.admin().delete("/v1/profiles/cus%201%2F2").expect(200);
        put("profiles/cus%201%2F2", "{}").expect(200);
        user = stage.admin().get("/v1/profiles/cus%201%2F2").expect(200).json();
        assertEquals(1, user.get("subscriptions").size(), "an opt-out is a promise");
        ProblemResponseChecks.expect(stage.server().with("read").put("/v1/profiles/x", "{}"), 403, "forbidden");
    }

    @Test
    void a_cohort_has_members_and_a_misspelt_one_is_not_created() {
        put("cohorts/vip", "{}").expect(200);
        for (String id : List.of("c", "a", "b")) {
            put("cohorts/vip/members/" + id, "{}").expect(200);
        }
        put("cohorts/vip/members/a", "{}").expect(200);
        ProblemResponseChecks.expect(put("cohorts/vpi/members/a", "{}"), 404, "not-found");
        HttpReply page = stage.admin().get("/v1/cohorts/vip/members?limit=2").expect(200);
        assertEquals("b", page.json().at("/items/1/profile_id").asString());
        HttpReply rest = stage.admin().get("/v1/cohorts/vip/members?limit=2&after=" + page.text("next"));
        assertEquals("c", rest.expect(200).json().at("/items/0/profile_id").asString());
        stage.admin().delete("/v1/cohorts/vip/members/b").expect(200);
        put("profiles/a", "{}").expect(200);
        assertEquals(
                "[\"vip\"]",
                stage.admin().get("/v1/profiles/a").json().get("cohorts").toString());
        assertEquals(
                2,
                stage.admin().get("/v1/cohorts/vip/members").json().get("items").size());
    }

    @Test
    void lists_are_paged_and_omit_large_documents() {
        put("templates/zz-a", text("x".repeat(5_000))).expect(200);
        put("templates/zz-b", text("small")).expect(200);
        List<String> names = new ArrayList<>();
        String after = "";
        do {
            JsonNode page = stage.admin()
                    .get("/v1/templates?limit=1" + after)
                    .expect(200)
                    .json();
            page.get("items")
                    .forEach(item -> names.add(
                            item.get("name").asString() + (item.get("document").isNull() ? " left out" : "")));
            after = page.get("next").isNull()
                    ? ""
                    : "&after=" + page.get("next").asString();
        } while (!after.isEmpty());
        assertTrue(names.containsAll(List.of("zz-a left out", "zz-b")), names::toString);
        ProblemResponseChecks.expect(stage.admin().get("/v1/templates?after=***"), 400, "invalid-input");
        ProblemResponseChecks.expect(put("templates/huge", text("x".repeat(263_000))), 413, "payload-too-large");
    }
}
