package dev.semel.admission;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.semel.admission.TriggerAdmissionDecision.Conflict;
import dev.semel.admission.TriggerAdmissionDecision.ConflictReason;
import dev.semel.admission.TriggerAdmissionDecision.Fresh;
import dev.semel.admission.TriggerAdmissionDecision.Repeat;
import dev.semel.admission.TriggerAdmissionDecision.SamePayload;
import dev.semel.admission.TriggerAdmissionRules.HeldKeys;
import dev.semel.admission.TriggerAdmissionRules.KeyRules;
import dev.semel.admission.TriggerAdmissionRules.RepeatedTrigger;
import dev.semel.idempotency.KeyPolicy;
import dev.semel.idempotency.RequestFingerprint;
import dev.semel.json.StrictJsonCodec;
import dev.semel.policy.SameKeyDifferentPayloadPolicy;
import dev.semel.run.RunId;
import dev.semel.run.RunState;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The whole rule of admission, as tables. */
final class TriggerAdmissionRulesTest {
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
    void flags_state_and_time_decide_whether_a_key_is_held(
            int flags, RunState state, long offset, TriggerAdmissionRules.KeyStatus status) {
        long expires = 1_000_000;
        assertEquals(
                status,
                TriggerAdmissionRules.statusOf(
                        known("wf", "{}", state, new KeyState(flags, expires)), expires + offset));
    }

    /** How a name is held, and until when. */
    private record KeyState(int flags, long expires) {}

    private static RunDeduplicationKeyRecord known(String workflow, String data, RunState state, KeyState keyState) {
        RequestFingerprint print =
                RequestFingerprint.of(workflow, StrictJsonCodec.parse(data), KeyPolicy.DEFAULT, SECRET);
        return new RunDeduplicationKeyRecord(
                new RunId(1, 1),
                null,
                print.digest(),
                print.fields(),
                workflow,
                1,
                state,
                new RunId(1, 1),
                0,
                keyState.expires(),
                keyState.flags());
    }

    private static RunDeduplicationKeyRecord known(String workflow, String data) {
        return known(workflow, data, RunState.RUNNING, new KeyState(RunDeduplicationKeyRecord.HOLD, Long.MAX_VALUE));
    }

    private static KeyPolicy policy(SameKeyDifferentPayloadPolicy onMismatch) {
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

    private static RepeatedTrigger asked(
            String data, SameKeyDifferentPayloadPolicy onMismatch, boolean strict, @Nullable String runId) {
        return new RepeatedTrigger(
                "wf",
                runId,
                strict,
                keyRecord -> new KeyRules(
                        policy(onMismatch),
                        RequestFingerprint.of(
                                keyRecord.workflowId(), StrictJsonCodec.parse(data), KeyPolicy.DEFAULT, SECRET)));
    }

    @Test
    void an_unheld_key_is_fresh() {
        assertEquals(
                new Fresh(),
                TriggerAdmissionRules.decide(
                        asked("{}", SameKeyDifferentPayloadPolicy.REJECT, true, "r"), HeldKeys.NOTHING));
    }

    @Test
    void the_same_action_is_a_repeat_under_every_policy() {
        RunDeduplicationKeyRecord keyRecord = known("wf", "{\"a\":1}");
        for (SameKeyDifferentPayloadPolicy onMismatch : SameKeyDifferentPayloadPolicy.values()) {
            for (boolean strict : new boolean[] {true, false}) {
                assertEquals(
                        new Repeat(keyRecord, false, List.of()),
                        TriggerAdmissionRules.decide(
                                asked("{\"a\":1.0}", onMismatch, strict, null), new HeldKeys(keyRecord, null, null)));
            }
        }
    }

    @Test
    void another_payload_is_rejected_or_flagged_by_policy_and_caller() {
        RunDeduplicationKeyRecord keyRecord = known("wf", "{\"a\":1,\"b\":1}");
        HeldKeys held = new HeldKeys(keyRecord, null, null);
        String other = "{\"a\":2,\"b\":1}";
        assertEquals(
                new Repeat(keyRecord, true, List.of("a")),
                TriggerAdmissionRules.decide(asked(other, SameKeyDifferentPayloadPolicy.REPLAY, false, null), held));
        assertEquals(
                new Conflict(ConflictReason.PAYLOAD, keyRecord, List.of("a")),
                TriggerAdmissionRules.decide(asked(other, SameKeyDifferentPayloadPolicy.REPLAY, true, null), held));
        assertEquals(
                new Conflict(ConflictReason.PAYLOAD, keyRecord, List.of("a")),
                TriggerAdmissionRules.decide(asked(other, SameKeyDifferentPayloadPolicy.REJECT, false, null), held));
    }

    @Test
    void another_workflow_is_rejected_with_any_payload() {
        RunDeduplicationKeyRecord keyRecord = known("other", "{}");
        assertEquals(
                new Conflict(ConflictReason.WORKFLOW, keyRecord, List.of()),
                TriggerAdmissionRules.decide(
                        asked("{}", SameKeyDifferentPayloadPolicy.REPLAY, false, null),
                        new HeldKeys(keyRecord, null, null)));
        assertEquals(
                new Conflict(ConflictReason.WORKFLOW, keyRecord, List.of()),
                TriggerAdmissionRules.decide(
                        asked("{}", SameKeyDifferentPayloadPolicy.REPLAY, false, "r"),
                        new HeldKeys(null, keyRecord, null)));
    }

    @Test
    void the_key_decides_then_the_run_id_then_the_payload() {
        RunDeduplicationKeyRecord byKey = known("wf", "{}");
        RunDeduplicationKeyRecord another = known("wf", "{\"a\":1}");
        RepeatedTrigger plain = asked("{}", SameKeyDifferentPayloadPolicy.REJECT, false, null);
        assertEquals(
                new Repeat(byKey, false, List.of()),
                TriggerAdmissionRules.decide(plain, new HeldKeys(byKey, null, another)));
        assertEquals(
                new Repeat(byKey, false, List.of()),
                TriggerAdmissionRules.decide(plain, new HeldKeys(null, byKey, another)));
        assertEquals(new SamePayload(another), TriggerAdmissionRules.decide(plain, new HeldKeys(null, null, another)));
    }

    @Test
    void a_key_and_a_run_id_of_different_runs_are_rejected() {
        RunDeduplicationKeyRecord byKey = known("wf", "{}");
        assertEquals(
                new Conflict(ConflictReason.RUN_ID, byKey, List.of()),
                TriggerAdmissionRules.decide(
                        asked("{}", SameKeyDifferentPayloadPolicy.REPLAY, false, "r"),
                        new HeldKeys(byKey, null, null)));
        assertEquals(
                new Repeat(byKey, false, List.of()),
                TriggerAdmissionRules.decide(
                        asked("{}", SameKeyDifferentPayloadPolicy.REPLAY, false, byKey.runIdText()),
                        new HeldKeys(byKey, byKey, null)));
    }
}
