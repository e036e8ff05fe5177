package dev.semel.error;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.semel.definition.RunDivergedFromJournal;
import dev.semel.definition.RunTimedOut;
import dev.semel.definition.RunTooLarge;
import java.io.IOException;
import java.net.ConnectException;
import java.net.SocketException;
import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** The kinds of failure that code can catch: their codes, and what they say. */
class FailuresTest {
    static Stream<Arguments> kinds() {
        return Stream.of(
                Arguments.of("step-failed", "\"capture\"", new StepFailed("capture", "a.B", "no", 3)),
                Arguments.of("idempotency-key-conflict", "Key \"k\"", new KeyConflict("Key \"k\".", "Do.")),
                Arguments.of("in-doubt", "\"capture\"", new EffectInDoubt("capture", "the connection was reset")),
                Arguments.of("run-cancelled", "run_1", new RunCancelled("run_1", "by ann")),
                Arguments.of(
                        "run-diverged", "\"capture\"", new RunDivergedFromJournal("capture", "a timer is on record")),
                Arguments.of("run-too-large", "run_1", new RunTooLarge("run_1", "100000 steps")),
                Arguments.of("run-timed-out", "run_1", new RunTimedOut("run_1", Duration.ofHours(2))),
                Arguments.of("type-mismatch", "Step x", new JsonConversionFailed("Step x.", "Do.")));
    }

    @ParameterizedTest
    @MethodSource("kinds")
    void each_failure_has_its_code_and_names_its_subject(String slug, String which, SemelException failure) {
        assertEquals(slug, failure.code().slug());
        assertTrue(failure.detail().contains(which), failure.detail());
        assertTrue(failure.detail().endsWith("."), failure.detail());
        assertFalse(failure.fix().isBlank());
        assertFalse(failure.code().retryable());
        assertEquals(failure.detail() + " " + failure.fix() + " [" + slug + "]", failure.getMessage());
    }

    @Test
    void a_failed_step_reports_its_recorded_cause() {
        List<String> recorded = StepFailed.classNamesOf(new ConnectException("refused"));
        StepFailed failed = new StepFailed("capture", recorded, "refused", 5);
        assertEquals("java.net.ConnectException", failed.causeType());
        assertTrue(failed.is(ConnectException.class));
        assertTrue(failed.is(SocketException.class));
        assertTrue(failed.is(IOException.class));
        assertTrue(failed.is(Throwable.class));
        assertFalse(failed.is(IllegalStateException.class));
        assertEquals("capture", failed.step());
        assertEquals(5, failed.attempts());
        assertTrue(failed.detail().contains("after 5 attempts with java.net.ConnectException: refused."));
        assertTrue(new StepFailed("a", "b.C", "", 1).detail().contains("after 1 attempt with b.C. "));
    }

    @Test
    void a_failed_run_reports_its_recorded_error() {
        StepFailed failed = StepFailed.ofRun("run_1", "mail", "IllegalStateException", "no stock");
        assertTrue(failed.detail().startsWith("Run run_1 failed at \"mail\" with IllegalStateException: no stock. "));
        assertEquals("IllegalStateException", failed.reason());
        assertEquals("mail", failed.step());
        assertFalse(failed.fix().contains("recorded steps"), "steps run again in a replay");
        StepFailed early = StepFailed.ofRun("run_1", "", "unknown", "");
        assertTrue(early.detail().startsWith("Run run_1 failed with unknown. "), early.detail());
    }

    @Test
    void a_run_in_doubt_names_its_decision_and_a_running_one_is_retryable() {
        EffectInDoubt doubt = EffectInDoubt.ofRun("run_1", List.of("mail", "sms"));
        assertTrue(doubt.detail().contains("effects \"mail\", \"sms\" happened"), doubt.detail());
        assertEquals("mail", doubt.step());
        RunNotEnded running = new RunNotEnded("run_1", "waiting");
        assertTrue(running.code().retryable());
        assertEquals("run-not-ended", running.code().slug());
        assertTrue(running.detail().contains("run_1 is waiting"), running.detail());
    }

    @Test
    void a_conflict_lists_the_changed_fields() {
        assertEquals(List.of(), new KeyConflict("d", "f").changedFields());
        KeyConflict conflict = new KeyConflict("d", "f");
        conflict.with("changed", List.of("amount"));
        assertEquals(List.of("amount"), conflict.changedFields());
    }
}
