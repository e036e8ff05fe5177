package dev.semel.engine;

import dev.semel.definition.RunDivergedFromJournal;
import dev.semel.definition.StepSpec;
import dev.semel.error.ErrorCode;
import dev.semel.error.JsonConversionFailed;
import dev.semel.error.RunCancelled;
import dev.semel.error.SemelException;
import dev.semel.journal.JournalEntry;
import dev.semel.journal.RunJournalStepIndex;
import dev.semel.run.JournalStepPathFormat;
import dev.semel.run.StepId;
import dev.semel.store.StoreWrite;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/** A scope is the workflow body, a forEach item, or a compensation. Recorded calls return what the journal has. */
final class StepJournalMatcher {
    /** Rethrows of the end of the execution to code that swallows it; nested clean-up may call a few times. */
    private static final int MAX_RETHROWS = 8;

    private static final long LOOK_AGAIN_MICROS = 60_000_000;

    private final InMemoryRunExecutionState execution;
    private final @Nullable StepJournalMatcher enclosing;
    private final String prefix;
    private final boolean undo;
    private final Thread thread = Thread.currentThread();
    private final Map<String, String> suppressedBy = new HashMap<>();
    private final Set<String> muted = new HashSet<>();
    private int place;
    private int unnamed;
    private int rethrows;
    private @Nullable Runnable leftBehind;
    private volatile boolean busy;
    private volatile boolean closed;

    /** @param undo its work continues although the run was cancelled */
    StepJournalMatcher(InMemoryRunExecutionState execution, String prefix, boolean undo) {
        this.execution = execution;
        this.enclosing = null;
        this.prefix = prefix;
        this.undo = undo;
    }

    private StepJournalMatcher(StepJournalMatcher enclosing, String prefix, Runnable leftBehind) {
        this.execution = enclosing.execution;
        this.enclosing = enclosing;
        this.prefix = prefix;
        this.undo = enclosing.undo;
        this.leftBehind = leftBehind;
    }

    /** @param leftBehind called if the branch ignores the end of its execution; its thread never continues */
    StepJournalMatcher branch(String branchPrefix, Runnable leftBehind) {
        return new StepJournalMatcher(this, branchPrefix, leftBehind);
    }

    InMemoryRunExecutionState execution() {
        return execution;
    }

    String prefix() {
        return prefix;
    }

    String stepId(String path) {
        return StepId.of(execution.run().lineage(), path).text();
    }

    /**
     * @param path its path in the journal; a renamed step keeps the path under which it was recorded
     * @param attempts recorded failed attempts
     * @param retryDue when the next attempt is due; 0 for at once
     * @param history about the recorded failed attempts together
     */
    record StepState(
            String path,
            String stepId,
            RunJournalStepIndex.@Nullable StepRecord trace,
            int attempts,
            long retryDue,
            RunJournalStepIndex.AttemptHistory history) {
        /** Returns the recorded result, rethrows a recorded failure, or returns null if neither exists. */
        @Nullable
        JsonNode result() {
            return trace == null ? null : AtLeastOnceStepExecutor.recordedResult(trace, path);
        }

        JournalEntry.@Nullable StepResult done() {
            return trace == null ? null : trace.done();
        }

        StepState afterFailed(JournalEntry.AttemptFailure attempt) {
            return new StepState(path, stepId, null, attempts + 1, attempt.due(), history.plus(attempt));
        }
    }

    StepState enter(StepSpec plan, JournalEntry.EntryKind kind) {
        StepNameValidator.rejectUnstorable(plan.name(), prefix);
        return enter(JournalStepPathFormat.of(prefix, plan.name()), plan.formerly(), kind);
    }

    StepState enter(String name, JournalEntry.EntryKind kind) {
        return enter(StepSpec.named(name), kind);
    }

    /** For calls without a name: numbered in their scope. */
    StepState enterCounted(JournalEntry.EntryKind kind) {
        return enter(JournalStepPathFormat.unnamed(prefix, kind.word(), ++unnamed), List.of(), kind);
    }

    private StepState enter(String path, List<String> formerly, JournalEntry.EntryKind kind) {
        register(path);
        String expected = expected();
        if (expected == null) {
            rejectBeforeJournalEnd(path, kind);
            if (execution.size().shouldYield()) {
                throw execution.end(new RunExecutionAbort.Parked());
            }
            execution.size().beginStep(undo);
            return new StepState(path, stepId(path), null, 0, 0, RunJournalStepIndex.AttemptHistory.NONE);
        }
        String recorded = expected.equals(path) || names(formerly).contains(expected) ? expected : null;
        RunJournalStepIndex.StepRecord trace =
                recorded == null ? null : execution.journal().stepAt(recorded);
        if (recorded == null || trace == null || trace.kind() != kind) {
            throw diverged(expected, path, kind.word());
        }
        if (!recorded.equals(path)) {
            register(recorded);
        }
        place++;
        // An effect keeps the key it was sent with, whatever its name is now.
        return new StepState(recorded, stepId(recorded), trace, trace.failedAttempts(), trace.due(), trace.attempts());
    }

