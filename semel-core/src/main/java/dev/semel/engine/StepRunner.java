package dev.semel.engine;

import dev.semel.error.StepFailed;
import dev.semel.journal.Entry;
import dev.semel.journal.Memory;
import dev.semel.json.Json;
import dev.semel.workflow.Durable;
import dev.semel.workflow.Step;
import dev.semel.workflow.StepPlan;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/**
 * Runs a repeatable step: returns its recorded result, or runs its code and records the result.
 * The result is submitted before the workflow continues, but not awaited: the next effect and the end of the run wait
 * for durability.
 */
final class StepRunner {
    private final Scope scope;
    private final Execution execution;

    StepRunner(Scope scope) {
        this.scope = scope;
        this.execution = scope.execution();
    }

    JsonNode step(StepPlan plan, Durable.Work work) {
        // read the journal
        Scope.Place place = scope.enter(plan, Entry.Kind.STEP);
        JsonNode known = place.result();
        if (known != null) {
            return known;
        }
        // run the code
        for (int attempt = place.tries() + 1; ; attempt++) {
            scope.waitFor(place.retryDue(), "retry", place.path());
            scope.mayBegin();
            Step step = new Doing(place.stepId(), place.stepId(), attempt);
            JsonNode result;
            scope.codeBegins();
            try {
                result = Attempt.of(plan, execution.ambient()).run(step, work);
            } catch (Throwable failure) {
                scope.codeEnded();
                place = again(place, plan, attempt, failure);
                continue;
            }
            scope.codeEnded();
            // CRASH(step-done): the result is not recorded; the step runs again, which repeatable work allows.
            execution.ambient().point("step-done");
            // record the result
            return recorded(place, result, attempt);
        }
    }

    private JsonNode recorded(Scope.Place place, @Nullable JsonNode result, int attempts) {
        Results.Fit fit = Results.fit(result, place.path(), execution.engine().limits());
        if (fit.problem() != null) {
            throw failed(place, fit.problem(), attempts, null);
        }
        long at = execution.ambient().micros();
        execution.record(
                new Entry.Done(place.path(), Entry.Kind.STEP, at, fit.kept(), Entry.How.DONE, attempts, null),
                fit.bytes());
        // The body gets what a recovery would return, as its own copy that it may change.
        return fit.kept().deepCopy();
    }

    /** Returns the state of the next attempt, or fails the step. */
    private Scope.Place again(Scope.Place place, StepPlan plan, int attempt, Throwable failure) {
        if (failure instanceof Unwind unwind) {
            throw unwind;
        }
        execution.ambient().alive();
        Entry.Problem problem = Results.problem(failure);
        if (attempt >= plan.retry().attempts() || Attempt.isFinal(plan, failure)) {
            throw failed(place, problem, attempt, failure);
        }
        long now = execution.storeNow();
        long due = now + Attempt.pauseMicros(plan.retry(), attempt, failure, execution.ambient());
        execution.counters().retries.increment();
        execution.record(new Entry.Tried(place.path(), Entry.Kind.STEP, now, problem, attempt, due), 256);
        return place.triedUntil(due);
    }

    private StepFailed failed(Scope.Place place, Entry.Problem problem, int attempts, @Nullable Throwable cause) {
        long at = execution.ambient().micros();
        execution.record(new Entry.Failed(place.path(), Entry.Kind.STEP, at, problem, attempts), 256);
        return cause == null
                ? Results.failure(place.path(), problem, attempts)
                : Results.failure(place.path(), problem, attempts, cause);
    }

    /** The step as its own code sees it: id, key and number of the attempt. */
    record Doing(String id, String key, int attempt) implements Step {}

    /** Returns the recorded result of a step, or rethrows its recorded failure; null if it has not ended. */
    static @Nullable JsonNode replayed(Memory.Trace trace, String path) {
        if (trace.failed() != null) {
            throw Results.failure(path, trace.failed().problem(), trace.failed().attempts());
        }
        return trace.done() == null ? null : Json.parse(Json.write(trace.done().result()));
    }
}
