package dev.semel.engine;

import dev.semel.effect.EffectLedger;
import dev.semel.effect.EffectLedger.LedgerDecision;
import dev.semel.journal.JournalEntry;
import dev.semel.json.StrictJson;
import dev.semel.definition.EffectSpec;
import dev.semel.workflow.Outcome;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.JsonNodeFactory;

/** Records the outcome of an effect in journal and ledger and returns it to the workflow. */
final class EffectOutcomes {
    private final ExecutionScope scope;
    private final Execution execution;
    private final EffectSpec plan;
    private final ExecutionScope.StepState place;
    private final EffectIdentity identity;
    private int attempts;

    EffectOutcomes(ExecutionScope scope, EffectSpec plan, ExecutionScope.StepState place, EffectIdentity identity) {
        this.scope = scope;
        this.execution = scope.execution();
        this.plan = plan;
        this.place = place;
        this.identity = identity;
        this.attempts = place.attempts();
    }

    /** Counts one more attempt. */
    void countAttempt() {
        attempts++;
    }

    /** Number of attempts over all executions. */
    int attempts() {
        return attempts;
    }

    /** Records that the effect happened. One commit writes ledger and journal, at the latest before the next effect. */
    Outcome<JsonNode> recordDone(EffectLedger.EffectHolder holder, @Nullable JsonNode result, JournalEntry.StepOutcome how) {
        StepResults.StorableResult fit = StepResults.toStorable(result, place.path(), execution.engine().limits());
        if (fit.problem() != null) {
            return recordUnstorableResult(holder, fit.problem());
        }
        long at = execution.ambient().micros();
        execution.record(
                new JournalEntry.StepResult(place.path(), JournalEntry.EntryKind.EFFECT, at, fit.value(), how, attempts, null),
                fit.bytes(),
                identity.toSettleOps(holder, fit.text()));
        return new Outcome.Done<>(fit.value().deepCopy());
    }

    /**
     * Records that the effect happened but its result cannot be stored: the step fails and the effect is not sent
     * again.
     */
    Outcome<JsonNode> recordUnstorableResult(EffectLedger.EffectHolder holder, JournalEntry.ErrorDetails problem) {
        execution.record(
                new JournalEntry.StepFailure(
                        place.path(), JournalEntry.EntryKind.EFFECT, execution.ambient().micros(), problem, attempts),
                256,
                identity.toSettleOps(holder, "null"));
        throw StepResults.toFailure(place.path(), problem, attempts);
    }

    /**
     * Records a result of another run, or an earlier one of this run, in the journal only.
     *
     * @param first the run that sent the effect, if the replayed run was itself suppressed
     */
    Outcome<JsonNode> recordReused(String result, @Nullable String first) {
        JsonNode kept = StrictJson.parse(result);
        execution.counters().reused.increment();
        if (first != null) {
            scope.suppressedBy(place.path(), first);
        }
        execution.record(
                new JournalEntry.StepResult(
                        place.path(),
                        JournalEntry.EntryKind.EFFECT,
                        execution.ambient().micros(),
                        kept,
                        JournalEntry.StepOutcome.REUSED,
                        attempts,
                        first),
                result.length());
        return new Outcome.Done<>(kept.deepCopy());
    }

    Outcome<JsonNode> recordSuppressed(EffectLedger.EffectHolder holder, LedgerDecision.Suppressed suppressed) {
        execution.counters().suppressed.increment();
        JsonNode kept = StrictJson.parse(suppressed.result());
        String first = scope.suppressedBy(place.path(), suppressed.by().text() + " " + suppressed.acceptedAt());
        execution.record(
                new JournalEntry.StepResult(
                        place.path(),
                        JournalEntry.EntryKind.EFFECT,
                        execution.ambient().micros(),
                        kept,
                        JournalEntry.StepOutcome.SUPPRESSED,
                        attempts,
                        first),
                suppressed.result().length(),
                identity.toSuppressionNote(holder, suppressed.result(), first));
        return new Outcome.Done<>(kept.deepCopy());
    }

    /**
     * Records an unknown outcome that is never sent again, and lets the run continue.
     * It opens a review, since other runs may wait for the key. It does so before the journal ends the step; later no
     * execution would come back to do it.
     *
     * @param last how the send failed, if known
     */
    Outcome<JsonNode> recordIndeterminate(EffectLedger.EffectHolder holder, JournalEntry.@Nullable ErrorDetails last) {
        execution.counters().inDoubt.increment();
        execution.addLedgerOp(new EffectLedger.SettleSend(identity.row(), holder, EffectLedger.EffectState.UNKNOWN, null));
        execution.awaitDurable();
        // Whatever the users decided, this step stays indeterminate: it was sent once.
        var unused = ReviewRequests.open(
                execution, ReviewRequests.forDoubt(plan, place.path(), identity.row().digest(), last));
        execution.record(
                new JournalEntry.StepResult(
                        place.path(),
                        JournalEntry.EntryKind.EFFECT,
                        execution.ambient().micros(),
                        StrictJson.parse("null"),
                        JournalEntry.StepOutcome.INDETERMINATE,
                        attempts,
                        null),
                64);
        return new Outcome.Indeterminate<>(StepResults.INDETERMINATE);
    }

    /** Records a notification that a replay without notifications does not send. The ledger gets no row. */
    Outcome<JsonNode> recordMuted() {
        scope.markMuted(place.path());
        JsonNode nothing = JsonNodeFactory.instance.nullNode();
        long at = execution.ambient().micros();
        execution.record(
                new JournalEntry.StepResult(place.path(), JournalEntry.EntryKind.EFFECT, at, nothing, JournalEntry.StepOutcome.SILENT, attempts, null), 64);
        return new Outcome.Done<>(nothing);
    }
}
