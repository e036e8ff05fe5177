package dev.semel.engine;

import dev.semel.error.StepFailed;
import dev.semel.journal.JournalEntry;
import dev.semel.journal.JournalIndex;
import dev.semel.json.StrictJson;
import dev.semel.definition.DurableOperations;
import dev.semel.workflow.Step;
import dev.semel.definition.StepSpec;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/**
 * Runs a repeatable step: returns its recorded result, or runs its code and records the result.
 * The result is submitted before the workflow continues, but not awaited: the next effect and the end of the run wait
 * for durability.
 */
final class StepRunner {
    private final ExecutionScope scope;
    private final Execution execution;

    StepRunner(ExecutionScope scope) {
        this.scope = scope;
        this.execution = scope.execution();
    }

    JsonNode run(StepSpec plan, DurableOperations.StepWork work) {
        // read the journal
        ExecutionScope.StepState place = scope.enter(plan, JournalEntry.EntryKind.STEP);
        JsonNode known = place.result();
        if (known != null) {
            return known;
        }
        // run the code
        for (int attempt = place.attempts() + 1; ; attempt++) {
            scope.waitUntil(place.retryDue(), "retry", place.path());
            scope.checkMayBegin();
            Step step = new StepHandle(place.stepId(), place.stepId(), attempt);
            JsonNode result;
            scope.enterUserCode();
            try {
                result = StepAttempt.of(plan, execution.ambient()).run(step, work);
            } catch (Throwable failure) {
                scope.leaveUserCode();
                place = again(place, plan, attempt, failure);
                continue;
            }
            scope.leaveUserCode();
            // CRASH(step-done): the result is not recorded; the step runs again, which repeatable work allows.
            execution.ambient().point("step-done");
            // record the result
            return recorded(place, result, attempt);
        }
    }

    private JsonNode recorded(ExecutionScope.StepState place, @Nullable JsonNode result, int attempts) {
        StepResults.StorableResult fit = StepResults.toStorable(result, place.path(), execution.engine().limits());
        if (fit.problem() != null) {
            throw failed(place, fit.problem(), attempts, null);
        }
        long at = execution.ambient().micros();
        execution.record(
                new JournalEntry.StepResult(place.path(), JournalEntry.EntryKind.STEP, at, fit.value(), JournalEntry.StepOutcome.DONE, attempts, null),
                fit.bytes());
        // The body gets what a recovery would return, as its own copy that it may change.
        return fit.value().deepCopy();
    }

    /** Returns the state of the next attempt, or fails the step. */
    private ExecutionScope.StepState again(ExecutionScope.StepState place, StepSpec plan, int attempt, Throwable failure) {
        if (failure instanceof ExecutionAbort unwind) {
            throw unwind;
        }
        execution.ambient().checkAlive();
        JournalEntry.ErrorDetails problem = StepResults.toProblem(failure);
        if (attempt >= plan.retry().attempts() || StepAttempt.isFinal(plan, failure)) {
            throw failed(place, problem, attempt, failure);
        }
        long now = execution.storeNow();
        long due = now + StepAttempt.retryDelayMicros(plan.retry(), attempt, failure, execution.ambient());
        execution.counters().retries.increment();
        execution.record(new JournalEntry.AttemptFailure(place.path(), JournalEntry.EntryKind.STEP, now, problem, attempt, due), 256);
        return place.withRetryAt(due);
    }

    private StepFailed failed(ExecutionScope.StepState place, JournalEntry.ErrorDetails problem, int attempts, @Nullable Throwable cause) {
        long at = execution.ambient().micros();
        execution.record(new JournalEntry.StepFailure(place.path(), JournalEntry.EntryKind.STEP, at, problem, attempts), 256);
        return cause == null
                ? StepResults.toFailure(place.path(), problem, attempts)
                : StepResults.toFailure(place.path(), problem, attempts, cause);
    }

    /** The step as its own code sees it: id, key and number of the attempt. */
    record StepHandle(String id, String key, int attempt) implements Step {}

    /** Returns the recorded result of a step, or rethrows its recorded failure; null if it has not ended. */
    static @Nullable JsonNode recordedResult(JournalIndex.StepRecord trace, String path) {
        if (trace.failed() != null) {
            throw StepResults.toFailure(path, trace.failed().error(), trace.failed().attempts());
        }
        return trace.done() == null ? null : StrictJson.parse(StrictJson.write(trace.done().result()));
    }
}
