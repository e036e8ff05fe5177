package dev.semel.server.files.definition;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class NoisyKeyFieldLintRuleTest {
    private static List<String> found(String section) {
        return DefinitionFixtures.compiled(section).warnings().stream()
                .filter(warning -> warning.contains("SEM-K10"))
                .toList();
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '`', textBlock = """
        idempotency: {fingerprint: [id, sent_at]}                          | idempotency: | sent_at
        idempotency: {fingerprint: [id, meta.timestamp]}                   | idempotency: | timestamp
        idempotency: {fingerprint: [when: "${ input.requestedAt }"]}       | idempotency: | requestedAt
        trigger: {http: {key: "${ key('a', input.sent_at) }"}}             | trigger.http.key: | sent_at
        trigger: {http: {key: "${ header['X-Request-Id'] }"}}              | trigger.http.key: | X-Request-Id
        steps: [{id: a, http: {method: POST, url: "https://a.example/b"}, protect: ask, idempotent: {key: "${ input.request_id }", time: 1, unit: hours}}] | Step 'a': | request_id
        """)
    void a_field_that_differs_in_each_attempt_is_a_warning(String section, String place, String name) {
        List<String> warnings = found(section + "\n");
        assertEquals(1, warnings.size(), warnings::toString);
        assertTrue(warnings.getFirst().startsWith(place + " SEM-K10"), warnings::toString);
        assertTrue(warnings.getFirst().contains("contains " + name + ","), warnings::toString);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "idempotency: {fingerprint: [id, amount, created_at]}",
                "idempotency: {fingerprint_ignore: [sent_at, timestamp]}",
                "idempotency: {object: '${ input.request_id }'}",
                "trigger: {http: {key: '${ input.event_id }'}}"
            })
    void fields_that_identify_the_action_give_no_warning(String section) {
        assertEquals(List.of(), found(section + "\n"));
    }
}
