package dev.semel.workflow;

import dev.semel.definition.DurableWorkflowOperations;
import dev.semel.definition.JavaWorkflow;
import dev.semel.definition.JavaWorkflowJsonAdapter;
import dev.semel.error.JsonConversionFailed;
import dev.semel.json.JsonCodec;
import java.time.Duration;
import java.time.Instant;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.Callable;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/**
 * The durable operations of a running workflow: steps, effects, timers, signals, approvals and child workflows.
 *
 * <p>Semel records the result of each operation and never executes a recorded one again. After a crash it runs the code
 * from the beginning and returns the recorded results. Put everything that is not deterministic (clock, randomness,
 * database, network) into a step, an effect, or a method of this class.
 *
 * <p>Names are unique within a scope. Use {@link #forEach} for loops: it gives each item its own scope.
 */
public final class Context {
    private final JavaWorkflowJsonAdapter wire;

    Context(DurableWorkflowOperations durable, JsonCodec codec) {
        this.wire = new JavaWorkflowJsonAdapter(durable, codec);
    }

    /** The public id of this run. */
    public String runId() {
        return wire.operations().runId();
    }

    /** The id of a step in this scope. It is stable over retries, recovery and safe replay. */
    public String stepId(String name) {
        return wire.operations().stepId(name);
    }

    /** Builds a step with options: retries, a timeout, earlier names. */
    public StepBuilder step(String name) {
        return new StepBuilder(wire, name);
    }

    /** Runs repeatable code with {@link Retry#STANDARD}. A crash before its result is recorded makes it run again. */
    public <T extends @Nullable Object> T step(String name, Class<T> type, Callable<T> work) {
        return step(name).run(type, _ -> work.call());
    }

    public <T extends @Nullable Object> T step(String name, TypeRef<T> type, Callable<T> work) {
        return step(name).run(type, _ -> work.call());
    }

    /** The same for code that needs its {@link Step}. */
    public <T extends @Nullable Object> T step(String name, Class<T> type, Step.StepFunction<T> work) {
        return step(name).run(type, work);
    }

    public <T extends @Nullable Object> T step(String name, TypeRef<T> type, Step.StepFunction<T> work) {
        return step(name).run(type, work);
    }

    public void step(String name, Step.StepAction action) {
        step(name).run(action);
    }

    /** Builds one side effect in an external system. Choose a protection before you call it. */
    public EffectBuilder effect(String name) {
        return new EffectBuilder(wire, name);
    }

    /** Writes rows to the store's own database, in one commit with the record of the step. */
    public <T extends @Nullable Object> T tx(String name, Class<T> type, Step.TxFunction<T> work) {
        return step(name).tx(type, work);
    }

    public <T extends @Nullable Object> T tx(String name, TypeRef<T> type, Step.TxFunction<T> work) {
        return step(name).tx(type, work);
    }

    public void tx(String name, Step.TxAction action) {
        step(name).tx(action);
    }

    /** Waits without occupying a thread. The due time is recorded, so a restart does not change it. */
    public void sleep(String name, Duration length) {
        wire.operations().sleep(name, length);
    }

    public void sleepUntil(String name, Instant due) {
        wire.operations().sleepUntil(name, due);
    }

    /**
     * Waits for the next signal, without a time limit. A signal {@linkplain Signal#withKey with a key} can be sent by
     * anyone who knows that key, also before the run waits for it.
     */
    public <T> T await(Signal<T> signal) {
        return await(signal.name(), signal);
    }

    /** Waits for the next signal; empty if none arrives in time. */
    public <T> Optional<T> await(Signal<T> signal, Duration longest) {
        return await(signal.name(), signal, longest);
    }

    /** Waits under a step name, for scopes that await the same signal more than once. */
    public <T> T await(String name, Signal<T> signal) {
        return awaitValue(name, signal, null)
                .orElseThrow(() -> new IllegalStateException("a wait without a time limit ended without a signal"));
    }

    public <T> Optional<T> await(String name, Signal<T> signal, Duration longest) {
        return awaitValue(
                name,
                signal,
                JavaWorkflowJsonAdapter.requirePositive("Wait \"" + name + "\"", "its time limit", longest));
    }

