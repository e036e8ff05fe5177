package dev.semel.engine.step;

import dev.semel.definition.DurableWorkflowOperations;
import dev.semel.definition.StepSpec;
import dev.semel.error.StepFailed;
import dev.semel.journal.JournalEntry;
import dev.semel.journal.RunJournalStepIndex;
import dev.semel.workflow.Step;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/** The result is submitted but not awaited: the next effect and the end of the run wait for durability. */
public final class AtLeastOnceStepExecutor {
    private final StepJournalMatcher scope;
    private final InMemoryRunExecutionState execution;

    public AtLeastOnceStepExecutor(StepJournalMatcher scope) {
        this.scope = scope;
        this.execution = scope.execution();
    }

    public JsonNode run(StepSpec plan, DurableWorkflowOperations.StepWork work) {
        // read the journal
        StepJournalMatcher.StepState state = scope.enter(plan, JournalEntry.EntryKind.STEP);
        JsonNode known = state.result();
        if (known != null) {
            return known;
        }
        // run the code
        for (int attempt = state.attempts() + 1; ; attempt++) {
            scope.waitForRetry(state.retryDue(), state.path(), state.history());
            scope.checkMayBegin();
            long started = execution.ambient().micros();
            if (plan.external()) {
                // Not awaited: an attempt that a crash cuts off is listed if the store has this entry by then.
                execution.record(
                        new JournalEntry.WaitStart(state.path(), JournalEntry.EntryKind.STEP, started, 0, null), 64);
                execution.submitEntries();
            }
            Step step = new StepHandle(state.stepId(), state.stepId(), attempt);
            JsonNode result;
            scope.enterUserCode();
            try {
                result = StepAttemptRunner.of(plan, execution.ambient()).run(step, work);
            } catch (Throwable failure) {
                scope.leaveUserCode();
                state = again(state, plan, new FailedTry(attempt, started, failure));
                continue;
            }
            scope.leaveUserCode();
            // CRASH(step-done): the result is not recorded; the step runs again, which repeatable work allows.
            execution.ambient().point("step-done");
            // record the result
            return recorded(state, result, attempt);
        }
    }

    private JsonNode recorded(StepJournalMatcher.StepState state, @Nullable JsonNode result, int attempts) {
        StepResultSerializer.StorableResult fit = StepResultSerializer.toStorable(
                result, state.path(), execution.engine().limits());
        if (fit.problem() != null) {
            throw failed(state, fit.problem(), attempts, null);
        }
        long at = execution.ambient().micros();
        execution.record(
                new JournalEntry.StepResult(
                        state.path(),
                        JournalEntry.EntryKind.STEP,
                        at,
                        fit.value(),
                        JournalEntry.StepOutcome.DONE,
                        attempts,
                        null),
                fit.bytes());
        // The body gets what a recovery would return, as its own copy that it may change.
        return fit.value().deepCopy();
    }

    private record FailedTry(int attempt, long started, Throwable failure) {}

    /** Returns the state of the next attempt, or fails the step. */
    private StepJournalMatcher.StepState again(StepJournalMatcher.StepState state, StepSpec plan, FailedTry tried) {
        int attempt = tried.attempt();
        Throwable failure = tried.failure();
        if (failure instanceof RunExecutionAbort unwind) {
            throw unwind;
        }
        execution.ambient().checkAlive();
        JournalEntry.ErrorDetails problem = StepResultSerializer.toProblem(failure);
        boolean unsent = StepAttemptRunner.wasNotSent(failure);
        long now = execution.storeNow();
        long firstAt = state.history().firstAt() == 0 ? now : state.history().firstAt();
        RetryLimit limit = new RetryLimit(
                plan.retry(), attempt, firstAt, unsent && state.history().allUnsent());
        if (limit.isReached(now) || StepAttemptRunner.isFinal(plan, failure)) {
            throw failed(state, problem, attempt, failure);
        }
        execution.counters().retries.increment();
        JournalEntry.AttemptFailure failed = new JournalEntry.AttemptFailure(
                state.path(),
                JournalEntry.EntryKind.STEP,
                now,
                problem,
                attempt,
                limit.nextDue(now, failure, execution.ambient()),
                unsent,
                tried.started());
        execution.record(failed, 256);
        return state.afterFailed(failed);
    }

    private StepFailed failed(
            StepJournalMatcher.StepState state,
            JournalEntry.ErrorDetails problem,
            int attempts,
            @Nullable Throwable cause) {
        long at = execution.ambient().micros();
        execution.record(
                new JournalEntry.StepFailure(state.path(), JournalEntry.EntryKind.STEP, at, problem, attempts), 256);
        return StepResultSerializer.toFailure(state.path(), problem, attempts, cause);
    }

    public record StepHandle(String id, String key, int attempt) implements Step {}

    /** Returns the recorded result of a step, or rethrows its recorded failure; null if it has not ended. */
    static @Nullable JsonNode recordedResult(RunJournalStepIndex.StepRecord trace, String path) {
        if (trace.failed() != null) {
            throw StepResultSerializer.toFailure(
                    path, trace.failed().error(), trace.failed().attempts());
        }
        return trace.done() == null ? null : trace.done().copyOfResult();
    }
}
