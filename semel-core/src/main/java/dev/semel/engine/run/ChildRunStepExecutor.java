package dev.semel.engine.run;

import dev.semel.admission.RunDeduplicationKey;
import dev.semel.admission.RunDeduplicationKeyRecord;
import dev.semel.definition.DurableWorkflowOperations;
import dev.semel.engine.step.InMemoryRunExecutionState;
import dev.semel.engine.step.PreviousRunResultFinder;
import dev.semel.engine.step.RunExecutionAbort;
import dev.semel.engine.step.StepJournalMatcher;
import dev.semel.engine.step.StepResultSerializer;
import dev.semel.engine.step.StoredRunWaitReasonWriter;
import dev.semel.engine.step.UnknownOutcomeFinder;
import dev.semel.engine.step.WaitingBranchesRunSuspender;
import dev.semel.error.ErrorCode;
import dev.semel.error.SemelException;
import dev.semel.journal.JournalEntry;
import dev.semel.json.StrictJsonCodec;
import dev.semel.run.JournalStepPathFormat;
import dev.semel.run.RunId;
import dev.semel.run.RunState;
import dev.semel.store.DatabaseRows;
import dev.semel.store.StoreFailure;
import dev.semel.store.StoreWrite;
import dev.semel.store.StoreWriteCommand;
import java.util.List;
import java.util.Objects;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.JsonNodeFactory;

/** Starts child runs and waits for them, and sends signals to other runs. The step id makes each happen once. */
public final class ChildRunStepExecutor {
    private static final long LOOK_AGAIN_MICROS = 500_000;
    private static final long LOOK_AGAIN_AT_MOST = 60_000_000;

    private ChildRunStepExecutor() {}

    static JsonNode call(StepJournalMatcher scope, String name, DurableWorkflowOperations.ChildWorkflowCall child) {
        StepJournalMatcher.StepState state = scope.enter(name, JournalEntry.EntryKind.CALL);
        JsonNode known = state.result();
        if (known != null) {
            return known;
        }
        InMemoryRunExecutionState execution = scope.execution();
        boolean shared = child.start().key() != null || child.start().id() != null;
        RunId id = findStarted(state);
        if (id == null && !shared && scope.isStopping()) {
            // an earlier execution started it and ended before it could record that
            id = findOwnChild(execution, state.stepId());
        }
        if (id == null) {
            scope.checkMayBegin();
            execution.awaitDurable();
            id = callWithRetry(scope, state, JournalEntry.EntryKind.CALL, () -> {
                if (child.rejectCycles()) {
                    RunWaitCycleDetector.rejectCallCycle(execution, child);
                }
                RunId before = PreviousRunResultFinder.findCalledRun(execution, state.path(), child);
                RunId called = before != null
                        ? before
                        : execution.engine().childStarter().start(execution.run(), child, state.stepId());
                return shared ? RunWaitCycleDetector.rejectSelfWait(execution, called) : called;
            });
            // CRASH(child-started): the child runs and its start is not recorded; a restart finds it by its key.
            execution.ambient().point("child-started");
            execution.record(
                    new JournalEntry.WaitStart(
                            state.path(),
                            JournalEntry.EntryKind.CALL,
                            execution.ambient().micros(),
                            0,
                            id.text()),
                    64);
        }
        execution.noteAwaited(state.path(), id);
        try {
            return output(scope, state, new Called(id, shared));
        } finally {
            execution.noteAwaited(state.path(), null);
        }
    }

    /** @param shared it has its own key or id, so that it may have several callers */
    private record Called(RunId id, boolean shared) {}

    /** Returns the child that only this step started, or null. */
    private static @Nullable RunId findOwnChild(InMemoryRunExecutionState execution, String stepId) {
        RunDeduplicationKey name =
                new RunDeduplicationKey(execution.run().workspace(), RunDeduplicationKey.KeyKind.CHILD, stepId);
        RunDeduplicationKeyRecord keyRecord = execution.readNullable(
                reads -> reads.findKeys(List.of(name)).keyRecords().getFirst());
        return keyRecord == null ? null : keyRecord.run();
    }