    private List<String> names(List<String> formerly) {
        return formerly.stream()
                .map(name -> JournalStepPathFormat.of(prefix, name))
                .toList();
    }

    private @Nullable String expected() {
        return execution.journal().expectedPath(prefix, place);
    }

    /** True if the journal continues after it, so that all calls of its branches are recorded. */
    boolean enterBranches(String name) {
        StepNameValidator.rejectUnstorable(name, prefix);
        String path = JournalStepPathFormat.branches(prefix, name);
        register(path);
        // Branches without calls have left no entry; what they call now is matched against what comes next.
        if (path.equals(expected())) {
            place++;
        }
        return expected() != null;
    }

    /** Returns the scope of a compensation that is registered here. */
    String enterUndo(String name) {
        StepNameValidator.rejectUnstorable(name, prefix);
        if (undo) {
            throw new SemelException(
                            ErrorCode.INVALID_DEFINITION,
                            "Compensation \""
                                    + StepNameValidator.toDisplay(JournalStepPathFormat.compensation(prefix, name))
                                    + "\" cannot be registered inside another compensation. It was not registered.",
                            "Move its code into the outer compensation.")
                    .with("step", prefix);
        }
        String path = JournalStepPathFormat.compensation(prefix, name);
        register(path);
        return path;
    }

    /** Rejects an unrecorded call where the journal continues, also in an enclosing scope. */
    private void rejectBeforeJournalEnd(String path, JournalEntry.EntryKind kind) {
        for (StepJournalMatcher outer = enclosing; outer != null; outer = outer.enclosing) {
            String next = outer.expected();
            if (next != null) {
                throw diverged(next, path, kind.word());
            }
        }
    }

    private RuntimeException diverged(String recorded, String requested, String kind) {
        execution.counters().diverged.increment();
        RunJournalStepIndex.StepRecord trace = execution.journal().stepAt(recorded);
        String there = (trace == null ? "forEach" : trace.kind().word()) + " \"" + StepNameValidator.toDisplay(recorded)
                + "\"";
        String here = kind + " \"" + StepNameValidator.toDisplay(requested) + "\"";
        if (execution.cancelled()) {
            // A user saw that it is held and cancelled it: registered compensations run.
            throw undo
                    ? new RunDivergedFromJournal(
                            requested, "the journal continues with " + there + ", but the workflow code calls " + here)
                    : new RunCancelled(
                            execution.run().runId(),
                            "the workflow code does not match the journal; " + there
                                    + " and later steps were not compensated");
        }
        throw execution.end(new RunExecutionAbort.Held(
                "code",
                "The journal of this run continues with " + there + ", but the workflow code calls " + here
                        + ". The call did not run and the run is held. Deploy code that makes the calls in the"
                        + " recorded order"
                        + (trace == null
                                ? ""
                                : " (for a renamed step add formerly(\"" + StepNameValidator.lastSegment(recorded)
                                        + "\"))")
                        + ", or cancel the run."));
    }

    /** A recorded value does not fit its type in this code: the run is held, as if the code made another call. */
    RuntimeException toMismatchEnd(JsonConversionFailed mismatch) {
        execution.counters().diverged.increment();
        if (execution.cancelled()) {
            return undo
                    ? mismatch
                    : new RunCancelled(
                            execution.run().runId(),
                            "a recorded value does not fit the workflow code, so later steps were not compensated. "
                                    + mismatch.detail());
        }
        throw execution.end(new RunExecutionAbort.Held(
                "code",
                mismatch.detail() + " The run is held and nothing was compensated. Deploy code whose type accepts the"
                        + " recorded value, or cancel the run."));
    }

    /** Registers a call; each path may be called once. */
    private void register(String path) {
        checkUsable(path);
        if (!execution.markRequested(path)) {
            throw new SemelException(
                            ErrorCode.INVALID_DEFINITION,
                            "The name \"" + StepNameValidator.toDisplay(path)
                                    + "\" was used twice in one run. The second call did not run.",
                            "Give each step a unique name; in a loop use forEach with a key.")
                    .with("step", path);
        }
        execution.currentStep(StepNameValidator.toDisplay(path));
    }

    /** Checks that this scope may be used here and now. */
    void checkUsable(String path) {
        if (closed) {
            throw StepNameValidator.misuseError(path, "after its run or branch had ended");
        }
        if (!Thread.currentThread().equals(thread)) {
            throw StepNameValidator.misuseError(path, "on a thread other than the thread of the workflow");
        }
        var unused = Thread.interrupted(); // only user code interrupts this thread, and the journal would not show it
        goOn();
        if (busy) {
            throw StepNameValidator.misuseError(path, "inside the code of another step");
        }
    }

    /** Rethrows what ended this execution. Abandons the thread of code that swallows it repeatedly. */
    private void goOn() {
        if (execution.endReason() != null && ++rethrows > MAX_RETHROWS) {
            Runnable leave = leftBehind == null ? execution.onAbandoned : leftBehind;
            leave.run();
            ClockAndRandomSource.parkForever();
        }
        execution.throwIfEnded();
    }

    /** Marks the start of step code, which must not use the context and may take long. */
    void enterUserCode() {
        execution.flush();
        busy = true;
    }

