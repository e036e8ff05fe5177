package dev.semel.workflow;

import dev.semel.definition.DurableWorkflowOperations;
import dev.semel.definition.JavaWorkflowJsonAdapter;
import dev.semel.definition.StepSpec;
import java.time.Duration;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.JsonNodeFactory;

/** Builds a step: retries, timeout and earlier names; then {@link #run} or {@link #tx} executes it. */
public final class StepBuilder {
    private static final TypeRef<Void> NOTHING = TypeRef.of(Void.class);

    private final JavaWorkflowJsonAdapter wire;
    private StepSpec plan;

    StepBuilder(JavaWorkflowJsonAdapter wire, String name) {
        JavaWorkflowJsonAdapter.requireNotBlank("its name", name);
        this.wire = wire;
        this.plan = StepSpec.named(name).retry(Retry.STANDARD);
    }

    /** The retry policy. Default: {@link Retry#STANDARD}. */
    public StepBuilder retry(Retry value) {
        plan = plan.retry(value);
        return this;
    }

    /** Maximum duration of one attempt. Default: no limit. */
    public StepBuilder timeout(Duration value) {
        plan = plan.timeout(JavaWorkflowJsonAdapter.requirePositive(what(), "its timeout", value));
        return this;
    }

    /** Names of this step in earlier versions of the code, so that unfinished runs find their records. */
    public StepBuilder formerly(String... names) {
        plan = plan.formerly(names);
        return this;
    }

    /** Runs repeatable code. A crash before its result is recorded makes it run again. */
    public <T extends @Nullable Object> T run(Class<T> type, Step.StepFunction<T> work) {
        return run(TypeRef.of(type), work);
    }

    public <T extends @Nullable Object> T run(TypeRef<T> type, Step.StepFunction<T> work) {
        return wire.readResult(wire.operations().step(plan, wire.stepWork(what(), work)), type, what());
    }

    public void run(Step.StepAction action) {
        wire.operations().step(plan, step -> {
            action.run(step);
            return JsonNodeFactory.instance.nullNode();
        });
    }

    /** Writes rows to the store's own database, in one commit with the record of the step. */
    public <T extends @Nullable Object> T tx(Class<T> type, Step.TxFunction<T> work) {
        return tx(TypeRef.of(type), work);
    }

    public <T extends @Nullable Object> T tx(TypeRef<T> type, Step.TxFunction<T> work) {
        DurableWorkflowOperations.TxWork written =
                (sql, step) -> wire.codec().write(work.run(sql, step), "the result of " + what());
        return wire.readResult(wire.operations().tx(plan, written), type, what());
    }

    @SuppressWarnings("NullAway") // nothing is recorded as null
    public void tx(Step.TxAction action) {
        tx(NOTHING, (sql, step) -> {
            action.run(sql, step);
            return null;
        });
    }

    private String what() {
        return "step \"" + plan.name() + "\"";
    }
}