    /** Retries while the store is unavailable; a permanent rejection is recorded as the failure of the step. */
    private static <T> T callWithRetry(
            StepJournalMatcher scope,
            StepJournalMatcher.StepState state,
            JournalEntry.EntryKind kind,
            Supplier<T> call) {
        InMemoryRunExecutionState execution = scope.execution();
        for (int tries = 0; ; tries++) {
            try {
                return call.get();
            } catch (StoreFailure e) {
                throw execution.end(new RunExecutionAbort.StoreUnreachable(e));
            } catch (SemelException rejection) {
                if (!rejection.code().retryable() || rejection.code() == ErrorCode.INTERNAL) {
                    JournalEntry.ErrorDetails problem = StepResultSerializer.toProblem(rejection);
                    long at = execution.ambient().micros();
                    execution.record(new JournalEntry.StepFailure(state.path(), kind, at, problem, 1), 256);
                    throw StepResultSerializer.toFailure(state.path(), problem, 1, rejection);
                }
            }
            long pause = Math.min(LOOK_AGAIN_AT_MOST, LOOK_AGAIN_MICROS << Math.min(tries, 8));
            scope.waitUntil(execution.storeNow() + pause, "store", state.path());
            scope.checkMayBegin();
        }
    }

    private static @Nullable RunId findStarted(StepJournalMatcher.StepState state) {
        JournalEntry.WaitStart begun =
                state.trace() == null ? null : state.trace().started();
        return begun == null || begun.ref() == null ? null : RunId.parse(begun.ref());
    }

    /**
     * A child that stopped with an unknown outcome can still succeed: it is resumed, replayed or decided. Its parent
     * waits on, and its deadline applies afterwards. A cancelled or timed-out parent stops an unshared child and still waits: the
     * child must compensate first. If the child failed and was replayed since, the replay counts.
     */
    private static JsonNode output(StepJournalMatcher scope, StepJournalMatcher.StepState state, Called child) {
        InMemoryRunExecutionState execution = scope.execution();
        for (int looks = 0; ; looks++) {
            long seen = execution.waits().wakeCount();
            DatabaseRows.RunRow run =
                    execution.readNullable(reads -> PreviousRunResultFinder.findEffectiveRun(reads, child.id()));
            if (run == null) {
                throw new SemelException(
                        ErrorCode.NOT_FOUND,
                        "The store no longer has the run that step \"" + state.path()
                                + "\" called. The result of that run is unknown.",
                        "Set a longer retention for finished runs, so that they remain until the calling run has read"
                                + " their result.");
            }
            boolean shared = child.shared() || !run.id().equals(child.id());
            boolean stopping = scope.isStopping();
            boolean unknown = stopping && scope.isTimedOut() && UnknownOutcomeFinder.hasUnknown(execution, run);
            boolean stops = stopping && !unknown && !shared;
            if (run.end() != null && (stops || !run.hasUnknownOutcome())) {
                if (stops && run.state() != RunState.COMPLETED) {
                    scope.checkMayBegin(); // throws: this run caused the end of the child
                }
                return ended(execution, state, run);
            }
            if (stops && run.end() == null) {
                stop(execution, run);
            } else if (stopping && !unknown) {
                scope.checkMayBegin();
            } else {
                execution.checkMayAct();
            }
            if (unknown) {
                scope.awaitPastDeadline(pollWait(execution, state.path(), run, looks), seen);
            } else {
                scope.await(pollWait(execution, state.path(), run, looks), seen, stops);
            }
        }
    }

