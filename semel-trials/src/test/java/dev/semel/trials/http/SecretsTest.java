package dev.semel.trials.http;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.semel.error.ErrorCode;
import dev.semel.error.SemelException;
import dev.semel.runtime.SemelRuntime;
import dev.semel.server.settings.SecretEncryptionKeys;
import dev.semel.server.settings.SecretRedactor;
import dev.semel.server.settings.SecretStore;
import dev.semel.server.settings.WorkspaceSettingRepositories;
import dev.semel.store.DatabaseRows;
import dev.semel.store.StoreWriteCommand;
import dev.semel.store.WorkspaceSettingName;
import dev.semel.trials.support.HttpReply;
import dev.semel.trials.support.LiveServer;
import dev.semel.trials.support.OnBothStores;
import dev.semel.trials.support.ProblemResponseChecks;
import dev.semel.trials.support.ServerFixture;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.util.Base64;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.Test;

/** Secrets are stored, used and replaced, and never come up anywhere. */
class SecretsTest extends OnBothStores {
    private static final int DEFAULT = 1;
    private static final String OTHER_KEY = Base64.getEncoder().encodeToString(new byte[32]);

    SecretsTest(ServerFixture stage) {
        super(stage);
    }

    private HttpReply put(String name, String value, String... headers) {
        return stage.admin().put("/v1/secrets/" + name, "{\"value\": \"" + value + "\"}", headers);
    }

    private WorkspaceSettingRepositories with(String keys) {
        return new WorkspaceSettingRepositories(stage.server().serve().semel(), SecretEncryptionKeys.of(keys));
    }

    private String reveal(WorkspaceSettingRepositories settings, String name) {
        return settings.secrets().reveal(DEFAULT, name);
    }

    private static String keyOf(WorkspaceSettingRepositories settings, String name) {
        return Objects.requireNonNull(settings.secrets().find(DEFAULT, name)).key();
    }

    /** Every text and every byte in the store. */
    private String everything() throws Exception {
        StringBuilder all = new StringBuilder();
        try (Connection connection = stage.connect();
                var statement = connection.createStatement()) {
            for (String table : List.of("semel_setting", "semel_idempotent_response", "semel_audit")) {
                try (var row = statement.executeQuery("SELECT * FROM " + table)) {
                    while (row.next()) {
                        for (int i = 1; i <= row.getMetaData().getColumnCount(); i++) {
                            Object value = row.getObject(i);
                            all.append(
                                            value instanceof byte[] bytes
                                                    ? new String(bytes, StandardCharsets.UTF_8)
                                                    : value)
                                    .append('\n');
                        }
                    }
                }
            }
        }
        return all.toString();
    }

    @Test
    void no_response_no_row_and_no_log_line_holds_a_secret() throws Exception {
        String value = ServerFixture.CANARY;
        HttpReply stored = put("canary", value, "Idempotency-Key: canary-1").expect(200);
        HttpReply again = put("canary", value, "Idempotency-Key: canary-1").expect(200);
        assertEquals("true", again.header("X-Idempotent-Replayed"));
        List<HttpReply> replies = List.of(
                stored,
                again,
                stage.admin().get("/v1/secrets").expect(200),
                stage.admin().get("/v1/secrets/canary").expect(200),
                stage.admin().get("/v1/audit").expect(200),
                ProblemResponseChecks.expect(
                        put("canary", "another-one", "Idempotency-Key: canary-1"), 422, "idempotency-key-conflict"),
                ProblemResponseChecks.expect(put("not%20a%20name", value), 400, "invalid-input"),
                ProblemResponseChecks.expect(
                        stage.admin().put("/v1/secrets/canary", "{\"value\":[\"" + value + "\"]}"),
                        400,
                        "invalid-input"),
                ProblemResponseChecks.expect(
                        stage.admin().put("/v1/secrets/canary", "{\"" + value + "\":1}"), 400, "invalid-input"),
                ProblemResponseChecks.expect(
                        put("canary", "some-other", "If-Match: \"7\""), 412, "precondition-failed"));
        String base64 = Base64.getEncoder().withoutPadding().encodeToString(value.getBytes(StandardCharsets.UTF_8));
        for (String text : List.of(replies.toString(), everything(), stage.log().text())) {
            assertFalse(text.contains(value), "the value itself");
            assertFalse(text.contains(base64.substring(0, base64.length() - 2)), "the value in base64");
        }
        assertEquals(value, reveal(with(LiveServer.SECRET_KEY), "canary"), "and yet it is there");
    }

