package dev.semel.error;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.semel.definition.RunDivergedFromJournal;
import dev.semel.definition.RunTimedOut;
import dev.semel.definition.RunTooLarge;
import dev.semel.json.StrictJsonCodec;
import java.io.IOException;
import java.net.ConnectException;
import java.net.SocketException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import tools.jackson.databind.JsonNode;

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

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
        # effects in doubt | text                                       | step
                           | unknown whether an effect happened         | ''
        mail               | unknown whether effect "mail" happened     | mail
        mail sms           | the effects "mail", "sms" happened         | mail
        """)
    void a_run_in_doubt_lists_the_effects(@Nullable String steps, String text, String first) {
        EffectInDoubt doubt = EffectInDoubt.ofRun("run_1", steps == null ? List.of() : List.of(steps.split(" ")));
        assertTrue(doubt.detail().contains(text), doubt.detail());
        assertEquals(first, doubt.step());
        assertEquals(Map.of("run_id", "run_1"), doubt.members());
    }

    @Test
    void an_operation_in_doubt_names_itself_and_how_to_decide() {
        EffectInDoubt doubt = EffectInDoubt.ofOperation("refund");
        assertTrue(doubt.detail().startsWith("Operation \"refund\" "), doubt.detail());
        assertTrue(doubt.fix().contains("confirmNotDone"), doubt.fix());
        assertEquals("refund", doubt.step());
        assertEquals("capture", new EffectInDoubt("capture", "no answer").step());
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
        # message  | attempts | detail
        refused    | 1 | Step "a" failed permanently after 1 attempt with b.C: refused. The step
        refused.   | 2 | Step "a" failed permanently after 2 attempts with b.C: refused. The step
        ''         | 0 | Step "a" failed permanently after 0 attempts with b.C. The step
        """)
    void the_message_of_a_failure_is_one_sentence(String message, int attempts, String detail) {
        StepFailed failed = new StepFailed("a", "b.C", message, attempts);
        assertTrue(failed.detail().startsWith(detail), failed.detail());
        assertEquals(message, failed.failureMessage());
        assertEquals(List.of("b.C"), failed.causeTypes());
    }

    @ParameterizedTest
    @CsvSource({
        "java.net.ConnectException, ConnectException",
        "Plain,                     Plain",
        "shop.Order$OutOfStock,     OutOfStock",
        "shop.Order$1,              Order$1",
        "shop.Order$Inner$2,        Order$Inner$2",
        "shop.Order$,               Order$",
        "$Odd,                      Odd",
    })
    void the_reason_of_a_failure_is_the_simple_name_of_its_class(String className, String reason) {
        assertEquals(reason, StepFailed.simpleName(className));
        assertEquals(reason, new StepFailed("a", className, "no", 1).reason());
    }

    @Test
    void an_error_code_of_semel_is_the_reason_instead_of_the_class() {
        StepFailed failed = new StepFailed("a", "b.C", "no", 1);
        assertFalse(failed.effectHappened());
        assertEquals("in-doubt", failed.withCode("in-doubt").reason());
        assertFalse(failed.effectHappened());
        assertTrue(failed.withCode("result-not-recordable").effectHappened());
    }

    @Test
    void a_failed_run_keeps_the_message_of_its_cause() {
        StepFailed failed = StepFailed.ofRun("run_1", "mail", "unknown", "no stock.");
        assertTrue(failed.detail().contains("with unknown: no stock. The run"), failed.detail());
        assertEquals("no stock.", failed.failureMessage());
        assertEquals(0, failed.attempts());
        assertEquals(Map.of("run_id", "run_1"), failed.members());
    }

    @Test
    void a_cancelled_run_gives_its_reason_if_there_is_one() {
        assertTrue(new RunCancelled("run_1", "by ann").detail().startsWith("Run run_1 was cancelled: by ann. "));
        RunCancelled silent = new RunCancelled("run_1", " ");
        assertTrue(silent.detail().startsWith("Run run_1 was cancelled. "), silent.detail());
        assertEquals(Map.of("run_id", "run_1"), silent.members());
        assertEquals(Map.of("run_id", "run_1"), new RunNotEnded("run_1", "waiting").members());
    }

    @Test
    void the_members_of_a_problem_keep_their_order_and_cannot_be_changed_from_outside() {
        SemelException problem = new SemelException(ErrorCode.INTERNAL, "d.", "f.", new IOException("disk"))
                .with("z", 1)
                .with("a", "text");
        assertEquals(List.of("z", "a"), List.copyOf(problem.members().keySet()));
        assertThrows(
                UnsupportedOperationException.class, () -> problem.members().put("b", 2));
        Map<String, Object> before = problem.members();
        problem.with("later", 3);
        assertFalse(before.containsKey("later"));
        assertEquals("d. f. [internal]", problem.getMessage());
    }

    @Test
    void a_code_has_a_status_that_fits_and_a_title() {
        for (ErrorCode code : ErrorCode.values()) {
            assertTrue(code.status() >= 400 && code.status() < 600, code.slug());
            assertFalse(code.title().isBlank() || code.title().endsWith("."), code.slug());
        }
        assertEquals(422, ErrorCode.IDEMPOTENCY_KEY_CONFLICT.status());
        assertEquals("Internal error", ErrorCode.INTERNAL.title());
    }

    @Test
    void an_http_failure_shows_status_body_and_wait_time() {
        JsonNode body = StrictJsonCodec.parse("{\"error\":\"full\"}");
        HttpStatusException failure = new HttpStatusException(429, body, Duration.ofSeconds(3));
        assertEquals("HTTP status 429", failure.getMessage());
        assertEquals(429, failure.status());
        assertEquals(body, failure.body());
        assertEquals(Duration.ofSeconds(3), failure.retryAfter());
    }

    @Test
    void a_conflict_lists_the_changed_fields() {
        assertEquals(List.of(), new KeyConflict("d", "f").changedFields());
        KeyConflict conflict = new KeyConflict("d", "f");
        conflict.with("changed", List.of("amount"));
        assertEquals(List.of("amount"), conflict.changedFields());
    }
}
