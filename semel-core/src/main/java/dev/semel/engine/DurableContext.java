package dev.semel.engine;

import dev.semel.journal.JournalEntry;
import dev.semel.run.StepPathFormat;
import dev.semel.store.KeyedSignalOperation;
import dev.semel.workflow.ApprovalRequest;
import dev.semel.workflow.Decision;
import dev.semel.definition.DurableOperations;
import dev.semel.definition.EffectSpec;
import dev.semel.workflow.Outcome;
import dev.semel.definition.StepSpec;
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
final class DurableContext implements DurableOperations {
    private static final JsonNodeFactory JSON = JsonNodeFactory.instance;
    private static final int LONGEST_STATUS = 1_000;

    private final ExecutionScope scope;
    private final Execution execution;

    DurableContext(ExecutionScope scope) {
        this.scope = scope;
        this.execution = scope.execution();
    }

    @Override
    public String runId() {
        return execution.run().runId();
    }

    @Override
    public String stepId(String name) {
        return scope.stepId(StepPathFormat.of(scope.prefix(), name));
    }

    @Override
    public JsonNode step(StepSpec plan, StepWork work) {
        return new StepRunner(scope).run(plan, work);
    }

    @Override
    public Outcome<JsonNode> effect(EffectSpec plan, EffectSender sending) {
        return EffectExecutor.perform(scope, plan, sending);
    }

    @Override
    public @Nullable EarlierEffect suppressedBy(String effect) {
        String ref = scope.suppressedBy(StepPathFormat.of(scope.prefix(), effect));
        if (ref == null) {
            return null;
        }
        String[] parts = ref.split(" ", 2);
        Instant at = parts.length < 2 ? null : Instant.EPOCH.plus(Long.parseLong(parts[1]), ChronoUnit.MICROS);
        return new EarlierEffect(parts[0], at);
    }

    @Override
    public boolean isNotificationSkipped(String effect) {
        return scope.isMuted(StepPathFormat.of(scope.prefix(), effect));
    }

    @Override
    public JsonNode tx(StepSpec plan, TxWork work) {
        return execution.engine().transactionStep().run(scope, plan, work);
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
        ExecutionScope.StepState place = scope.enter(name, JournalEntry.EntryKind.SLEEP);
        if (place.result() != null) {
            return;
        }
        long due;
        if (place.trace() != null && place.trace().started() != null) {
            due = place.trace().started().due();
        } else {
            scope.checkMayBegin();
            long now = execution.storeNow();
            due = dueAfter.applyAsLong(now);
            execution.record(new JournalEntry.WaitStart(place.path(), JournalEntry.EntryKind.SLEEP, now, due, null), 64);
        }
        scope.waitUntil(due, "sleep", place.path());
        scope.checkMayBegin();
        execution.record(JournalEntry.StepResult.plain(place.path(), JournalEntry.EntryKind.SLEEP, execution.storeNow(), JSON.nullNode()), 64);
    }

    @Override
    public @Nullable JsonNode await(String name, String signal, @Nullable Duration longest) {
        return SignalSteps.await(scope, name, signal, longest);
    }

    @Override
    public @Nullable JsonNode await(String name, String signal, String key, @Nullable Duration longest) {
        KeyedSignalOperation.SignalAddress to = new KeyedSignalOperation.SignalAddress(execution.run().workspace(), signal, key);
        return SignalWait.await(scope, name, to, longest);
    }

    @Override
    public @Nullable JsonNode awaitReply(String name, String from, @Nullable Duration longest) {
        return SignalWait.awaitReply(scope, name, KeyedSignalOperation.SignalAddress.reply(execution.run().workspace(), from), longest);
    }

    @Override
    public int depth() {
        return execution.run().depth();
    }

    @Override
    public Decision approval(String name, ApprovalRequest approval) {
        return SignalSteps.awaitApproval(scope, name, approval);
    }

    @Override
    public <I, R> List<R> forEach(String name, KeyedItems<I> items, Branch<I, R> branch) {
        return new ForEachRunner<>(scope, name, items, branch).run();
    }

    @Override
    public JsonNode call(String name, ChildWorkflowCall child) {
        return ChildRuns.call(scope, name, child);
    }

    @Override
    public void compensate(String name, Compensation undo) {
        execution.compensations().register(scope.enterUndo(name), undo);
    }

    @Override
    public void signal(String name, OutgoingSignal signal) {
        ChildRuns.signal(scope, name, signal);
    }

    @Override
    public Instant now() {
        long micros = recorded(JournalEntry.EntryKind.NOW, () -> JSON.numberNode(execution.storeNow()))
                .asLong();
        return Instant.ofEpochSecond(Math.floorDiv(micros, 1_000_000L), Math.floorMod(micros, 1_000_000L) * 1_000);
    }

    @Override
    public UUID uuid() {
        return UUID.fromString(recorded(JournalEntry.EntryKind.UUID, () -> {
                    long high = execution.ambient().random().nextLong() & 0xFFFFFFFFFFFF0FFFL | 0x4000L;
                    long low = execution.ambient().random().nextLong() & 0x3FFFFFFFFFFFFFFFL | 0x8000000000000000L;
                    return JSON.stringNode(new UUID(high, low).toString());
                })
                .asString());
    }

    @Override
    public double random() {
        return recorded(
                        JournalEntry.EntryKind.RANDOM,
                        () -> JSON.numberNode(execution.ambient().random().nextDouble()))
                .asDouble();
    }

    private JsonNode recorded(JournalEntry.EntryKind kind, Supplier<JsonNode> value) {
        ExecutionScope.StepState place = scope.enterCounted(kind);
        JsonNode known = place.result();
        if (known != null) {
            return known;
        }
        JsonNode fresh = value.get();
        execution.record(
                JournalEntry.StepResult.plain(place.path(), kind, execution.ambient().micros(), fresh), 64);
        return fresh;
    }

    @Override
    public void status(String text) {
        ExecutionScope.StepState place = scope.enterCounted(JournalEntry.EntryKind.STATUS);
        if (place.result() == null) {
            scope.checkMayBegin();
            String shown = StepResults.sanitize(text.length() > LONGEST_STATUS ? text.substring(0, LONGEST_STATUS) : text);
            JsonNode status = JSON.stringNode(shown);
            long at = execution.ambient().micros();
            execution.record(JournalEntry.StepResult.plain(place.path(), JournalEntry.EntryKind.STATUS, at, status), shown.length());
            execution.awaitDurable();
        }
    }

    @Override
    public void awaitDurable() {
        scope.checkUsable("durable()");
        execution.awaitDurable();
    }
}