    private <T> Optional<T> awaitValue(String name, Signal<T> signal, @Nullable Duration longest) {
        JsonNode value = signal.key() == null
                ? wire.operations().await(name, signal.name(), longest)
                : wire.operations().await(name, signal.name(), signal.key(), longest);
        if (value == null) {
            return Optional.empty();
        }
        String what = "The value of signal \"" + signal.name() + "\"";
        T read = JavaWorkflowJsonAdapter.readOrHold(
                wire.operations(), () -> wire.codec().read(value, signal.type().type(), what));
        if (read == null) {
            throw new JsonConversionFailed(
                    what + " is null, which looks the same as a missing signal. The signal stays recorded and was not"
                            + " used.",
                    "Send a value with the signal, for example an empty object.");
        }
        return Optional.of(read);
    }

    /** Waits for a user's decision: {@code approval("release", a -> a.title("Release 7").to("role:ops"))}. */
    public ApprovalDecision approval(String name, UnaryOperator<ApprovalRequest> question) {
        ApprovalRequest request = question.apply(ApprovalRequest.of());
        return wire.operations().approval(name, request.title().isBlank() ? request.title(name) : request);
    }

    /** Runs the code for each item in sequence. Step ids depend on the item's key, not on its position. */
    public <T, R> List<R> forEach(
            String name, Collection<T> items, Function<? super T, ?> key, WorkflowFunction<T, R> each) {
        return forEach(name, items, key).run(each);
    }

    /** Builds a {@code forEach} with options, for example how many items run concurrently. */
    public <T> ForEachBuilder<T> forEach(String name, Collection<T> items, Function<? super T, ?> key) {
        return new ForEachBuilder<>(wire, name, items, key);
    }

    /** Starts a child workflow once and waits for its output. */
    public <I, O> O call(Workflow<I, O> workflow, I input) {
        return call(workflow, input, Start.fresh());
    }

    /** Starts the child with a key or run id, so that other callers with the same one share the run. */
    public <I, O> O call(Workflow<I, O> workflow, I input, Start start) {
        return call(workflow.name(), workflow, input, start);
    }

    /** Calls under a step name, for scopes that call the same workflow more than once. */
    public <I, O> O call(String name, Workflow<I, O> workflow, I input, Start start) {
        JavaWorkflow<I, O> child = JavaWorkflow.of(workflow);
        JsonNode output = wire.operations()
                .call(
                        name,
                        new DurableWorkflowOperations.ChildWorkflowCall(
                                child.name(), child.inputOf(input), start, false));
        return JavaWorkflowJsonAdapter.readOrHold(wire.operations(), () -> child.outputOf(output));
    }

    /** Registers a compensation. If the run fails or is cancelled later, compensations run in reverse order. */
    public void compensate(String name, Consumer<Context> undo) {
        wire.operations().compensate(name, scope -> undo.accept(new Context(scope, wire.codec())));
    }

    /** Sends a signal to another run once. */
    public <T> void signal(String runId, Signal<T> signal, T value) {
        JsonNode written = wire.codec().write(value, "the value of signal \"" + signal.name() + "\"");
        String name = Key.joinEscaped("signal", signal.name(), runId).text();
        wire.operations()
                .signal(name, new DurableWorkflowOperations.OutgoingSignal(runId, signal.name(), written, null));
    }

    /** Sends a signal to another run; the run receives signals with the same key once, from any sender. */
    public <T> void signal(String runId, Signal<T> signal, T value, Key key) {
        JsonNode written = wire.codec().write(value, "the value of signal \"" + signal.name() + "\"");
        String name = Key.joinEscaped("signal", signal.name(), runId, key).text();
        wire.operations()
                .signal(name, new DurableWorkflowOperations.OutgoingSignal(runId, signal.name(), written, key.text()));
    }

    /** The recorded time, by the store's clock. */
    public Instant now() {
        return wire.operations().now();
    }

    /** A new random id, recorded. */
    public UUID uuid() {
        return wire.operations().uuid();
    }

    /** A random number from 0 (inclusive) to 1 (exclusive), recorded. */
    public double random() {
        return wire.operations().random();
    }

    /** Sets the business status of this run that users see. */
    public void status(String text) {
        wire.operations().status(text);
    }

    /** Waits until everything recorded so far is durable. Effects do this automatically. */
    public void awaitDurable() {
        wire.operations().awaitDurable();
    }
}
