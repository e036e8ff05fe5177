package dev.semel.engine;

import dev.semel.error.Diverged;
import dev.semel.error.ErrorCode;
import dev.semel.error.RunCancelled;
import dev.semel.error.SemelException;
import dev.semel.journal.Entry;
import dev.semel.journal.Memory;
import dev.semel.run.StepId;
import dev.semel.run.StepPath;
import dev.semel.store.Write;
import dev.semel.workflow.StepPlan;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/**
 * One scope of an execution: the body, an item of a forEach, an undo. Its code asks for one thing after the other; this
 * holds each question against the record and says what is known of it.
 */
final class Scope {
    /** So often is the end of its execution told to code that swallows it: nested clean-up may well ask a few times. */
    private static final int PATIENCE = 8;

    private final Execution execution;
    private final @Nullable Scope around;
    private final String prefix;
    private final boolean undo;
    private final Thread thread = Thread.currentThread();
    private final Map<String, String> stoodFor = new HashMap<>();
    private final Set<String> silent = new HashSet<>();
    private int place;
    private int unnamed;
    private int told;
    private @Nullable Runnable leftBehind;
    private volatile boolean busy;
    private volatile boolean closed;

    /** @param undo its work goes on although the run was cancelled */
    Scope(Execution execution, String prefix, boolean undo) {
        this.execution = execution;
        this.around = null;
        this.prefix = prefix;
        this.undo = undo;
    }

    private Scope(Scope around, String prefix, Runnable leftBehind) {
        this.execution = around.execution;
        this.around = around;
        this.prefix = prefix;
        this.undo = around.undo;
        this.leftBehind = leftBehind;
    }

    /** @param leftBehind called when the code of the branch does not let itself be ended; its thread never goes on */
    Scope branch(String branchPrefix, Runnable leftBehind) {
        return new Scope(this, branchPrefix, leftBehind);
    }

    Execution execution() {
        return execution;
    }

    String prefix() {
        return prefix;
    }

    String stepId(String path) {
        return StepId.of(execution.run().lineage(), path).text();
    }

    /**
     * What is known of a question.
     *
     * @param path where it is on record, or will be; a step that was renamed keeps the path it was recorded under
     * @param tries failed attempts on record
     * @param retryDue when the next attempt is due; 0 for at once
     */
    record Place(String path, String stepId, Memory.@Nullable Trace trace, int tries, long retryDue) {
        /** The recorded result, a recorded failure thrown again, or null where there is none yet. */
        @Nullable
        JsonNode result() {
            return trace == null ? null : StepRunner.replayed(trace, path);
        }

        Entry.@Nullable Done done() {
            return trace == null ? null : trace.done();
        }

        Place triedUntil(long due) {
            return new Place(path, stepId, null, tries + 1, due);
        }
    }

    Place enter(StepPlan plan, Entry.Kind kind) {
        Names.refuseUnstorable(plan.name(), prefix);
        return enter(StepPath.of(prefix, plan.name()), plan.formerly(), kind);
    }

    Place enter(String name, Entry.Kind kind) {
        return enter(StepPlan.named(name), kind);
    }

    /** For what has no name: counted in its scope. */
    Place enterUnnamed(Entry.Kind kind) {
        return enter(StepPath.unnamed(prefix, kind.word(), ++unnamed), List.of(), kind);
    }

    private Place enter(String path, List<String> formerly, Entry.Kind kind) {
        ask(path);
        String expected = expected();
        if (expected == null) {
            refuseBehindTheRecord(path, kind);
            return new Place(path, stepId(path), null, 0, 0);
        }
        String recorded = expected.equals(path) || names(formerly).contains(expected) ? expected : null;
        Memory.Trace trace = recorded == null ? null : execution.memory().at(recorded);
        if (recorded == null || trace == null || trace.kind() != kind) {
            throw diverged(expected, path, kind.word());
        }
        if (!recorded.equals(path)) {
            ask(recorded);
        }
        place++;
        // An effect keeps the key it was sent with, whatever it is called now.
        return new Place(recorded, stepId(recorded), trace, trace.tries(), trace.due());
    }

    private List<String> names(List<String> formerly) {
        return formerly.stream().map(name -> StepPath.of(prefix, name)).toList();
    }

    private @Nullable String expected() {
        return execution.memory().expected(prefix, place);
    }

    /** Branches of a forEach begin. True: the record goes on behind it, so all that they ask for is on record. */
    boolean enterBranches(String name) {
        Names.refuseUnstorable(name, prefix);
        String path = StepPath.branches(prefix, name);
        ask(path);
        // Branches that asked for nothing have left no trace; what they ask for now is held against what comes next.
        if (path.equals(expected())) {
            place++;
        }
        return expected() != null;
    }

    /** The scope of an undo that is registered here. */
    String enterUndo(String name) {
        Names.refuseUnstorable(name, prefix);
        if (undo) {
            throw new SemelException(
                            ErrorCode.INVALID_DEFINITION,
                            "Undo \"" + Names.shown(StepPath.undo(prefix, name))
                                    + "\" was registered inside of an undo. It would never run and was not registered.",
                            "Do what it does in the undo itself.")
                    .with("step", prefix);
        }
        String path = StepPath.undo(prefix, name);
        ask(path);
        return path;
    }

    /** What is not on record may be asked for only where the record ends, also that of the scopes around. */
    private void refuseBehindTheRecord(String path, Entry.Kind kind) {
        for (Scope outer = around; outer != null; outer = outer.around) {
            String next = outer.expected();
            if (next != null) {
                throw diverged(next, path, kind.word());
            }
        }
    }

