package dev.semel.workflow;

import dev.semel.error.TypeMismatch;
import dev.semel.json.Codec;
import java.time.Duration;
import java.time.Instant;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.function.Function;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/**
 * What a workflow does, durably. Everything that goes through it is on record, and what is on record is never done
 * again: after a crash the code runs from its beginning and finds its way by the recorded results. So whatever is not
 * the same each time (the clock, randomness, a database, the network) belongs into a step, an effect, or the methods
 * here. Names are unique within a scope; a loop is a {@link #forEach}, which gives each item a scope of its own.
 */
public final class Context {
    private final Wire wire;

    Context(Durable durable, Codec codec) {
        this.wire = new Wire(durable, codec);
    }

    /** The id of the run that callers see. */
    public String runId() {
        return wire.durable().runId();
    }

    /** The id of a step of this scope: stable over retries, recovery and safe replay, so fit to be sent along. */
    public String stepId(String name) {
        return wire.durable().stepId(name);
    }

    /** A step that is told more than its name: retries, a time limit, earlier names. */
    public StepDraft step(String name) {
        return new StepDraft(wire, name);
    }

    /** Repeatable work, with {@link Retry#STANDARD}: between doing and recording a crash may make it run again. */
    public <T> T step(String name, Class<T> type, Code.Work<T> work) {
        return step(name).run(type, work);
    }

    public <T> T step(String name, TypeRef<T> type, Code.Work<T> work) {
        return step(name).run(type, work);
    }

    public void step(String name, Code.Action action) {
        step(name).run(action);
    }

    /** One deed in the outside world. It needs a protection before it can be done. */
    public EffectDraft effect(String name) {
        return new EffectDraft(wire, name);
    }

    /** Rows in the store's own database, in one commit with the record of the step. */
    public <T> T tx(String name, Class<T> type, Code.TxWork<T> work) {
        return step(name).tx(type, work);
    }

    public <T> T tx(String name, TypeRef<T> type, Code.TxWork<T> work) {
        return step(name).tx(type, work);
    }

    public void tx(String name, Code.TxAction action) {
        step(name).tx(action);
    }

    /** Waits without holding a thread; a restart neither shortens nor prolongs it. */
    public void sleep(String name, Duration length) {
        wire.durable().sleep(name, length);
    }

    public void sleepUntil(String name, Instant due) {
        wire.durable().sleepUntil(name, due);
    }

    /**
     * Waits for the next signal, for as long as it takes. A signal {@linkplain Signal#withKey with a key} may come from
     * whoever knows that key, be it before the run waits.
     */
    public <T> T await(Signal<T> signal) {
        return await(signal.name(), signal);
    }

    /** Waits for the next signal; empty when none came in that time. */
    public <T> Optional<T> await(Signal<T> signal, Duration longest) {
        return await(signal.name(), signal, longest);
    }

    /** With a name of its own, for the same signal awaited twice in one scope. */
    public <T> T await(String name, Signal<T> signal) {
        return awaited(name, signal, null).orElseThrow(() -> new IllegalStateException("a wait without an end ended"));
    }

    public <T> Optional<T> await(String name, Signal<T> signal, Duration longest) {
        return awaited(name, signal, Wire.positive("Wait \"" + name + "\"", "its longest time", longest));
    }

    private <T> Optional<T> awaited(String name, Signal<T> signal, @Nullable Duration longest) {
        JsonNode value = signal.key() == null
                ? wire.durable().await(name, signal.name(), longest)
                : wire.durable().await(name, signal.name(), signal.key(), longest);
        if (value == null) {
            return Optional.empty();
        }
        String what = "The value of signal \"" + signal.name() + "\"";
        T read = wire.codec().read(value, signal.type().type(), what);
        if (read == null) {
            throw new TypeMismatch(
                    what + " is null, which would look as if none had come. It stays on record and was not used.",
                    "Send a value with the signal, such as an empty object.");
        }
        return Optional.of(read);
    }

    /** Asks people: {@code approval("release", a -> a.title("Release 7").to("role:ops"))}. */
    public Decision approval(String name, UnaryOperator<Approval> question) {
        Approval asked = question.apply(Approval.of());
        return wire.durable().approval(name, asked.title().isBlank() ? asked.title(name) : asked);
    }

    /** Does the same for each item, one after another; the steps of an item hang on its key, not on its position. */
    public <T, R> List<R> forEach(String name, Collection<T> items, Function<? super T, ?> key, Code.Each<T, R> each) {
        return forEach(name, items, key).run(each);
    }

    /** The same, to be told how many at once. */
    public <T> Items<T> forEach(String name, Collection<T> items, Function<? super T, ?> key) {
        return new Items<>(wire, name, items, key);
    }

    /** Starts another workflow, once, and waits for its output. */
    public <I, O> O call(Workflow<I, O> workflow, I input) {
        return call(workflow, input, Start.fresh());
    }

    /** Under a key or run id of its own, so that others who ask for the same thing share the run. */
    public <I, O> O call(Workflow<I, O> workflow, I input, Start start) {
        return call(workflow.name(), workflow, input, start);
    }

    /** With a name of its own, for the same workflow called twice in one scope. */
    public <I, O> O call(String name, Workflow<I, O> workflow, I input, Start start) {
        JsonNode output = wire.durable().call(name, new Durable.Child(workflow.name(), workflow.inputOf(input), start));
        return workflow.outputOf(output);
    }

    /** What undoes the work so far, if the run fails or is cancelled later; the last registered is undone first. */
    public void compensate(String name, Code.Undo undo) {
        wire.durable().compensate(name, scope -> undo.run(new Context(scope, wire.codec())));
    }

    /** Sends a signal to another run, once. */
    public <T> void signal(String runId, Signal<T> signal, T value) {
        JsonNode written = wire.codec().write(value, "the value of signal \"" + signal.name() + "\"");
        String name = Key.joined("signal", signal.name(), runId).text();
        wire.durable().signal(name, new Durable.Outgoing(runId, signal.name(), written, null));
    }

    /** The key makes it one signal, whoever else sends it. */
    public <T> void signal(String runId, Signal<T> signal, T value, Key key) {
        JsonNode written = wire.codec().write(value, "the value of signal \"" + signal.name() + "\"");
        String name = Key.joined("signal", signal.name(), runId, key).text();
        wire.durable().signal(name, new Durable.Outgoing(runId, signal.name(), written, key.text()));
    }

    /** The time by the store's clock, recorded. */
    public Instant now() {
        return wire.durable().now();
    }

    /** A new id, recorded. */
    public UUID uuid() {
        return wire.durable().uuid();
    }

    /** A number from 0 (inclusive) to 1 (exclusive), recorded. */
    public double random() {
        return wire.durable().random();
    }

    /** What people see as the state of the business in this run. */
    public void status(String text) {
        wire.durable().status(text);
    }

    /** Waits until everything so far is on disk. Effects do so by themselves. */
    public void durable() {
        wire.durable().durable();
    }
}
