package dev.semel.admission;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.semel.json.StrictJson;
import dev.semel.admission.Admission.Conflict;
import dev.semel.admission.Admission.Fresh;
import dev.semel.admission.Admission.ConflictReason;
import dev.semel.admission.Admission.Repeat;
import dev.semel.admission.Admission.SamePayload;
import dev.semel.admission.AdmissionRules.RepeatedTrigger;
import dev.semel.admission.AdmissionRules.HeldKeys;
import dev.semel.admission.AdmissionRules.KeyRules;
import dev.semel.workflow.OnMismatch;
import dev.semel.run.RunId;
import dev.semel.workflow.RunState;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The whole rule of admission, as tables. */
final class AdmissionRulesTest {
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
            int flags, RunState state, long offset, AdmissionRules.KeyStatus standing) {
        long expires = 1_000_000;
        assertEquals(
                standing,
                AdmissionRules.statusOf(known("wf", "{}", state, new Standing(flags, expires)), expires + offset));
    }

    /** How a name is held, and until when. */
    private record Standing(int flags, long expires) {}

    private static KeyRecord known(String workflow, String data, RunState state, Standing standing) {
        Fingerprint print = Fingerprint.of(workflow, StrictJson.parse(data), KeyPolicy.DEFAULT, SECRET);
        return new KeyRecord(
                new RunId(1, 1),
                null,
                print.digest(),
                print.fields(),
                workflow,
                1,
                state,
                new RunId(1, 1),
                0,
                standing.expires(),
                standing.flags());
    }

    private static KeyRecord known(String workflow, String data) {
        return known(workflow, data, RunState.RUNNING, new Standing(KeyRecord.HOLD, Long.MAX_VALUE));
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

    private static RepeatedTrigger asked(String data, OnMismatch onMismatch, boolean strict, @Nullable String runId) {
        return new RepeatedTrigger(
                "wf",
                runId,
                strict,
                known -> new KeyRules(
                        policy(onMismatch),
                        Fingerprint.of(known.workflowId(), StrictJson.parse(data), KeyPolicy.DEFAULT, SECRET)));
    }

    @Test
    void nothing_held_is_fresh() {
        assertEquals(new Fresh(), AdmissionRules.decide(asked("{}", OnMismatch.REJECT, true, "r"), HeldKeys.NOTHING));
    }

    @Test
    void the_same_action_is_a_repeat_under_every_policy() {
        KeyRecord known = known("wf", "{\"a\":1}");
        for (OnMismatch onMismatch : OnMismatch.values()) {
            for (boolean strict : new boolean[] {true, false}) {
                assertEquals(
                        new Repeat(known, false, List.of()),
                        AdmissionRules.decide(asked("{\"a\":1.0}", onMismatch, strict, null), new HeldKeys(known, null, null)));
            }
        }
    }

    @Test
    void another_payload_is_refused_or_loud_as_policy_and_caller_say() {
        KeyRecord known = known("wf", "{\"a\":1,\"b\":1}");
        HeldKeys held = new HeldKeys(known, null, null);
        String other = "{\"a\":2,\"b\":1}";
        assertEquals(
                new Repeat(known, true, List.of("a")),
                AdmissionRules.decide(asked(other, OnMismatch.REPLAY, false, null), held));
        assertEquals(
                new Conflict(ConflictReason.PAYLOAD, known, List.of("a")),
                AdmissionRules.decide(asked(other, OnMismatch.REPLAY, true, null), held));
        assertEquals(
                new Conflict(ConflictReason.PAYLOAD, known, List.of("a")),
                AdmissionRules.decide(asked(other, OnMismatch.REJECT, false, null), held));
    }

    @Test
    void another_workflow_is_refused_whatever_the_payload() {
        KeyRecord known = known("other", "{}");
        assertEquals(
                new Conflict(ConflictReason.WORKFLOW, known, List.of()),
                AdmissionRules.decide(asked("{}", OnMismatch.REPLAY, false, null), new HeldKeys(known, null, null)));
        assertEquals(
                new Conflict(ConflictReason.WORKFLOW, known, List.of()),
                AdmissionRules.decide(asked("{}", OnMismatch.REPLAY, false, "r"), new HeldKeys(null, known, null)));
    }

    @Test
    void the_key_decides_then_the_run_id_then_the_payload() {
        KeyRecord byKey = known("wf", "{}");
        KeyRecord another = known("wf", "{\"a\":1}");
        RepeatedTrigger plain = asked("{}", OnMismatch.REJECT, false, null);
        assertEquals(new Repeat(byKey, false, List.of()), AdmissionRules.decide(plain, new HeldKeys(byKey, null, another)));
        assertEquals(new Repeat(byKey, false, List.of()), AdmissionRules.decide(plain, new HeldKeys(null, byKey, another)));
        assertEquals(new SamePayload(another), AdmissionRules.decide(plain, new HeldKeys(null, null, another)));
    }

    @Test
    void a_key_and_a_run_id_that_do_not_belong_together_are_refused() {
        KeyRecord byKey = known("wf", "{}");
        assertEquals(
                new Conflict(ConflictReason.RUN_ID, byKey, List.of()),
                AdmissionRules.decide(asked("{}", OnMismatch.REPLAY, false, "r"), new HeldKeys(byKey, null, null)));
        assertEquals(
                new Repeat(byKey, false, List.of()),
                AdmissionRules.decide(
                        asked("{}", OnMismatch.REPLAY, false, byKey.runIdText()), new HeldKeys(byKey, byKey, null)));
    }
}
