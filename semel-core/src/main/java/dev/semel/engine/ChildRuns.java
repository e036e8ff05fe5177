package dev.semel.engine;

import dev.semel.error.ErrorCode;
import dev.semel.error.SemelException;
import dev.semel.journal.JournalEntry;
import dev.semel.json.StrictJson;
import dev.semel.admission.KeyRecord;
import dev.semel.run.RunId;
import dev.semel.workflow.RunState;
import dev.semel.run.StepPathFormat;
import dev.semel.store.StoreCommand;
import dev.semel.store.UniqueKey;
import dev.semel.store.StoredRows;
import dev.semel.store.StoreFailure;
import dev.semel.store.StoreWrite;
import dev.semel.definition.DurableOperations;
import java.util.List;
import java.util.Objects;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.JsonNodeFactory;

/** Starts child runs and waits for them, and sends signals to other runs. The step id makes each happen once. */
public final class ChildRuns {
    private static final long LOOK_AGAIN_MICROS = 500_000;
    private static final long LOOK_AGAIN_AT_MOST = 60_000_000;

    private ChildRuns() {}

    /** Starts child runs. The same step always gets the same run. */
    public interface ChildStarter {
        RunId start(RunExecutor.ActiveRun parent, DurableOperations.ChildWorkflowCall child, String stepId);

        /** Returns the id of the workflow that the child would run. */
        String workflowId(RunExecutor.ActiveRun parent, DurableOperations.ChildWorkflowCall child);

        /** Requests the cancellation of a child because its parent is ending. */
        void stop(RunExecutor.ActiveRun parent, RunId child);
    }

    static JsonNode call(ExecutionScope scope, String name, DurableOperations.ChildWorkflowCall child) {
        ExecutionScope.StepState place = scope.enter(name, JournalEntry.EntryKind.CALL);
        JsonNode known = place.result();
        if (known != null) {
            return known;
        }
        Execution execution = scope.execution();
        boolean shared = child.start().key() != null || child.start().id() != null;
        RunId id = findStarted(place);
        if (id == null && !shared && scope.isStopping()) {
            // an earlier execution started it and ended before it could record that
            id = findOwnChild(execution, place.stepId());
        }
        if (id == null) {
            scope.checkMayBegin();
            execution.awaitDurable();
            id = callWithRetry(scope, place, JournalEntry.EntryKind.CALL, () -> {
                if (child.rejectCycles()) {
                    WaitCycleCheck.rejectCallCycle(execution, child);
                }
                RunId before = LineageResults.findCalledRun(execution, place.path(), child);
                RunId called = before != null
                        ? before
                        : execution.engine().childStarter().start(execution.run(), child, place.stepId());
                return shared ? WaitCycleCheck.rejectSelfWait(execution, called) : called;
            });
            // CRASH(child-started): the child runs and its start is not recorded; a restart finds it by its key.
            execution.ambient().point("child-started");
            execution.record(
                    new JournalEntry.WaitStart(
                            place.path(), JournalEntry.EntryKind.CALL, execution.ambient().micros(), 0, id.text()),
                    64);
        }
        return output(scope, place, new Called(id, shared));
    }

    /** @param shared it has its own key or id, so that it may have several callers */
    private record Called(RunId id, boolean shared) {}

    /** Returns the child that only this step started, or null. */
    private static @Nullable RunId findOwnChild(Execution execution, String stepId) {
        UniqueKey name = new UniqueKey(execution.run().workspace(), UniqueKey.KeyKind.CHILD, stepId);
        KeyRecord known =
                execution.readNullable(reads -> reads.findKeys(List.of(name)).keyRecords().getFirst());
        return known == null ? null : known.run();
    }

    /**
     * Calls another run and retries while the store is unavailable; the step id makes repeated calls one.
     * A permanent rejection is recorded as the failure of the step.
     */
    private static <T> T callWithRetry(ExecutionScope scope, ExecutionScope.StepState place, JournalEntry.EntryKind kind, Supplier<T> call) {
        Execution execution = scope.execution();
        for (int tries = 0; ; tries++) {
            try {
                return call.get();
            } catch (StoreFailure e) {
                throw execution.end(new ExecutionAbort.StoreUnreachable(e));
            } catch (SemelException refusal) {
                if (!refusal.code().retryable() || refusal.code() == ErrorCode.INTERNAL) {
                    JournalEntry.ErrorDetails problem = StepResults.toProblem(refusal);
                    long at = execution.ambient().micros();
                    execution.record(new JournalEntry.StepFailure(place.path(), kind, at, problem, 1), 256);
                    throw StepResults.toFailure(place.path(), problem, 1, refusal);
                }
            }
            long pause = Math.min(LOOK_AGAIN_AT_MOST, LOOK_AGAIN_MICROS << Math.min(tries, 8));
            scope.waitUntil(execution.storeNow() + pause, "store", place.path());
            scope.checkMayBegin();
        }
    }

    private static @Nullable RunId findStarted(ExecutionScope.StepState place) {
        JournalEntry.WaitStart begun = place.trace() == null ? null : place.trace().started();
        return begun == null || begun.ref() == null ? null : RunId.parse(begun.ref());
    }

