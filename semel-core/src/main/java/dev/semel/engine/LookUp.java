package dev.semel.engine;

import dev.semel.journal.Entry;
import dev.semel.workflow.Durable;
import dev.semel.workflow.EffectPlan;
import dev.semel.workflow.Step;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.MissingNode;

/** Queries a provider for the outcome of an effect by its key. A failed query says nothing about the outcome. */
final class LookUp {
    /** After this many failures in a row a user may decide as well; the queries continue. */
    private static final int UNANSWERED = 3;

    private final Scope scope;
    private final Execution execution;
    private final EffectPlan plan;
    private final Durable.Sending sending;
    private final String path;
    private int failures;
    private Entry.@Nullable Problem problem;

    LookUp(Scope scope, EffectPlan plan, Durable.Sending sending, String path) {
        this.scope = scope;
        this.execution = scope.execution();
        this.plan = plan;
        this.sending = sending;
        this.path = path;
    }

    /** The answer of the provider, or that it gave none. */
    sealed interface Found {
        /** The provider performed the effect, with this result. */
        record Done(JsonNode result) implements Found {}

        /** The provider answered and has no record of the key. */
        record Nothing() implements Found {}

        /** The provider did not answer. The next query is due then. */
        record NoAnswer(long due) implements Found {}
    }

    /** Returns why the last query failed; null if none failed. */
    Entry.@Nullable Problem problem() {
        return problem;
    }

    Found ask(Step step) {
        while (true) {
            scope.codeBegins();
            try {
                JsonNode found = Attempt.of(plan.step(), execution.ambient()).run(step, doing -> {
                    JsonNode answer = sending.find(doing);
                    return answer == null ? MissingNode.getInstance() : answer;
                });
                scope.codeEnded();
                failures = 0;
                return found.isMissingNode() ? new Found.Nothing() : new Found.Done(found);
            } catch (Unwind | Ambient.Death end) {
                throw end;
            } catch (Throwable failure) {
                scope.codeEnded();
                problem = Results.problem(failure);
                failures++;
                long pause =
                        Attempt.pauseMicros(plan.step().retry(), Math.min(failures, 20), failure, execution.ambient());
                long due = execution.storeNow() + pause;
                if (failures >= UNANSWERED) {
                    return new Found.NoAnswer(due);
                }
                scope.waitFor(due, "lookup", path);
                scope.mayBegin();
            }
        }
    }
}