    @Test
    void an_already_stored_value_keeps_its_version() {
        HttpReply first = put("same", "first-value").expect(200);
        HttpReply same = put("same", "first-value").expect(200);
        HttpReply other = put("same", "other-value").expect(200);
        assertEquals(first.json(), same.json());
        assertEquals(2, other.json().get("version").asInt());
        assertNotEquals(first.text("fingerprint"), other.text("fingerprint"));
        assertEquals("other-value", reveal(with(LiveServer.SECRET_KEY), "same"));
    }

    @Test
    void a_removed_secret_leaves_nothing_that_could_be_decrypted() throws Exception {
        put("gone", "to-be-removed").expect(200);
        String fingerprint = stage.admin().get("/v1/secrets/gone").text("fingerprint");
        HttpReply removed = stage.admin().delete("/v1/secrets/gone").expect(200);
        assertEquals(
                removed.body(),
                stage.admin().delete("/v1/secrets/gone").expect(200).body());
        ProblemResponseChecks.expect(stage.admin().get("/v1/secrets/gone"), 404, "not-found");
        ProblemResponseChecks.expect(stage.admin().delete("/v1/secrets/never"), 404, "not-found");
        assertFalse(everything().contains(fingerprint));
        var unknown = assertThrows(SemelException.class, () -> reveal(with(LiveServer.SECRET_KEY), "gone"));
        assertEquals(ErrorCode.NOT_FOUND, unknown.code());
    }

    @Test
    void keys_are_rotated_by_putting_the_new_one_first() {
        put("rotated", "under-the-old-key").expect(200);
        WorkspaceSettingRepositories both = with(OTHER_KEY + "," + LiveServer.SECRET_KEY);
        assertEquals("under-the-old-key", reveal(both, "rotated"));
        assertEquals("older", keyOf(both, "rotated"));
        var draft = new SecretStore.SecretDraft(DEFAULT, "rotated", "under-the-old-key", null, null, "tester");
        stage.server().serve().semel().change(both.secrets().preparePut(draft));
        assertEquals("current", keyOf(both, "rotated"));
        assertEquals("under-the-old-key", reveal(with(OTHER_KEY), "rotated"), "the old key is not needed any more");
        assertEquals("missing", stage.admin().get("/v1/secrets/rotated").text("key"), "and this server has only that");
    }

    @Test
    void a_wrong_or_missing_key_is_reported_with_what_to_do() {
        put("locked", "locked-away").expect(200);
        for (String keys : List.of(OTHER_KEY, "")) {
            var refused = assertThrows(SemelException.class, () -> reveal(with(keys), "locked"));
            assertEquals(ErrorCode.SECRET_KEY_UNUSABLE, refused.code());
            assertTrue(refused.detail().contains("Secret locked is encrypted with key"), refused.detail());
            assertTrue(refused.fix().contains("SEMEL_SECRET_KEY"), refused.fix());
        }
        var draft = new SecretStore.SecretDraft(DEFAULT, "unlocked", "a-value", null, null, "tester");
        var refused =
                assertThrows(SemelException.class, () -> with("").secrets().preparePut(draft));
        assertEquals(ErrorCode.SECRET_KEY_UNUSABLE, refused.code());
        assertTrue(refused.fix().contains("openssl rand -base64 32"), refused.fix());
        ProblemResponseChecks.expect(stage.admin().get("/v1/secrets/unlocked"), 404, "not-found");
        for (String bad : List.of("not base64!", "c2hvcnQ=", LiveServer.SECRET_KEY + ",")) {
            var broken = assertThrows(SemelException.class, () -> SecretEncryptionKeys.of(bad));
            assertFalse(broken.detail().contains(bad.substring(0, 6)), broken.detail());
        }
    }

