package dev.semel.store;

import dev.semel.effect.Ledger;
import dev.semel.effect.Ledger.OnChange;
import dev.semel.effect.Ledger.State;
import dev.semel.run.RunId;
import org.jspecify.annotations.Nullable;

/** An effect as tests speak of it: a key, and steps of runs that want to do it. */
record Deed(
        Ledger.Id id,
        long resendFor,
        long window,
        OnChange onChange,
        @Nullable String data) {
    static final Ledger.Facts FACTS =
            new Ledger.Facts("the key", "pay", Desk.WORKFLOW, "ask", "create", "order 1", "12.50 EUR");

    static Deed of(int ws, String key) {
        return new Deed(new Ledger.Id(ws, key), 0, 0, OnChange.SEND, "data");
    }

    Deed resendFor(long micros) {
        return new Deed(id, micros, window, onChange, data);
    }

    Deed once(long micros) {
        return new Deed(id, resendFor, micros, onChange, data);
    }

    Deed with(OnChange change, String changed) {
        return new Deed(id, resendFor, window, change, changed);
    }

    /** The step of a run as another one of its line has it. */
    static Ledger.Holder in(RunId first, RunId run) {
        return new Ledger.Holder("step of " + first, run, 1, 1);
    }

    /** The step of a run that wants it; every run has a step of its own here. */
    static Ledger.Holder holder(RunId run, int claim, int turn) {
        return new Ledger.Holder("step of " + run, run, claim, turn);
    }

    Ledger.Reserve reserve(RunId run) {
        return reserve(holder(run, 1, 1));
    }

    Ledger.Reserve reserve(Ledger.Holder holder) {
        return new Ledger.Reserve(id, holder, resendFor, window, onChange, data, FACTS);
    }

    Ledger.Settle settle(RunId run, State to, @Nullable String result) {
        return settle(holder(run, 1, 1), to, result);
    }

    Ledger.Settle settle(Ledger.Holder holder, State to, @Nullable String result) {
        return new Ledger.Settle(id, holder, to, result);
    }

    Ledger.Settle done(RunId run) {
        return settle(run, State.DONE, "{\"by\":1}");
    }

    Ledger.Note note(RunId run) {
        return new Ledger.Note(id, holder(run, 1, 1), "{\"noted\":1}", FACTS);
    }

    /** Another run's effect stood for that of this run. */
    Ledger.Note suppressed(RunId run) {
        return new Ledger.Note(
                id, holder(run, 1, 1), "{\"noted\":1}", FACTS, new Ledger.Instead("the other digest", "run_x 17"));
    }
}
