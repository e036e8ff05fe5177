package dev.semel.server.files.definition;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Windows beside data that are never the same. */
class IdempotencyWindowLintRuleTest {
    private static String message(String data, String onChange) {
        return """
            steps:
              - {id: at, set: {now: "${ now() }", name: "${ input.name }"}}
              - {id: again, set: "${ steps.at.now }"}
              - id: a
                send: {channel: mail, to: x@a.example, template: t, data: {v: "${ DATA }"}}
                idempotent: {key: "${ input.id }", time: 1, unit: days ON_CHANGE}
                protect: ask
            """.replace("DATA", data).replace("ON_CHANGE", onChange);
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '`', textBlock = """
        now()                      | now()
        key(input.id, uuid())      | uuid()
        run.id                     | run.id
        'x' + run.started_at       | run.started_at
        steps.at.now               | now() through steps.at.now
        string(steps.at)           | now() through steps.at
        steps.again                | now() through steps.again
        """)
    void data_that_differ_in_every_run_give_a_warning_with_a_window(String data, String cause) {
        String warning = "Step 'a': SEM-K08: the window of the step compares data that contains " + cause
                + ". This value differs in every run, so the window suppresses nothing. Remove the value, or set"
                + " `on_change` to `suppress` or `review`.";
        assertEquals(
                List.of(warning), DefinitionFixtures.compiled(message(data, "")).warnings());
        assertEquals(
                List.of(),
                DefinitionFixtures.compiled(message(data, ", on_change: suppress"))
                        .warnings());
        assertEquals(
                List.of(),
                DefinitionFixtures.compiled(message("steps.at.name", "")).warnings());
    }

    @Test
    void http_requests_and_java_steps_are_checked_as_well() {
        String window = "idempotent: {key: '${ input.id }', time: 1, unit: days}, protect: ask}";
        List<String> warnings = DefinitionFixtures.compiled("steps:\n"
                        + "  - {id: a, http: {method: POST, url: 'https://a.example', body: {at: '${ now() }'}}, "
                        + window
                        + "\n  - {id: b, java: pay, input: {by: '${ run.id }'}, " + window
                        + "\n"
                        + "  - {id: c, http: {method: POST, url: 'https://a.example', headers: {X-At: '${ now() }'}}, "
                        + window + "\n")
                .warnings();
        assertEquals(2, warnings.size(), "headers are not compared: " + warnings);
        assertTrue(warnings.getFirst().startsWith("Step 'a': SEM-K08"), warnings.toString());
        assertTrue(warnings.getLast().startsWith("Step 'b': SEM-K08"), warnings.toString());
    }
}
