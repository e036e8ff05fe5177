package dev.semel.engine;

import dev.semel.journal.Entry;
import dev.semel.run.StepPath;
import dev.semel.store.Letter;
import dev.semel.workflow.Approval;
import dev.semel.workflow.Decision;
import dev.semel.workflow.Durable;
import dev.semel.workflow.EffectPlan;
import dev.semel.workflow.Outcome;
import dev.semel.workflow.StepPlan;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.UUID;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.JsonNodeFactory;

/** The engine's implementation of the durable API that the code of a workflow calls, for one scope. */
final class DurableScope implements Durable {
    private static final JsonNodeFactory JSON = JsonNodeFactory.instance;
    private static final int LONGEST_STATUS = 1_000;

    private final Scope scope;
    private final Execution execution;

    DurableScope(Scope scope) {
        this.scope = scope;
        this.execution = scope.execution();
    }

    @Override
    public String runId() {
        return execution.run().runId();
    }

    @Override
    public String stepId(String name) {
        return scope.stepId(StepPath.of(scope.prefix(), name));
    }

    @Override
    public JsonNode step(StepPlan plan, Work work) {
        return new StepRunner(scope).step(plan, work);
    }

    @Override
    public Outcome<JsonNode> effect(EffectPlan plan, Sending sending) {
        return EffectGate.perform(scope, plan, sending);
    }

    @Override
    public @Nullable Earlier earlier(String effect) {
        String ref = scope.stoodFor(StepPath.of(scope.prefix(), effect));
        if (ref == null) {
            return null;
        }
        String[] parts = ref.split(" ", 2);
        Instant at = parts.length < 2 ? null : Instant.EPOCH.plus(Long.parseLong(parts[1]), ChronoUnit.MICROS);
        return new Earlier(parts[0], at);
    }

    @Override
    public boolean isSilent(String effect) {
        return scope.isSilent(StepPath.of(scope.prefix(), effect));
    }

    @Override
    public JsonNode tx(StepPlan plan, TxWork work) {
        return execution.engine().desk().tx(scope, plan, work);
    }

    @Override
    public void sleep(String name, Duration length) {
        sleep(name, now -> Micros.after(now, length));
    }

    @Override
    public void sleepUntil(String name, Instant due) {
        sleep(name, _ -> Micros.of(due));
    }

    private void sleep(String name, java.util.function.LongUnaryOperator dueAfter) {
        Scope.Place place = scope.enter(name, Entry.Kind.SLEEP);
        if (place.result() != null) {
            return;
        }
        long due;
        if (place.trace() != null && place.trace().begun() != null) {
            due = place.trace().begun().due();
        } else {
            scope.mayBegin();
            long now = execution.storeNow();
            due = dueAfter.applyAsLong(now);
            execution.record(new Entry.Begun(place.path(), Entry.Kind.SLEEP, now, due, null), 64);
        }
        scope.waitFor(due, "sleep", place.path());
        scope.mayBegin();
        execution.record(Entry.Done.plain(place.path(), Entry.Kind.SLEEP, execution.storeNow(), JSON.nullNode()), 64);
    }

    @Override
    public @Nullable JsonNode await(String name, String signal, @Nullable Duration longest) {
        return Signals.await(scope, name, signal, longest);
    }

    @Override
    public @Nullable JsonNode await(String name, String signal, String key, @Nullable Duration longest) {
        Letter.Address to = new Letter.Address(execution.run().workspace(), signal, key);
        return Letterbox.await(scope, name, to, longest);
    }

    @Override
    public @Nullable JsonNode awaitReply(String name, String from, @Nullable Duration longest) {
        return Letterbox.reply(scope, name, Letter.Address.reply(execution.run().workspace(), from), longest);
    }

    @Override
    public int depth() {
        return execution.run().depth();
    }

    @Override
    public Decision approval(String name, Approval approval) {
        return Signals.approval(scope, name, approval);
    }

    @Override
    public <I, R> List<R> forEach(String name, Items<I> items, Branch<I, R> branch) {
        return new Branches<>(scope, name, items, branch).run();
    }

    @Override
    public JsonNode call(String name, Child child) {
        return Children.call(scope, name, child);
    }

    @Override
    public void compensate(String name, Undo undo) {
        execution.undos().add(scope.enterUndo(name), undo);
    }

    @Override
    public void signal(String name, Outgoing signal) {
        Children.signal(scope, name, signal);
    }

    @Override
    public Instant now() {
        long micros = recorded(Entry.Kind.NOW, () -> JSON.numberNode(execution.storeNow()))
                .asLong();
        return Instant.ofEpochSecond(Math.floorDiv(micros, 1_000_000L), Math.floorMod(micros, 1_000_000L) * 1_000);
    }

    @Override
    public UUID uuid() {
        return UUID.fromString(recorded(Entry.Kind.UUID, () -> {
                    long high = execution.ambient().random().nextLong() & 0xFFFFFFFFFFFF0FFFL | 0x4000L;
                    long low = execution.ambient().random().nextLong() & 0x3FFFFFFFFFFFFFFFL | 0x8000000000000000L;
                    return JSON.stringNode(new UUID(high, low).toString());
                })
                .asString());
    }

    @Override
    public double random() {
        return recorded(
                        Entry.Kind.RANDOM,
                        () -> JSON.numberNode(execution.ambient().random().nextDouble()))
                .asDouble();
    }

    private JsonNode recorded(Entry.Kind kind, Supplier<JsonNode> value) {
        Scope.Place place = scope.enterUnnamed(kind);
        JsonNode known = place.result();
        if (known != null) {
            return known;
        }
        JsonNode fresh = value.get();
        execution.record(
                Entry.Done.plain(place.path(), kind, execution.ambient().micros(), fresh), 64);
        return fresh;
    }

    @Override
    public void status(String text) {
        Scope.Place place = scope.enterUnnamed(Entry.Kind.STATUS);
        if (place.result() == null) {
            scope.mayBegin();
            String shown = Results.clean(text.length() > LONGEST_STATUS ? text.substring(0, LONGEST_STATUS) : text);
            JsonNode status = JSON.stringNode(shown);
            long at = execution.ambient().micros();
            execution.record(Entry.Done.plain(place.path(), Entry.Kind.STATUS, at, status), shown.length());
            execution.durable();
        }
    }

    @Override
    public void durable() {
        scope.check("durable()");
        execution.durable();
    }
}
