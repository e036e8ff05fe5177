package dev.semel.idempotency;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.semel.admission.RunDeduplicationKeyRecord;
import dev.semel.run.RunId;
import dev.semel.run.RunState;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The limits of a key policy, and what a key record shows to callers. */
final class KeyPolicyTest {
    private static KeyPolicy policy(Duration window, List<FingerprintField> fields, List<String> ignored) {
        KeyPolicy plain = KeyPolicy.DEFAULT;
        return new KeyPolicy(
                window,
                plain.scope(),
                fields,
                ignored,
                plain.onMismatch(),
                plain.duplicatePayload(),
                plain.onFailed(),
                plain.holdWhileRunning(),
                plain.requireKey());
    }

    private static List<String> words(@Nullable String text) {
        return text == null ? List.of() : Arrays.asList(text.split(" "));
    }

    @ParameterizedTest(name = "{0}: {1}")
    @CsvSource({
        "PT1S, accepted",
        "P365D, accepted",
        "PT0.999999S, rejected",
        "PT0S, rejected",
        "P365DT0.000001S, rejected",
    })
    void a_window_is_between_a_second_and_a_year(Duration window, String expected) {
        if (expected.equals("accepted")) {
            assertEquals(window, policy(window, List.of(), List.of()).window());
        } else {
            assertThrows(IllegalArgumentException.class, () -> policy(window, List.of(), List.of()));
        }
    }

    @ParameterizedTest(name = "fields {0}, ignored {1}: {2}")
    @CsvSource({
        ",      ,  false",
        "id,    ,  true",
        "id to, ,  true",
        ",      at, true",
        "id,    at, rejected",
    })
    void a_fingerprint_is_declared_by_fields_or_by_what_it_ignores(
            @Nullable String fields, @Nullable String ignored, String expected) {
        List<FingerprintField> declared = words(fields).stream()
                .map(name -> JsonFieldPath.parse(name).toField())
                .toList();
        if (expected.equals("rejected")) {
            assertThrows(IllegalArgumentException.class, () -> policy(Duration.ofHours(1), declared, words(ignored)));
        } else {
            assertEquals(
                    Boolean.valueOf(expected),
                    policy(Duration.ofHours(1), declared, words(ignored)).declaresFingerprint());
        }
    }

    @Test
    void callers_see_the_run_id_that_they_chose() {
        RunId run = new RunId(1, 1);
        RunDeduplicationKeyRecord generated = new RunDeduplicationKeyRecord(
                run, null, new byte[1], new byte[2], "wf", 3, RunState.FAILED, run, 4, 5, 6);
        assertEquals(run.text(), generated.runIdText());
        RunId newer = new RunId(2, 2);
        RunDeduplicationKeyRecord chosen = generated.withRun(newer, "order-7", RunState.STARTED);
        assertEquals("order-7", chosen.runIdText());
        assertEquals(
                new RunDeduplicationKeyRecord(
                        newer,
                        "order-7",
                        generated.digest(),
                        generated.fields(),
                        "wf",
                        3,
                        RunState.STARTED,
                        run,
                        4,
                        5,
                        6),
                chosen);
    }
}