    /** Marks the end of step code and clears an interrupt that was meant for the step. */
    void leaveUserCode() {
        busy = false;
        var unused = Thread.interrupted();
    }

    void close() {
        closed = true;
    }

    /** Notes which run sent a suppressed effect instead. A recovery finds it in the journal. */
    String suppressedBy(String path, String first) {
        suppressedBy.put(path, first);
        return first;
    }

    /** Returns that run and time; null if the effect was not suppressed. */
    @Nullable
    String suppressedBy(String path) {
        RunJournalStepIndex.StepRecord trace = execution.journal().stepAt(path);
        JournalEntry.StepResult done = trace == null ? null : trace.done();
        if (done != null
                && (done.outcome() == JournalEntry.StepOutcome.SUPPRESSED
                        || done.outcome() == JournalEntry.StepOutcome.REUSED)) {
            return done.ref();
        }
        return suppressedBy.get(path);
    }

    /** Notes that a notification was not sent, because the run sends none. */
    void markMuted(String path) {
        muted.add(path);
    }

    boolean isMuted(String path) {
        RunJournalStepIndex.StepRecord trace = execution.journal().stepAt(path);
        JournalEntry.StepResult done = trace == null ? null : trace.done();
        return muted.contains(path) || (done != null && done.outcome() == JournalEntry.StepOutcome.SILENT);
    }

    /** Checks that new work may begin: the run is neither cancelled nor timed out. Recorded steps replay regardless. */
    void checkMayBegin() {
        checkNotCancelled();
        if (isTimedOut()) {
            throw timeOut();
        }
    }

    /** For a step that has begun: its outcome comes before the deadline of the run. */
    void checkNotCancelled() {
        execution.checkMayAct();
        if (!undo && execution.cancelled()) {
            throw new RunCancelled(execution.run().runId(), "");
        }
    }

    /** Returns the end of a late run once no outcome is unknown: what its code does then must not be a guess. */
    RuntimeException timeOut() {
        while (true) {
            long seen = execution.waits().wakeCount();
            checkNotCancelled();
            if (!UnknownOutcomeFinder.hasUnknown(execution)) {
                return execution.run().timedOut();
            }
            long due = execution.storeNow() + LOOK_AGAIN_MICROS; // a decision, or the end of a called run, wakes it
            String what = StoredRunWaitReasonWriter.toJson("effect", execution.currentStep(), due);
            awaitPastDeadline(new WaitingBranchesRunSuspender.BranchWait(due, what, false, false), seen);
        }
    }

    /** Whether its work continues although the run was cancelled. */
    boolean isCompensation() {
        return undo;
    }

    /** Whether the run is ending and this scope is not a compensation: nothing new begins here. */
    boolean isStopping() {
        return !undo && (execution.cancelled() || isLate());
    }

    /** Whether the run has reached its deadline and its own code, not a compensation, executes. */
    boolean isTimedOut() {
        return !undo && !execution.cancelled() && isLate();
    }

    private boolean isLate() {
        long deadline = execution.run().deadline();
        return deadline != StoreWrite.Suspension.NEVER && execution.storeNow() >= deadline;
    }

    /** Waits until a time of the store clock. A cancelled or timed-out run does not wait. */
    void waitUntil(long due, String reason, String path) {
        waitUntil(due, StoredRunWaitReasonWriter.toJson(reason, path, due));
    }

    /** Waits for the next attempt of a step. */
    void waitForRetry(long due, String path, RunJournalStepIndex.AttemptHistory history) {
        waitUntil(due, StoredRunWaitReasonWriter.retryJson(path, due, history.last()));
    }

    private void waitUntil(long due, String description) {
        while (due > 0 && due > execution.storeNow() && (undo || !(execution.cancelled() || isLate()))) {
            long seen = execution.waits().wakeCount();
            await(new WaitingBranchesRunSuspender.BranchWait(due, description, false, false), seen);
        }
    }

    /** Waits also after the deadline of the run; a cancellation ends the wait. {@code seen}: read before the last check. */
    void awaitPastDeadline(WaitingBranchesRunSuspender.BranchWait wait, long seen) {
        if (undo || !execution.cancelled()) {
            await(wait, seen, true);
        }
    }

    /** Waits, at most until the deadline of the run. */
    void await(WaitingBranchesRunSuspender.BranchWait wait, long seen) {
        await(wait, seen, undo);
    }

    /** @param late waits even after the deadline of the run */
    void await(WaitingBranchesRunSuspender.BranchWait wait, long seen, boolean late) {
        execution.throwIfEnded();
        execution.flush();
        if (!late && execution.cancelled()) {
            return; // the cancel came after the last check, and no wake-up follows
        }
        long due = late ? wait.due() : Math.min(wait.due(), execution.run().deadline());
        try {
            execution
                    .waits()
                    .await(
                            new WaitingBranchesRunSuspender.BranchWait(
                                    due, wait.description(), wait.forSignal(), wait.forDoubt()),
                            seen);
        } catch (RunExecutionAbort.Parked parked) {
            throw execution.end(parked);
        }
        execution.throwIfEnded();
    }
}
