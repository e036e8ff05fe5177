package dev.semel.engine.effect;

import dev.semel.definition.EffectSpec;
import dev.semel.effect.EffectLedger;
import dev.semel.effect.EffectLedger.LedgerDecision;
import dev.semel.engine.signal.HumanReviewOpener;
import dev.semel.engine.step.InMemoryRunExecutionState;
import dev.semel.engine.step.RetryLimit;
import dev.semel.engine.step.StepJournalMatcher;
import dev.semel.engine.step.StepResultSerializer;
import dev.semel.error.ErrorCode;
import dev.semel.journal.JournalEntry;
import dev.semel.journal.RunJournalStepIndex;
import dev.semel.json.StrictJsonCodec;
import dev.semel.workflow.EffectOutcome;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.JsonNodeFactory;

final class EffectOutcomeRecorder {
    private final StepJournalMatcher scope;
    private final InMemoryRunExecutionState execution;
    private final EffectSpec plan;
    private final StepJournalMatcher.StepState state;
    private final EffectIdentity identity;
    private RunJournalStepIndex.AttemptHistory history;
    private int attempts;
    private long started;
    private EffectLedger.@Nullable NotedSend send;

    EffectOutcomeRecorder(
            StepJournalMatcher scope, EffectSpec plan, StepJournalMatcher.StepState state, EffectIdentity identity) {
        this.scope = scope;
        this.execution = scope.execution();
        this.plan = plan;
        this.state = state;
        this.identity = identity;
        this.attempts = state.attempts();
        this.history = state.history();
    }

    void countAttempt() {
        attempts++;
        started = execution.ambient().micros();
    }

    /** The send whose outcome will be recorded. */
    void use(int generation, int attempt) {
        send = new EffectLedger.NotedSend(identity.sentKey(generation), generation, attempt);
    }

    /** Number of attempts over all executions. */
    int attempts() {
        return attempts;
    }

    /** The failed attempts over all executions. */
    RunJournalStepIndex.AttemptHistory history() {
        return history;
    }

    /** Records that the effect happened. One commit writes ledger and journal, at the latest before the next effect. */
    EffectOutcome<JsonNode> recordDone(
            EffectLedger.EffectHolder holder, @Nullable JsonNode result, JournalEntry.StepOutcome how) {
        StepResultSerializer.StorableResult fit = StepResultSerializer.toStorable(
                result, state.path(), execution.engine().limits());
        if (fit.problem() != null) {
            return recordUnstorableResult(holder, fit.problem());
        }
        record(fit.value(), how, null, fit.bytes(), identity.toSettleOps(holder, fit.text(), send));
        return new EffectOutcome.Done<>(fit.value().deepCopy());
    }

    /**
     * The step has no result, so it fails. The ledger records the effect as done, and the code of the failure says so:
     * nothing sends the effect again, in this way or in another.
     */
    EffectOutcome<JsonNode> recordUnstorableResult(
            EffectLedger.EffectHolder holder, JournalEntry.ErrorDetails problem) {
        JournalEntry.ErrorDetails happened = new JournalEntry.ErrorDetails(
                ErrorCode.RESULT_NOT_RECORDABLE.slug(), problem.types(), problem.message());
        recordFailure(happened, identity.toSettleOps(holder, "null", send));
        throw StepResultSerializer.toFailure(state.path(), happened, attempts);
    }

    /** In the journal only. {@code first}: the run that sent the effect, if the replayed run was itself suppressed. */
    EffectOutcome<JsonNode> recordReused(String result, @Nullable String first) {
        JsonNode kept = StrictJsonCodec.parse(result);
        execution.counters().reused.increment();
        if (first != null) {
            scope.suppressedBy(state.path(), first);
        }
        record(kept, JournalEntry.StepOutcome.REUSED, first, result.length());
        return new EffectOutcome.Done<>(kept.deepCopy());
    }

    EffectOutcome<JsonNode> recordSuppressed(EffectLedger.EffectHolder holder, LedgerDecision.Suppressed suppressed) {
        execution.counters().suppressed.increment();
        JsonNode kept = StrictJsonCodec.parse(suppressed.result());
        String first = scope.suppressedBy(state.path(), suppressed.by().text() + " " + suppressed.acceptedAt());
        record(
                kept,
                JournalEntry.StepOutcome.SUPPRESSED,
                first,
                suppressed.result().length(),
                identity.toSuppressionNote(holder, suppressed.result(), first));
        return new EffectOutcome.Done<>(kept.deepCopy());
    }

    /**
     * Never sent again; the run continues. Opens a review, since other runs may wait for the key. It does so before the
     * journal ends the step; later no execution would come back to do it.
     */
    EffectOutcome<JsonNode> recordIndeterminate(
            EffectLedger.EffectHolder holder, JournalEntry.@Nullable ErrorDetails last) {
        execution.counters().inDoubt.increment();
        execution.addLedgerOp(
                new EffectLedger.SettleSend(identity.row(), holder, EffectLedger.EffectState.UNKNOWN, null));
        execution.awaitDurable();
        // Whatever the users decided, this step stays indeterminate: it was sent once.
        var unused = HumanReviewOpener.open(
                execution,
                HumanReviewOpener.forDoubt(plan, state.path(), identity.row().digest(), last));
        record(StrictJsonCodec.parse("null"), JournalEntry.StepOutcome.INDETERMINATE, null, 64);
        return new EffectOutcome.Indeterminate<>(StepResultSerializer.INDETERMINATE);
    }

    /** Records a notification that a replay without notifications does not send. The ledger gets no row. */
    EffectOutcome<JsonNode> recordMuted() {
        scope.markMuted(state.path());
        JsonNode nothing = JsonNodeFactory.instance.nullNode();
        record(nothing, JournalEntry.StepOutcome.SILENT, null, 64);
        return new EffectOutcome.Done<>(nothing);
    }

    private void record(
            JsonNode result,
            JournalEntry.StepOutcome how,
            @Nullable String ref,
            int bytes,
            EffectLedger.LedgerOperation... ops) {
        long at = execution.ambient().micros();
        execution.record(
                new JournalEntry.StepResult(
                        state.path(), JournalEntry.EntryKind.EFFECT, at, result, how, attempts, ref),
                bytes,
                ops);
    }

    void recordFailure(JournalEntry.ErrorDetails problem, EffectLedger.LedgerOperation... ops) {
        long at = execution.ambient().micros();
        execution.record(
                new JournalEntry.StepFailure(state.path(), JournalEntry.EntryKind.EFFECT, at, problem, attempts),
                256,
                ops);
    }

    /** Records a failed attempt, and when the next one is due; 0 for at once. */
    void recordFailedAttempt(
            long now, JournalEntry.ErrorDetails problem, long due, boolean unsent, EffectLedger.SettleSend settle) {
        JournalEntry.AttemptFailure failed = new JournalEntry.AttemptFailure(
                state.path(), JournalEntry.EntryKind.EFFECT, now, problem, attempts, due, unsent, started);
        history = history.plus(failed);
        execution.record(failed, 256, settle);
    }

    /** Where the attempts end. {@code firstSend}: of the key that is sent now. */
    RetryLimit limit(long firstSend, boolean unsent) {
        long firstAt = history.firstAt() == 0 ? firstSend : Math.min(history.firstAt(), firstSend);
        return new RetryLimit(plan.step().retry(), attempts, firstAt, unsent && history.allUnsent());
    }
}