    @Test
    void a_ciphertext_moved_to_another_name_does_not_decrypt() {
        put("moved", "moved-elsewhere").expect(200);
        SemelRuntime semel = stage.server().serve().semel();
        DatabaseRows.SettingRow row =
                Objects.requireNonNull(semel.view(reads -> reads.setting(DEFAULT, "secret", "moved")));
        var elsewhere = new WorkspaceSettingName(
                DEFAULT, new WorkspaceSettingName.SettingKind("secret", false, true), "elsewhere");
        semel.change(new StoreWriteCommand.SaveSetting(elsewhere, row.body(), null, "thief"));
        var refused = assertThrows(SemelException.class, () -> reveal(with(LiveServer.SECRET_KEY), "elsewhere"));
        assertTrue(refused.detail().contains("was changed"), refused.detail());
        stage.admin().delete("/v1/secrets/elsewhere").expect(200); // other tests read all secrets
    }

    @Test
    void secrets_echoed_by_a_receiver_are_redacted_in_any_encoding() {
        String value = "s3cr&t /Wert+ü";
        put("echoed", value).expect(200);
        SecretRedactor redaction = with(LiveServer.SECRET_KEY).redaction();
        byte[] basic = ("user:" + value + ":more").getBytes(StandardCharsets.UTF_8);
        byte[] shifted = ("a" + value).getBytes(StandardCharsets.UTF_8);
        for (String echo : List.of(
                "Authorization: Bearer " + value + "!",
                "GET /?key=" + URLEncoder.encode(value, StandardCharsets.UTF_8) + "&x=1",
                "GET /" + URLEncoder.encode(value, StandardCharsets.UTF_8).replace("+", "%20"),
                "GET /s3cr&t%20/Wert+%c3%BC?x",
                "<p>s3cr&amp;t &#47;Wert&#x2B;&#252;</p>",
                "{\"a\":\"s3cr\\u0026t \\/Wert+\\u00fc\"}",
                "Basic " + Base64.getEncoder().encodeToString(basic),
                "Basic " + Base64.getUrlEncoder().encodeToString(basic),
                "token=" + Base64.getEncoder().encodeToString(shifted),
                "token=" + Base64.getEncoder().encodeToString(value.getBytes(StandardCharsets.UTF_8)))) {
            String clean = redaction.redact(DEFAULT, echo);
            assertTrue(clean.contains(SecretRedactor.MARK), echo);
            assertFalse(clean.contains(value), clean);
        }
        assertEquals("nothing to hide", redaction.redact(DEFAULT, "nothing to hide"));
        put("echoed", "replaced-meanwhile").expect(200);
        assertEquals(SecretRedactor.MARK, redaction.redact(DEFAULT, "replaced-meanwhile"));
        assertEquals(SecretRedactor.MARK, redaction.redact(DEFAULT, value), "a late answer may still hold the old one");
    }

    @Test
    void a_secret_is_used_only_in_its_workspace() {
        String token = stage.admin()
                .post("/v1/tokens", "{\"workspace\":\"apart\",\"scopes\":[\"admin\",\"read\"]}")
                .expect(200)
                .text("token");
        put("mine", "only-for-default").expect(200);
        ProblemResponseChecks.expect(stage.server().as(token).get("/v1/secrets/mine"), 404, "not-found");
        assertEquals(
                0,
                stage.server()
                        .as(token)
                        .get("/v1/secrets")
                        .expect(200)
                        .json()
                        .get("items")
                        .size());
        ProblemResponseChecks.expect(
                stage.server().with("read").put("/v1/secrets/mine", "{\"value\":\"xxxxx\"}"), 403, "forbidden");
    }
}