    /** For a cancelled run whose code ended without reaching the calls of its unshared children. */
    static void stopOpenChildren(InMemoryRunExecutionState execution) {
        if (!execution.cancelled()) {
            return;
        }
        StepJournalMatcher scope = new StepJournalMatcher(execution, JournalStepPathFormat.ROOT, true);
        execution.journal().unfinishedCalls().forEach((path, child) -> {
            RunId id = RunId.parse(child);
            if (id != null && execution.markRequested(path) && id.equals(findOwnChild(execution, scope.stepId(path)))) {
                stopAndAwait(scope, path, id);
            }
        });
    }

    private static void stopAndAwait(StepJournalMatcher scope, String path, RunId child) {
        InMemoryRunExecutionState execution = scope.execution();
        for (int looks = 0; ; looks++) {
            long seen = execution.waits().wakeCount();
            DatabaseRows.RunRow run = execution.readNullable(reads -> reads.claimedRun(child));
            if (run == null || run.end() != null) {
                return;
            }
            execution.checkMayAct();
            stop(execution, run);
            scope.await(pollWait(execution, path, run, looks), seen, true);
        }
    }

    /** Polls at growing intervals; the end of a child also wakes its parent. */
    private static WaitingBranchesRunSuspender.BranchWait pollWait(
            InMemoryRunExecutionState execution, String path, DatabaseRows.RunRow child, int looks) {
        long due = execution.storeNow() + Math.min(LOOK_AGAIN_AT_MOST, LOOK_AGAIN_MICROS << Math.min(looks, 8));
        return new WaitingBranchesRunSuspender.BranchWait(
                due, StoredRunWaitReasonWriter.toJson("run", path, due, child.runIdText()), false, false);
    }

    private static void stop(InMemoryRunExecutionState execution, DatabaseRows.RunRow child) {
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

    private static JsonNode ended(
            InMemoryRunExecutionState execution, StepJournalMatcher.StepState state, DatabaseRows.RunRow run) {
        long at = execution.ambient().micros();
        StoreWrite.RunResult ending = Objects.requireNonNull(run.end()).result();
        if (run.state() == RunState.COMPLETED) {
            String output = ending.output() == null ? "null" : ending.output();
            execution.record(
                    JournalEntry.StepResult.plain(
                            state.path(), JournalEntry.EntryKind.CALL, at, StrictJsonCodec.parse(output)),
                    output.length());
            return StrictJsonCodec.parse(output);
        }
        JournalEntry.ErrorDetails problem = new JournalEntry.ErrorDetails(
                Objects.requireNonNullElse(ending.errorCode(), ErrorCode.STEP_FAILED.slug()),
                List.of("run." + run.state().wireName()),
                "run " + run.runIdText() + " ended as " + run.state().wireName() + ": " + ending.errorMessage());
        execution.record(new JournalEntry.StepFailure(state.path(), JournalEntry.EntryKind.CALL, at, problem, 1), 256);
        throw StepResultSerializer.toFailure(state.path(), problem, 1);
    }

    static void signal(StepJournalMatcher scope, String name, DurableWorkflowOperations.OutgoingSignal signal) {
        StepJournalMatcher.StepState state = scope.enter(name, JournalEntry.EntryKind.SIGNAL);
        if (state.result() != null) {
            return;
        }
        InMemoryRunExecutionState execution = scope.execution();
        scope.checkMayBegin();
        execution.awaitDurable();
        String key = signal.key() == null ? state.stepId() : signal.key();
        StoreWriteCommand.SignalResult delivered = callWithRetry(
                scope,
                state,
                JournalEntry.EntryKind.SIGNAL,
                () -> execution.engine().signalSender().signal(execution.run().workspace(), signal, key));
        // CRASH(signal-sent): the signal was delivered and that is not recorded; a second send is a duplicate.
        execution.ambient().point("signal-sent");
        execution.record(
                JournalEntry.StepResult.plain(
                        state.path(),
                        JournalEntry.EntryKind.SIGNAL,
                        execution.ambient().micros(),
                        JsonNodeFactory.instance.stringNode(delivered.name())),
                64);
    }
}
