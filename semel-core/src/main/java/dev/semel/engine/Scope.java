package dev.semel.engine;

import dev.semel.error.ErrorCode;
import dev.semel.error.RunCancelled;
import dev.semel.error.SemelException;
import dev.semel.journal.Entry;
import dev.semel.journal.Memory;
import dev.semel.run.StepId;
import dev.semel.run.StepPath;
import dev.semel.store.Write;
import dev.semel.workflow.StepPlan;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/**
 * One scope of an execution: the body, an item of a forEach, an undo. Its code asks for one thing after the other; this
 * holds each question against the record and says what is known of it.
 */
final class Scope {
    private static final int LONGEST_NAME = 1_000;
    private static final int LONGEST_PATH = 8_000;

    private final Execution execution;
    private final String prefix;
    private final boolean undo;
    private final Thread thread = Thread.currentThread();
    private int place;
    private int unnamed;
    private boolean busy;
    private boolean closed;

    /** @param undo its work goes on although the run was cancelled */
    Scope(Execution execution, String prefix, boolean undo) {
        this.execution = execution;
        this.prefix = prefix;
        this.undo = undo;
    }

    Execution execution() {
        return execution;
    }

    String prefix() {
        return prefix;
    }

    boolean isUndo() {
        return undo;
    }

    String stepId(String path) {
        return StepId.of(execution.run().lineage(), path).text();
    }

    /**
     * What is known of a question.
     *
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
        refuseUnstorable(plan.name());
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
        check(path);
        String recorded = path;
        String expected = execution.memory().expected(prefix, place);
        if (expected != null && !expected.equals(path)) {
            recorded = formerly.stream()
                    .map(name -> StepPath.of(prefix, name))
                    .filter(expected::equals)
                    .findFirst()
                    .orElseThrow(() -> diverged(expected, path, kind));
        }
        if (!execution.ask(path) | (!recorded.equals(path) && !execution.ask(recorded))) {
            throw new SemelException(
                    ErrorCode.INVALID_DEFINITION,
                    "Step \"" + path + "\" was used twice in one run. The second one did not run.",
                    "Give each step a name of its own; in a loop use forEach with a key.");
        }
        execution.current(path);
        if (expected == null) {
            return new Place(path, stepId(path), null, 0, 0);
        }
        place++;
        Memory.Trace trace = execution.memory().at(recorded);
        if (trace != null && trace.kind() != kind) {
            throw diverged(trace.kind().word() + " \"" + recorded + "\"", path, kind);
        }
        // An effect keeps the key it was sent with, whatever it is called now.
        return new Place(
                path, stepId(recorded), trace, trace == null ? 0 : trace.tries(), trace == null ? 0 : trace.due());
    }

    private Unwind.Held diverged(String recorded, String asked, Entry.Kind kind) {
        execution.counters().diverged.increment();
        return execution.end(new Unwind.Held(
                "code",
                "The record of this run goes on with \"" + recorded + "\", but the code asks for " + kind.word() + " \""
                        + asked
                        + "\". Nothing was done and the run is held. Deploy code that asks in the recorded order"
                        + " (a renamed step says formerly(\"" + recorded + "\")), or cancel the run."));
    }

    /** Whether this scope may be used here and now. */
    private void check(String path) {
        execution.goOn();
        if (closed) {
            throw misuse(path, "after its run or branch had ended");
        }
        if (!Thread.currentThread().equals(thread)) {
            throw misuse(path, "by another thread than the one that runs the workflow");
        }
        if (busy) {
            throw misuse(path, "inside the code of another step");
        }
    }

    private static SemelException misuse(String path, String how) {
        return new SemelException(
                ErrorCode.INVALID_DEFINITION,
                "\"" + path + "\" was asked for " + how + ". It was not done.",
                "Use the context in the body itself, on its own thread; for work side by side use forEach.");
    }

    /** From here on the code of a step runs, in which the context is not to be used. */
    void busy(boolean value) {
        busy = value;
    }

    void close() {
        closed = true;
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
        long deadline = execution.run().deadline();
        if (deadline != Write.Rest.NEVER && execution.storeNow() >= deadline) {
            throw execution.run().timedOut();
        }
    }

    /** Waits until then by the store's clock; a run that is cancelled does not wait. */
    void waitFor(long due, String reason, String path) {
        while (due > 0 && due > execution.storeNow() && (undo || !execution.cancelled())) {
            long seen = execution.waits().wakes();
            await(new Waits.Wait(due, Waiting.text(reason, path, due), false, false), seen);
        }
    }

    /** Waits for one thing, at most until the deadline of the run. */
    void await(Waits.Wait wait, long seen) {
        execution.goOn();
        long due = undo ? wait.due() : Math.min(wait.due(), execution.run().deadline());
        try {
            execution.waits().await(new Waits.Wait(due, wait.what(), wait.signals(), wait.doubt()), seen);
        } catch (Unwind.Parked parked) {
            throw execution.end(parked);
        }
        execution.goOn();
    }

    /** A name that no store can hold would keep the run from ever ending. */
    private void refuseUnstorable(String name) {
        boolean unicode = StandardCharsets.UTF_8.newEncoder().canEncode(name);
        boolean fits = name.length() <= LONGEST_NAME && prefix.length() <= LONGEST_PATH;
        if (!unicode || name.isEmpty() || name.indexOf(0) >= 0 || !fits) {
            throw new SemelException(
                    ErrorCode.INVALID_DEFINITION,
                    "The name of a step is empty, longer than " + LONGEST_NAME
                            + " characters, or holds a NUL or half of" + " a surrogate pair. The step did not run.",
                    "Give the step a short name of plain characters.");
        }
    }
}
