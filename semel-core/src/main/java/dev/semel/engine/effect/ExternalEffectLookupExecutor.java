package dev.semel.engine.effect;

import dev.semel.definition.DurableWorkflowOperations;
import dev.semel.definition.EffectSpec;
import dev.semel.engine.ClockAndRandomSource;
import dev.semel.engine.step.InMemoryRunExecutionState;
import dev.semel.engine.step.RunExecutionAbort;
import dev.semel.engine.step.StepAttemptRunner;
import dev.semel.engine.step.StepJournalMatcher;
import dev.semel.engine.step.StepResultSerializer;
import dev.semel.journal.JournalEntry;
import dev.semel.workflow.Step;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.MissingNode;

/** Queries a provider for the outcome of an effect by its key. A failed query says nothing about the outcome. */
final class ExternalEffectLookupExecutor {
    /** After this many failures in a row a user may decide as well; the queries continue. */
    private static final int UNANSWERED = 3;

    private final StepJournalMatcher scope;
    private final InMemoryRunExecutionState execution;
    private final EffectSpec plan;
    private final DurableWorkflowOperations.EffectSender sending;
    private final String path;
    private int failures;
    private JournalEntry.@Nullable ErrorDetails problem;

    ExternalEffectLookupExecutor(
            StepJournalMatcher scope, EffectSpec plan, DurableWorkflowOperations.EffectSender sending, String path) {
        this.scope = scope;
        this.execution = scope.execution();
        this.plan = plan;
        this.sending = sending;
        this.path = path;
    }

    sealed interface LookupResult {
        record Done(JsonNode result) implements LookupResult {}

        /** The provider answered and has no record of the key. */
        record NotFound() implements LookupResult {}

        /** The provider did not answer. The next query is due then. */
        record NoAnswer(long due) implements LookupResult {}
    }

    /** Returns why the last query failed; null if none failed. */
    JournalEntry.@Nullable ErrorDetails problem() {
        return problem;
    }

    LookupResult query(Step step) {
        while (true) {
            scope.enterUserCode();
            try {
                JsonNode found = StepAttemptRunner.of(plan.step(), execution.ambient())
                        .run(step, doing -> {
                            JsonNode answer = sending.lookup(doing);
                            return answer == null ? MissingNode.getInstance() : answer;
                        });
                scope.leaveUserCode();
                failures = 0;
                return found.isMissingNode() ? new LookupResult.NotFound() : new LookupResult.Done(found);
            } catch (RunExecutionAbort | ClockAndRandomSource.SimulatedCrash end) {
                throw end;
            } catch (Throwable failure) {
                scope.leaveUserCode();
                problem = StepResultSerializer.toProblem(failure);
                failures++;
                long pause = StepAttemptRunner.retryDelayMicros(
                        plan.step().retry(), Math.min(failures, 20), failure, execution.ambient());
                long due = execution.storeNow() + pause;
                if (failures < UNANSWERED) {
                    scope.waitUntil(due, "lookup", path);
                    scope.checkNotCancelled();
                }
                if (failures >= UNANSWERED || scope.isTimedOut()) {
                    return new LookupResult.NoAnswer(due);
                }
            }
        }
    }
}
