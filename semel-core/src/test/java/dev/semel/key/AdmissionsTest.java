package dev.semel.key;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.semel.json.Json;
import dev.semel.key.Admission.Conflict;
import dev.semel.key.Admission.Fresh;
import dev.semel.key.Admission.Reason;
import dev.semel.key.Admission.Repeat;
import dev.semel.key.Admission.SamePayload;
import dev.semel.key.Admissions.Asked;
import dev.semel.key.Admissions.Held;
import dev.semel.key.Admissions.Judgement;
import dev.semel.key.KeyPolicy.OnMismatch;
import dev.semel.run.RunId;
import dev.semel.run.RunState;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The whole rule of admission, as tables. */
final class AdmissionsTest {
    private static final byte[] SECRET = new byte[32];

    @ParameterizedTest
    @CsvSource(textBlock = """
        # flags, state, now against the expiry, standing
        0,  STARTED,   -1, LIVE
        0,  STARTED,    0, EXPIRED
        0,  COMPLETED, -1, LIVE
        0,  COMPLETED,  0, EXPIRED
        0,  COMPLETED,  1, EXPIRED
        0,  FAILED,    -1, LIVE
        1,  QUEUED,     0, LIVE
        1,  STARTED,    0, LIVE
        1,  RUNNING, 9999, LIVE
        1,  WAITING, 9999, LIVE
        1,  IN_DOUBT,9999, LIVE
        1,  COMPLETED, -1, LIVE
        1,  COMPLETED,  0, EXPIRED
        1,  FAILED,    -1, LIVE
        1,  CANCELLED,  0, EXPIRED
        2,  FAILED,    -1, FAILED
        3,  FAILED,    -1, FAILED
        3,  FAILED,     0, EXPIRED
        3,  COMPLETED, -1, LIVE
        3,  CANCELLED, -1, LIVE
        3,  RUNNING,   -1, LIVE
        4,  RUNNING,   -1, RELEASED
        5,  RUNNING,   -1, RELEASED
        6,  FAILED,    -1, RELEASED
        7,  FAILED,     0, RELEASED
        """)
    void a_name_stands_as_flags_state_and_time_say(
            int flags, RunState state, long offset, Admissions.Standing standing) {
        long expires = 1_000_000;
        assertEquals(standing, Admissions.standing(known(state, flags, expires), expires + offset));
    }

    private static Known known(RunState state, int flags, long expires) {
        Known plain = known("wf", "{}");
        return new Known(
                plain.run(),
                null,
                plain.digest(),
                plain.fields(),
                plain.workflowId(),
                1,
                state,
                plain.lineage(),
                0,
                expires,
                flags);
    }

    private static Known known(String workflow, String data) {
        Fingerprint print = Fingerprint.of(workflow, Json.parse(data), KeyPolicy.DEFAULT, SECRET);
        return new Known(
                new RunId(1, 1),
                null,
                print.digest(),
                print.fields(),
                workflow,
                1,
                RunState.RUNNING,
                new RunId(1, 1),
                0,
                Long.MAX_VALUE,
                Known.HOLD);
    }

    private static KeyPolicy policy(OnMismatch onMismatch) {
        KeyPolicy plain = KeyPolicy.DEFAULT;
        return new KeyPolicy(
                plain.window(),
                plain.scope(),
                List.of(),
                List.of(),
                onMismatch,
                plain.duplicatePayload(),
                plain.onFailed(),
                true,
                false);
    }

    private static Asked asked(String data, OnMismatch onMismatch, boolean strict, @Nullable String runId) {
        return new Asked(
                "wf",
                runId,
                strict,
                known -> new Judgement(
                        policy(onMismatch),
                        Fingerprint.of(known.workflowId(), Json.parse(data), KeyPolicy.DEFAULT, SECRET)));
    }

    @Test
    void nothing_held_is_fresh() {
        assertEquals(new Fresh(), Admissions.decide(asked("{}", OnMismatch.REJECT, true, "r"), Held.NOTHING));
    }

    @Test
    void the_same_action_is_a_repeat_under_every_policy() {
        Known known = known("wf", "{\"a\":1}");
        for (OnMismatch onMismatch : OnMismatch.values()) {
            for (boolean strict : new boolean[] {true, false}) {
                assertEquals(
                        new Repeat(known, false, List.of()),
                        Admissions.decide(asked("{\"a\":1.0}", onMismatch, strict, null), new Held(known, null, null)));
            }
        }
    }

    @Test
    void another_payload_is_refused_or_loud_as_policy_and_caller_say() {
        Known known = known("wf", "{\"a\":1,\"b\":1}");
        Held held = new Held(known, null, null);
        String other = "{\"a\":2,\"b\":1}";
        assertEquals(
                new Repeat(known, true, List.of("a")),
                Admissions.decide(asked(other, OnMismatch.REPLAY, false, null), held));
        assertEquals(
                new Conflict(Reason.PAYLOAD, known, List.of("a")),
                Admissions.decide(asked(other, OnMismatch.REPLAY, true, null), held));
        assertEquals(
                new Conflict(Reason.PAYLOAD, known, List.of("a")),
                Admissions.decide(asked(other, OnMismatch.REJECT, false, null), held));
    }

    @Test
    void another_workflow_is_refused_whatever_the_payload() {
        Known known = known("other", "{}");
        assertEquals(
                new Conflict(Reason.WORKFLOW, known, List.of()),
                Admissions.decide(asked("{}", OnMismatch.REPLAY, false, null), new Held(known, null, null)));
        assertEquals(
                new Conflict(Reason.WORKFLOW, known, List.of()),
                Admissions.decide(asked("{}", OnMismatch.REPLAY, false, "r"), new Held(null, known, null)));
    }

    @Test
    void the_key_decides_then_the_run_id_then_the_payload() {
        Known byKey = known("wf", "{}");
        Known another = known("wf", "{\"a\":1}");
        Asked plain = asked("{}", OnMismatch.REJECT, false, null);
        assertEquals(new Repeat(byKey, false, List.of()), Admissions.decide(plain, new Held(byKey, null, another)));
        assertEquals(new Repeat(byKey, false, List.of()), Admissions.decide(plain, new Held(null, byKey, another)));
        assertEquals(new SamePayload(another), Admissions.decide(plain, new Held(null, null, another)));
    }

    @Test
    void a_key_and_a_run_id_that_do_not_belong_together_are_refused() {
        Known byKey = known("wf", "{}");
        assertEquals(
                new Conflict(Reason.RUN_ID, byKey, List.of()),
                Admissions.decide(asked("{}", OnMismatch.REPLAY, false, "r"), new Held(byKey, null, null)));
        assertEquals(
                new Repeat(byKey, false, List.of()),
                Admissions.decide(
                        asked("{}", OnMismatch.REPLAY, false, byKey.runIdText()), new Held(byKey, byKey, null)));
    }
}
