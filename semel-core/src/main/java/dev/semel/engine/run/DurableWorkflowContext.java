package dev.semel.engine.run;

import dev.semel.definition.DurableWorkflowOperations;
import dev.semel.definition.EffectSpec;
import dev.semel.definition.StepSpec;
import dev.semel.engine.effect.EffectExecutor;
import dev.semel.engine.signal.KeyedSignalWaitExecutor;
import dev.semel.engine.signal.SignalWaitExecutor;
import dev.semel.engine.step.AtLeastOnceStepExecutor;
import dev.semel.engine.step.InMemoryRunExecutionState;
import dev.semel.engine.step.StepJournalMatcher;
import dev.semel.engine.step.StepResultSerializer;
import dev.semel.error.JsonConversionFailed;
import dev.semel.journal.JournalEntry;
import dev.semel.run.JournalStepPathFormat;
import dev.semel.run.MicrosecondConverter;
import dev.semel.store.KeyedSignalStoreWriteCommand;
import dev.semel.workflow.ApprovalDecision;
import dev.semel.workflow.ApprovalRequest;
import dev.semel.workflow.EffectOutcome;
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
final class DurableWorkflowContext implements DurableWorkflowOperations {
    private static final JsonNodeFactory JSON = JsonNodeFactory.instance;
    private static final int LONGEST_STATUS = 1_000;

    private final StepJournalMatcher scope;
    private final InMemoryRunExecutionState execution;

    DurableWorkflowContext(StepJournalMatcher scope) {
        this.scope = scope;
        this.execution = scope.execution();
    }

    @Override
    public String runId() {
        return execution.run().runId();
    }

    @Override
    public String stepId(String name) {
        return scope.stepId(JournalStepPathFormat.of(scope.prefix(), name));
    }

    @Override
    public JsonNode step(StepSpec plan, StepWork work) {
        return new AtLeastOnceStepExecutor(scope).run(plan, work);
    }

    @Override
    public EffectOutcome<JsonNode> effect(EffectSpec plan, EffectSender sending) {
        return EffectExecutor.perform(scope, plan, sending);
    }

    @Override
    public @Nullable EarlierEffect suppressedBy(String effect) {
        String ref = scope.suppressedBy(JournalStepPathFormat.of(scope.prefix(), effect));
        if (ref == null) {
            return null;
        }
        String[] parts = ref.split(" ", 2);
        Instant at = parts.length < 2 ? null : Instant.EPOCH.plus(Long.parseLong(parts[1]), ChronoUnit.MICROS);
        return new EarlierEffect(parts[0], at);
    }

    @Override
    public boolean isNotificationSkipped(String effect) {
        return scope.isMuted(JournalStepPathFormat.of(scope.prefix(), effect));
    }

    @Override
    public JsonNode tx(StepSpec plan, TxWork work) {
        return execution.engine().transactionStep().run(scope, plan, work);
    }

    @Override
    public void sleep(String name, Duration length) {
        sleep(name, now -> MicrosecondConverter.after(now, length));
    }

    @Override
    public void sleepUntil(String name, Instant due) {
        sleep(name, _ -> MicrosecondConverter.of(due));
    }

    private void sleep(String name, java.util.function.LongUnaryOperator dueAfter) {
        StepJournalMatcher.StepState state = scope.enter(name, JournalEntry.EntryKind.SLEEP);
        if (state.result() != null) {
            return;
        }
        long due;
        if (state.trace() != null && state.trace().started() != null) {
            due = state.trace().started().due();
        } else {
            scope.checkMayBegin();
            long now = execution.storeNow();
            due = dueAfter.applyAsLong(now);
            execution.record(
                    new JournalEntry.WaitStart(state.path(), JournalEntry.EntryKind.SLEEP, now, due, null), 64);
        }
        scope.waitUntil(due, "sleep", state.path());
        scope.checkMayBegin();
        execution.record(
                JournalEntry.StepResult.plain(
                        state.path(), JournalEntry.EntryKind.SLEEP, execution.storeNow(), JSON.nullNode()),
                64);
    }

    @Override
    public @Nullable JsonNode await(String name, String signal, @Nullable Duration longest) {
        return SignalWaitExecutor.await(scope, name, signal, longest);
    }

    @Override
    public @Nullable JsonNode await(String name, String signal, String key, @Nullable Duration longest) {
        KeyedSignalStoreWriteCommand.SignalAddress to =
                new KeyedSignalStoreWriteCommand.SignalAddress(execution.run().workspace(), signal, key);
        return KeyedSignalWaitExecutor.await(scope, name, to, longest, false);
    }

    @Override
    public @Nullable JsonNode awaitReply(String name, String from, @Nullable Duration longest) {
        KeyedSignalStoreWriteCommand.SignalAddress to =
                KeyedSignalStoreWriteCommand.SignalAddress.reply(execution.run().workspace(), from);
        return KeyedSignalWaitExecutor.await(scope, name, to, longest, true);
    }

    @Override
    public int depth() {
        return execution.run().depth();
    }

    @Override
    public ApprovalDecision approval(String name, ApprovalRequest approval) {
        return SignalWaitExecutor.awaitApproval(scope, name, approval);
    }

    @Override
    public <I, R> List<R> forEach(String name, KeyedItems<I> items, Branch<I, R> branch) {
        return new ForEachRunner<>(scope, name, items, branch).run();
    }

    @Override
    public JsonNode call(String name, ChildWorkflowCall child) {
        return ChildRunStepExecutor.call(scope, name, child);
    }

    @Override
    public void compensate(String name, Compensation undo) {
        execution.compensations().register(scope.enterUndo(name), undo);
    }

    @Override
    public void signal(String name, OutgoingSignal signal) {
        ChildRunStepExecutor.signal(scope, name, signal);
    }

    @Override
    public Instant now() {
        long micros = recorded(JournalEntry.EntryKind.NOW, () -> JSON.numberNode(execution.storeNow()))
                .asLong();
        return MicrosecondConverter.toInstant(micros);
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
        StepJournalMatcher.StepState state = scope.enterCounted(kind);
        JsonNode known = state.result();
        if (known != null) {
            return known;
        }
        JsonNode fresh = value.get();
        execution.record(
                JournalEntry.StepResult.plain(
                        state.path(), kind, execution.ambient().micros(), fresh),
                64);
        return fresh;
    }

    @Override
    public void status(String text) {
        StepJournalMatcher.StepState state = scope.enterCounted(JournalEntry.EntryKind.STATUS);
        if (state.result() == null) {
            scope.checkMayBegin();
            String shown = StepResultSerializer.sanitize(
                    text.length() > LONGEST_STATUS ? text.substring(0, LONGEST_STATUS) : text);
            JsonNode status = JSON.stringNode(shown);
            long at = execution.ambient().micros();
            execution.record(
                    JournalEntry.StepResult.plain(state.path(), JournalEntry.EntryKind.STATUS, at, status),
                    shown.length());
            execution.awaitDurable();
        }
    }

    @Override
    public RuntimeException toMismatchEnd(JsonConversionFailed mismatch) {
        return scope.toMismatchEnd(mismatch);
    }

    @Override
    public void awaitDurable() {
        scope.checkUsable("durable()");
        execution.awaitDurable();
    }
}