    private RuntimeException diverged(String recorded, String asked, String kind) {
        execution.counters().diverged.increment();
        Memory.Trace trace = execution.memory().at(recorded);
        String there = (trace == null ? "forEach" : trace.kind().word()) + " \"" + Names.shown(recorded) + "\"";
        String here = kind + " \"" + Names.shown(asked) + "\"";
        if (execution.cancelled()) {
            // A person has seen that it is held, and wants its end: what was registered so far is undone.
            throw undo
                    ? new Diverged(asked, "the record goes on with " + there + ", and the code asks for " + here)
                    : new RunCancelled(
                            execution.run().runId(),
                            "its code does not fit its record; " + there + " and what is behind it was not undone");
        }
        throw execution.end(new Unwind.Held(
                "code",
                "The record of this run goes on with " + there + ", but the code asks for " + here
                        + ". Nothing was done and the run is held. Deploy code that asks in the recorded order"
                        + (trace == null ? "" : " (a renamed step says formerly(\"" + Names.last(recorded) + "\"))")
                        + ", or cancel the run."));
    }

    /** One question more; each is asked once. */
    private void ask(String path) {
        check(path);
        if (!execution.asks(path)) {
            throw new SemelException(
                            ErrorCode.INVALID_DEFINITION,
                            "\"" + Names.shown(path) + "\" was used twice in one run. The second one did not run.",
                            "Give each step a name of its own; in a loop use forEach with a key.")
                    .with("step", path);
        }
        execution.current(Names.shown(path));
    }

    /** Whether this scope may be used here and now. */
    void check(String path) {
        if (closed) {
            throw Names.misuse(path, "after its run or branch had ended");
        }
        if (!Thread.currentThread().equals(thread)) {
            throw Names.misuse(path, "by another thread than the one that runs the workflow");
        }
        var unused = Thread.interrupted(); // nobody but the user's own code does that, and no record would say so
        goOn();
        if (busy) {
            throw Names.misuse(path, "inside the code of another step");
        }
    }

    /** Throws again what ended this execution; code that swallows it over and over is left behind. */
    private void goOn() {
        if (execution.over() != null && ++told > PATIENCE) {
            Runnable leave = leftBehind == null ? execution.leftBehind : leftBehind;
            leave.run();
            Ambient.restForEver();
        }
        execution.goOn();
    }

    /** From here on the code of a step runs, in which the context is not to be used, and which may take long. */
    void codeBegins() {
        execution.flush();
        busy = true;
    }

    /** The thread is ours again, and whoever interrupted it meant the step. */
    void codeEnded() {
        busy = false;
        var unused = Thread.interrupted();
    }

    void close() {
        closed = true;
    }

    /** Notes whose deed stood for an effect of this scope; a recovery finds it in the journal. */
    String stoodFor(String path, String first) {
        stoodFor.put(path, first);
        return first;
    }

    /** What is known of that; null where the effect was not suppressed. */
    @Nullable
    String stoodFor(String path) {
        Memory.Trace trace = execution.memory().at(path);
        Entry.Done done = trace == null ? null : trace.done();
        if (done != null && (done.how() == Entry.How.SUPPRESSED || done.how() == Entry.How.REUSED)) {
            return done.ref();
        }
        return stoodFor.get(path);
    }

    /** Notes that a notification of this scope was not sent, because the run sends none. */
    void keepSilent(String path) {
        silent.add(path);
    }

    boolean isSilent(String path) {
        Memory.Trace trace = execution.memory().at(path);
        Entry.Done done = trace == null ? null : trace.done();
        return silent.contains(path) || (done != null && done.how() == Entry.How.SILENT);
    }

    /** New work begins only in a run that nobody cancelled and whose time is not over. What is recorded is replayed. */
    void mayBegin() {
        execution.mayAct();
        if (undo) {
            return;
        }
        if (execution.cancelled()) {
            throw new RunCancelled(execution.run().runId(), "");
        }
        if (isLate()) {
            throw execution.run().timedOut();
        }
    }

    /** Whether its work goes on although the run was cancelled. */
    boolean undoes() {
        return undo;
    }

    /** Whether the run comes to its end and this scope does not undo it: nothing new begins here. */
    boolean stops() {
        return !undo && (execution.cancelled() || isLate());
    }

    private boolean isLate() {
        long deadline = execution.run().deadline();
        return deadline != Write.Rest.NEVER && execution.storeNow() >= deadline;
    }

    /** Waits until then by the store's clock; a run that is cancelled or late does not wait. */
    void waitFor(long due, String reason, String path) {
        while (due > 0 && due > execution.storeNow() && (undo || !(execution.cancelled() || isLate()))) {
            long seen = execution.waits().wakes();
            await(new Waits.Wait(due, Waiting.text(reason, path, due), false, false), seen);
        }
    }

    /** Waits for one thing, at most until the deadline of the run. */
    void await(Waits.Wait wait, long seen) {
        await(wait, seen, undo);
    }

    /** @param late it is waited for although the time of the run may be over */
    void await(Waits.Wait wait, long seen, boolean late) {
        execution.goOn();
        execution.flush();
        if (!late && execution.cancelled()) {
            return; // it came after the last look, and no wake-up will tell of it again
        }
        long due = late ? wait.due() : Math.min(wait.due(), execution.run().deadline());
        try {
            execution.waits().await(new Waits.Wait(due, wait.what(), wait.signals(), wait.doubt()), seen);
        } catch (Unwind.Parked parked) {
            throw execution.end(parked);
        }
        execution.goOn();
    }
}
