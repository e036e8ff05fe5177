package dev.semel.server.files.definition;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.semel.idempotency.FailedRunDuplicateRequestPolicy;
import dev.semel.idempotency.IdempotencyKeyScope;
import dev.semel.idempotency.KeyPolicy;
import dev.semel.idempotency.RequestFingerprint;
import dev.semel.json.StrictJsonCodec;
import dev.semel.policy.SameKeyDifferentPayloadPolicy;
import dev.semel.policy.SamePayloadDifferentKeyPolicy;
import java.time.Duration;
import java.util.HexFormat;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class KeyPolicyTest {
    private static KeyPolicy policy(String idempotency) {
        return DefinitionFixtures.compiled("idempotency: " + idempotency + "\n").policy();
    }

    @Test
    void an_empty_policy_has_the_defaults() {
        assertEquals(KeyPolicy.DEFAULT, DefinitionFixtures.compiled("").policy());
        assertEquals(KeyPolicy.DEFAULT, policy("{}"));
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '`', textBlock = """
        {}                                              | REPLAY
        {fingerprint: [a]}                              | REJECT
        {fingerprint_ignore: [a]}                       | REJECT
        {fingerprint: [a], on_mismatch: replay}         | REPLAY
        {fingerprint: [a], on_mismatch: distinct}       | DISTINCT
        {on_mismatch: reject}                           | REJECT
        {on_mismatch: distinct}                         | DISTINCT
        {fingerprint_ignore: [a], on_mismatch: replay}  | REPLAY
        """)
    void a_declared_fingerprint_rejects_by_default(String written, SameKeyDifferentPayloadPolicy meant) {
        assertEquals(meant, policy(written).onMismatch());
    }

    @ParameterizedTest
    @CsvSource({"1s,PT1S", "90m,PT90M", "24h,PT24H", "7d,P7D", "365d,P365D"})
    void a_window_is_read(String written, Duration meant) {
        assertEquals(meant, policy("{window: " + written + "}").window());
    }

    @Test
    void every_other_choice_is_read() {
        WorkflowDefinition definition = DefinitionFixtures.compiled("""
            trigger: {http: {require_key: true}}
            idempotency:
              scope: workflow
              duplicate_payload: flag
              on_failed: run_again
              hold_while_running: false
              fingerprint_ignore: [sent_at, 'lines[].note']
            """);
        KeyPolicy policy = definition.policy();
        assertEquals(IdempotencyKeyScope.WORKFLOW, policy.scope());
        assertEquals(SamePayloadDifferentKeyPolicy.FLAG, policy.duplicatePayload());
        assertEquals(FailedRunDuplicateRequestPolicy.RUN_AGAIN, policy.onFailed());
        assertFalse(policy.holdWhileRunning());
        assertTrue(policy.requireKey());
        assertEquals(List.of("sent_at", "lines[].note"), policy.fingerprintIgnore());
    }

    @ParameterizedTest
    @CsvSource({"'a b'", "'x..y'", "'a['", "'$.a'", "''"})
    void a_bad_path_is_rejected_at_its_position(String path) {
        var mistake = DefinitionFixtures.only(
                DefinitionFixtures.with("idempotency: {fingerprint: [ok, '" + path.replace("'", "") + "']}\n"));
        assertEquals("4:33", mistake.line() + ":" + mistake.column());
        assertEquals("/idempotency/fingerprint/1", mistake.pointer());
        assertTrue(
                mistake.message().startsWith("a path is empty")
                        || mistake.message().startsWith("path "),
                mistake.message());
    }

    private static String digest(String fingerprint, String data) {
        KeyPolicy policy = policy("{fingerprint: " + fingerprint + "}");
        return HexFormat.of()
                .formatHex(RequestFingerprint.of("wf_1", StrictJsonCodec.parse(data), policy, new byte[32])
                        .digest());
    }

    @Test
    void an_expression_in_a_fingerprint_is_normalised() {
        String field = "[{mail: '${ input.mail }'}]";
        assertEquals(digest(field, "{\"mail\":\" Ann@X.org\"}"), digest(field, "{\"mail\":\"ann@x.ORG \"}"));
        assertNotEquals(digest(field, "{\"mail\":\"ann@x.org\"}"), digest(field, "{\"mail\":\"bob@x.org\"}"));
        assertEquals(
                "mail",
                policy("{fingerprint: " + field + "}").fingerprint().getFirst().name());
    }

    @Test
    void data_that_the_expression_cannot_digest_is_distinguished_by_the_fields_it_reads() {
        String field = "[{who: '${ lower(input.a) + lower(input.b) }'}]";
        String lacksA = digest(field, "{\"b\":\"x\",\"noise\":1}");
        assertEquals(lacksA, digest(field, "{\"b\":\"x\",\"noise\":2}"));
        assertNotEquals(lacksA, digest(field, "{\"a\":\"x\"}"));
        assertNotEquals(digest(field, "{\"a\":1,\"b\":\"x\"}"), digest(field, "{\"a\":2,\"b\":\"x\"}"));
    }

    @Test
    void paths_reach_into_lists() {
        String field = "['lines[].sku']";
        assertEquals(
                digest(field, "{\"lines\":[{\"sku\":\"a\",\"n\":1}]}"),
                digest(field, "{\"lines\":[{\"sku\":\"a\",\"n\":2}]}"));
        assertNotEquals(digest(field, "{\"lines\":[{\"sku\":\"a\"}]}"), digest(field, "{\"lines\":[{\"sku\":\"b\"}]}"));
    }
}
