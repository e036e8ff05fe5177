package dev.semel.store;

import dev.semel.effect.EffectLedger;
import dev.semel.effect.EffectLedger.ChangePolicy;
import dev.semel.effect.EffectLedger.EffectState;
import dev.semel.run.RunId;
import org.jspecify.annotations.Nullable;

/** An effect as tests speak of it: a key, and steps of runs that want to do it. */
record TestEffect(
        EffectLedger.EffectId id,
        long resendFor,
        long window,
        ChangePolicy onChange,
        @Nullable String data) {
    static final EffectLedger.EffectDetails FACTS = new EffectLedger.EffectDetails(
            "the key", "pay", TestStoreClient.WORKFLOW, "ask", "create", "order 1", "12.50 EUR");

    static TestEffect of(int ws, String key) {
        return new TestEffect(new EffectLedger.EffectId(ws, key), 0, 0, ChangePolicy.SEND, "data");
    }

    TestEffect resendFor(long micros) {
        return new TestEffect(id, micros, window, onChange, data);
    }

    TestEffect once(long micros) {
        return new TestEffect(id, resendFor, micros, onChange, data);
    }

    TestEffect with(ChangePolicy change, String changed) {
        return new TestEffect(id, resendFor, window, change, changed);
    }

    /** The step of a run as another one of its line has it. */
    static EffectLedger.EffectHolder in(RunId first, RunId run) {
        return new EffectLedger.EffectHolder("step of " + first, run, 1, 1);
    }

    /** The step of a run that wants it; every run has a step of its own here. */
    static EffectLedger.EffectHolder holder(RunId run, int claim, int turn) {
        return new EffectLedger.EffectHolder("step of " + run, run, claim, turn);
    }

    EffectLedger.ReserveSend reserve(RunId run) {
        return reserve(holder(run, 1, 1));
    }

    EffectLedger.ReserveSend reserve(EffectLedger.EffectHolder holder) {
        return new EffectLedger.ReserveSend(
                id,
                holder,
                resendFor,
                window,
                onChange,
                data,
                FACTS,
                false,
                false,
                generation -> sentKey(id, generation),
                "{\"content\":1}");
    }

    /** What the provider of these tests receives. */
    static String sentKey(EffectLedger.EffectId id, int generation) {
        return "sent " + id.digest() + " " + generation;
    }

    EffectLedger.SettleSend settle(RunId run, EffectState to, @Nullable String result) {
        return settle(holder(run, 1, 1), to, result);
    }

    EffectLedger.SettleSend settle(EffectLedger.EffectHolder holder, EffectState to, @Nullable String result) {
        return new EffectLedger.SettleSend(id, holder, to, result);
    }

    EffectLedger.SettleSend done(RunId run) {
        return settle(run, EffectState.DONE, "{\"by\":1}");
    }

    EffectLedger.NoteStepResult note(RunId run) {
        return new EffectLedger.NoteStepResult(
                id, holder(run, 1, 1), "{\"noted\":1}", FACTS, new EffectLedger.NotedSend(sentKey(id, 3), 3, 2));
    }

    /** Another run's effect stood for that of this run. */
    EffectLedger.NoteStepResult suppressed(RunId run) {
        return new EffectLedger.NoteStepResult(
                id,
                holder(run, 1, 1),
                "{\"noted\":1}",
                FACTS,
                new EffectLedger.SuppressingEffect("the other digest", "run_x 17"),
                null);
    }
}