    /**
     * Waits for the end of a child.
     * A parent that is cancelled or timed out stops the child unless it is shared, and still waits: the child must
     * compensate first. If the child failed and was replayed since, the replay counts; replays belong to those who
     * started them.
     */
    private static JsonNode output(ExecutionScope scope, ExecutionScope.StepState place, Called child) {
        Execution execution = scope.execution();
        for (int looks = 0; ; looks++) {
            long seen = execution.waits().wakeCount();
            StoredRows.RunRow run = execution.readNullable(reads -> LineageResults.findEffectiveRun(reads, child.id()));
            if (run == null) {
                throw new SemelException(
                        ErrorCode.NOT_FOUND,
                        "The store no longer has the run that step \"" + place.path()
                                + "\" called. Its result is unknown.",
                        "Set the retention of finished runs longer than the runs that wait for them.");
            }
            boolean shared = child.shared() || !run.id().equals(child.id());
            boolean stops = !shared && scope.isStopping();
            if (run.end() != null) {
                if (stops && run.state() != RunState.COMPLETED) {
                    scope.checkMayBegin(); // throws: this run caused the end of the child
                }
                return ended(execution, place, run);
            }
            if (stops) {
                stop(execution, run);
            } else if (shared) {
                scope.checkMayBegin();
            } else {
                execution.checkMayAct();
            }
            scope.await(pollWait(execution, place.path(), run, looks), seen, stops);
        }
    }

    /**
     * Stops the unshared children of a cancelled run and waits for them, if its code ended without reaching their
     * calls.
     */
    static void stopOpenChildren(Execution execution) {
        if (!execution.cancelled()) {
            return;
        }
        ExecutionScope scope = new ExecutionScope(execution, StepPathFormat.ROOT, true);
        execution.journal().unfinishedCalls().forEach((path, child) -> {
            RunId id = RunId.parse(child);
            if (id != null && execution.markRequested(path) && id.equals(findOwnChild(execution, scope.stepId(path)))) {
                stopAndAwait(scope, path, id);
            }
        });
    }

    private static void stopAndAwait(ExecutionScope scope, String path, RunId child) {
        Execution execution = scope.execution();
        for (int looks = 0; ; looks++) {
            long seen = execution.waits().wakeCount();
            StoredRows.RunRow run = execution.readNullable(reads -> reads.claimedRun(child));
            if (run == null || run.end() != null) {
                return;
            }
            execution.checkMayAct();
            stop(execution, run);
            scope.await(pollWait(execution, path, run, looks), seen, true);
        }
    }

    /** Polls at growing intervals; the end of a child also wakes its parent. */
    private static BranchWaitTracker.BranchWait pollWait(Execution execution, String path, StoredRows.RunRow child, int looks) {
        long due = execution.storeNow() + Math.min(LOOK_AGAIN_AT_MOST, LOOK_AGAIN_MICROS << Math.min(looks, 8));
        return new BranchWaitTracker.BranchWait(due, WaitReasonJson.toJson("run", path, due, child.runIdText()), false, false);
    }

    private static void stop(Execution execution, StoredRows.RunRow child) {
        if (child.progress() == null || child.progress().cancelRequested()) {
            return; // already requested
        }
        try {
            execution.engine().childStarter().stop(execution.run(), child.id());
        } catch (SemelException e) {
            if (!e.code().retryable()) {
                throw e;
            }
            // The store is unavailable: the next poll tries again.
        }
    }

    private static JsonNode ended(Execution execution, ExecutionScope.StepState place, StoredRows.RunRow run) {
        long at = execution.ambient().micros();
        StoreWrite.RunResult ending = Objects.requireNonNull(run.end()).result();
        if (run.state() == RunState.COMPLETED) {
            String output = ending.output() == null ? "null" : ending.output();
            execution.record(JournalEntry.StepResult.plain(place.path(), JournalEntry.EntryKind.CALL, at, StrictJson.parse(output)), output.length());
            return StrictJson.parse(output);
        }
        JournalEntry.ErrorDetails problem = new JournalEntry.ErrorDetails(
                Objects.requireNonNullElse(ending.errorCode(), ErrorCode.STEP_FAILED.slug()),
                List.of("run." + run.state().wireName()),
                "run " + run.runIdText() + " ended " + run.state().wireName() + ": " + ending.errorMessage());
        execution.record(new JournalEntry.StepFailure(place.path(), JournalEntry.EntryKind.CALL, at, problem, 1), 256);
        throw StepResults.toFailure(place.path(), problem, 1);
    }

    static void signal(ExecutionScope scope, String name, DurableOperations.OutgoingSignal signal) {
        ExecutionScope.StepState place = scope.enter(name, JournalEntry.EntryKind.SIGNAL);
        if (place.result() != null) {
            return;
        }
        Execution execution = scope.execution();
        scope.checkMayBegin();
        execution.awaitDurable();
        String key = signal.key() == null ? place.stepId() : signal.key();
        StoreCommand.SignalResult delivered = callWithRetry(
                scope,
                place,
                JournalEntry.EntryKind.SIGNAL,
                () -> execution.engine().signalSender().signal(execution.run().workspace(), signal, key));
        // CRASH(signal-sent): the signal was delivered and that is not recorded; a second send is a duplicate.
        execution.ambient().point("signal-sent");
        execution.record(
                JournalEntry.StepResult.plain(
                        place.path(),
                        JournalEntry.EntryKind.SIGNAL,
                        execution.ambient().micros(),
                        JsonNodeFactory.instance.stringNode(delivered.name())),
                64);
    }

    /** Delivers a signal to a run, whichever worker executes it. */
    @FunctionalInterface
    public interface SignalSender {
        StoreCommand.SignalResult signal(int workspace, DurableOperations.OutgoingSignal signal, String key);
    }
}
