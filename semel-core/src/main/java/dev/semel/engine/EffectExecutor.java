package dev.semel.engine;

import dev.semel.definition.ResultNotRecordable;
import dev.semel.effect.EffectLedger;
import dev.semel.effect.EffectLedger.LedgerDecision;
import dev.semel.effect.Protection;
import dev.semel.error.HttpStatus;
import dev.semel.error.StepFailed;
import dev.semel.journal.JournalEntry;
import dev.semel.run.RunId;
import dev.semel.store.ReviewOperation;
import dev.semel.store.StoreWrite;
import dev.semel.definition.DurableOperations;
import dev.semel.definition.EffectSpec;
import dev.semel.workflow.Outcome;
import dev.semel.workflow.Step;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/**
 * Sends one effect to an external system, with an intent recorded before and its outcome after.
 * Every send passes here. The engine never guesses the outcome of an unanswered send: the protection of the effect
 * decides what happens next.
 */
final class EffectExecutor {
    private static final long LOOK_AGAIN_MICROS = 250_000;
    private static final long LOOK_AGAIN_AT_MOST = 30_000_000;
    private static final long QUIET_MICROS = 1_000_000;

    private final ExecutionScope scope;
    private final Execution execution;
    private final EffectSpec plan;
    private final DurableOperations.EffectSender sending;
    private final ExecutionScope.StepState place;
    private final EffectIdentity identity;
    private final EffectOutcomes outcomes;
    private final EffectHistory history;
    private final ProviderLookup lookUp;
    private int looks;
    private boolean inDoubt;
    private boolean renamed;
    private EffectLedger.ChangePolicy onChange;
    private JournalEntry.@Nullable ErrorDetails last;
    private JournalEntry.@Nullable ErrorDetails recordedProblem;

    private EffectExecutor(ExecutionScope scope, EffectSpec plan, DurableOperations.EffectSender sending, ExecutionScope.StepState place) {
        this.scope = scope;
        this.execution = scope.execution();
        this.plan = plan;
        this.sending = sending;
        this.place = place;
        this.identity = EffectIdentity.of(execution.run(), place, plan);
        this.outcomes = new EffectOutcomes(scope, plan, place, identity);
        this.history = new EffectHistory(execution, place, identity);
        this.lookUp = new ProviderLookup(scope, plan, sending, place.path());
        this.inDoubt = place.attempts() > 0 && place.retryDue() == 0; // the last recorded attempt has no next one
        this.onChange = identity.onChange();
    }

    static Outcome<JsonNode> perform(ExecutionScope scope, EffectSpec plan, DurableOperations.EffectSender sending) {
        ExecutionScope.StepState place = scope.enter(plan.step(), JournalEntry.EntryKind.EFFECT);
        JournalEntry.StepResult done = place.done();
        if (done != null && done.outcome() == JournalEntry.StepOutcome.INDETERMINATE) {
            return new Outcome.Indeterminate<>(StepResults.INDETERMINATE);
        }
        JsonNode known = place.result();
        return known != null ? new Outcome.Done<>(known) : new EffectExecutor(scope, plan, sending, place).perform();
    }

    private Outcome<JsonNode> perform() {
        scope.waitUntil(place.retryDue(), "retry", place.path());
        Outcome<JsonNode> outcome = null;
        EffectLedger.EffectRow before = history.findDone();
        if (before != null) {
            outcome = outcomes.recordReused(Objects.requireNonNullElse(before.result(), "null"), before.suppressedBy());
        } else if (history.isMuted()) {
            outcome = outcomes.recordMuted();
        } else if (place.trace() == null) {
            // Recorded before it is sent, so that code which now requests another step is noticed.
            long at = execution.ambient().micros();
            execution.record(new JournalEntry.WaitStart(place.path(), JournalEntry.EntryKind.EFFECT, at, 0, null), 64);
        }
        while (outcome == null) {
            scope.checkMayBegin();
            long seen = execution.waits().wakeCount();
            EffectLedger.EffectHolder holder = holder();
            EffectLedger.EffectRow other = history.findUnderOtherKey();
            if (other != null) {
                outcome = handleRenamed(other, holder, seen);
                continue;
            }
            LedgerDecision verdict = execution.reserve(identity.toReservation(holder, onChange, !inDoubt, history.isRedo()));
            outcome = switch (verdict) {
                case LedgerDecision.SendGranted granted -> send(holder, granted);
                case LedgerDecision.Reused reused -> outcomes.recordReused(reused.result(), null);
                case LedgerDecision.Suppressed suppressed -> outcomes.recordSuppressed(holder, suppressed);
                case LedgerDecision.OutcomeUnknown unsettled -> handleUnsettled(holder, unsettled, seen);
                case LedgerDecision.HeldByOtherRun taken -> waitForOther(taken, seen);
                case LedgerDecision.DataChanged _ -> review();
                case LedgerDecision.Recorded _ -> throw new IllegalStateException("a reservation always gets a verdict");
            };
        }
        return outcome;
    }

    private EffectLedger.EffectHolder holder() {
        return new EffectLedger.EffectHolder(
                place.stepId(), execution.run().id(), execution.run().driver().claim(), execution.nextTurn());
    }

    private @Nullable Outcome<JsonNode> send(EffectLedger.EffectHolder holder, LedgerDecision.SendGranted granted) {
        // CRASH(effect-reserved): the intent is recorded and nothing was sent; a restart cannot know whether it was.
        execution.ambient().point("effect-reserved");
        execution.checkMayAct();
        renamed = false;
        outcomes.countAttempt();
        Step step = new StepRunner.StepHandle(place.stepId(), identity.wireKey(granted.generation()), granted.attempt());
        JsonNode result;
        execution.counters().sent.increment();
        scope.enterUserCode();
        try {
            result = StepAttempt.of(plan.step(), execution.ambient()).run(step, sending::send);
        } catch (ExecutionAbort | EngineEnvironment.SimulatedCrash end) {
            throw end;
        } catch (Throwable failure) {
            scope.leaveUserCode();
            if (failure instanceof ResultNotRecordable kept) {
                return outcomes.recordUnstorableResult(holder, StepResults.toProblem(kept.why()));
            }
            if (failure instanceof HttpStatus status && plan.alreadyDone().contains(status.status())) {
                return outcomes.recordDone(holder, status.body(), JournalEntry.StepOutcome.ALREADY_DONE);
            }
            return handleFailure(holder, failure, granted.maybeSentBefore());
        }
        scope.leaveUserCode();
        // CRASH(effect-sent): the effect happened and its result is not recorded; the protection decides.
        execution.ambient().point("effect-sent");
        return outcomes.recordDone(holder, result, JournalEntry.StepOutcome.DONE);
    }

    /**
     * Handles a failed send. Returns null to continue with the next attempt.
     *
     * @param unsure an earlier attempt may have happened, so that a rejection of this one does not settle it
     */
    private @Nullable Outcome<JsonNode> handleFailure(EffectLedger.EffectHolder holder, Throwable failure, boolean unsure) {
        last = StepResults.toProblem(failure);
        boolean exhausted = outcomes.attempts() >= plan.step().retry().attempts();
        boolean unsettled = unsure && plan.protection() instanceof Protection.ProviderKey;
        if (StepAttempt.isRejected(plan.step(), failure)) {
            if (unsettled && StepAttempt.isCallerRejected(plan.step(), failure)) {
                return waitForDecision(holder, execution.waits().wakeCount());
            }
            throw failStep(holder, failure);
        }
        if (StepAttempt.wasNotSent(failure) && !unsettled) {
            if (exhausted) {
                throw failStep(holder, failure);
            }
            retry(failure, new EffectLedger.SettleSend(identity.row(), holder, EffectLedger.EffectState.FREE, null));
            return null;
        }
        return switch (plan.protection()) {
            case Protection.AtMostOnce _ -> outcomes.recordIndeterminate(holder, last);
            case Protection.Ask _ -> waitForDecision(holder, execution.waits().wakeCount());
            case Protection.ProviderKey _ -> {
                if (exhausted) {
                    yield waitForDecision(holder, execution.waits().wakeCount());
                }
                retry(failure, new EffectLedger.SettleSend(identity.row(), holder, EffectLedger.EffectState.UNKNOWN, null));
                yield null;
            }
            // The next loop queries the provider first, also after the last attempt.
            case Protection.Lookup _ -> {
                retry(failure, new EffectLedger.SettleSend(identity.row(), holder, EffectLedger.EffectState.UNKNOWN, null));
                yield null;
            }
            case Protection.Repeatable _, Protection.None _ -> {
                if (exhausted) {
                    throw failStep(holder, failure);
                }
                retry(failure, new EffectLedger.SettleSend(identity.row(), holder, EffectLedger.EffectState.FREE, null));
                yield null;
            }
        };
    }

    private StepFailed failStep(EffectLedger.EffectHolder holder, @Nullable Throwable failure) {
        JournalEntry.ErrorDetails problem = last == null ? StepResults.OUTCOME_UNKNOWN : last;
        execution.record(
                new JournalEntry.StepFailure(
                        place.path(), JournalEntry.EntryKind.EFFECT, execution.ambient().micros(), problem, outcomes.attempts()),
                256,
                new EffectLedger.SettleSend(identity.row(), holder, EffectLedger.EffectState.FREE, null));
        return failure == null
                ? StepResults.toFailure(place.path(), problem, outcomes.attempts())
                : StepResults.toFailure(place.path(), problem, outcomes.attempts(), failure);
    }

    private void retry(Throwable failure, EffectLedger.SettleSend settle) {
        long now = execution.storeNow();
        long due = now + StepAttempt.retryDelayMicros(plan.step().retry(), outcomes.attempts(), failure, execution.ambient());
        execution.counters().retries.increment();
        JournalEntry.ErrorDetails problem = StepResults.toProblem(failure);
        execution.record(
                new JournalEntry.AttemptFailure(place.path(), JournalEntry.EntryKind.EFFECT, now, problem, outcomes.attempts(), due), 256, settle);
        scope.waitUntil(due, "retry", place.path());
    }

    /** Handles a step that was sent before with an unknown outcome. */
    private @Nullable Outcome<JsonNode> handleUnsettled(EffectLedger.EffectHolder holder, LedgerDecision.OutcomeUnknown unsettled, long seen) {
        renamed = unsettled.keyChanged();
        return switch (plan.protection()) {
            case Protection.Lookup _ -> renamed ? waitForDecision(holder, seen) : lookUp(holder, unsettled, seen);
            case Protection.AtMostOnce _ -> outcomes.recordIndeterminate(holder, last);
            case Protection.ProviderKey _, Protection.Ask _ -> waitForDecision(holder, seen);
            case Protection.Repeatable _, Protection.None _ ->
                throw new IllegalStateException("a repeatable effect is never unsettled");
        };
    }

    /**
     * Handles an effect that was sent under another once-per-key key than it has now: only a user knows whether that
     * counts.
     */
    private @Nullable Outcome<JsonNode> handleRenamed(EffectLedger.EffectRow other, EffectLedger.EffectHolder holder, long seen) {
        if (other.state() == EffectLedger.EffectState.DONE) {
            return outcomes.recordReused(Objects.requireNonNullElse(other.result(), "null"), null);
        }
        RunId by = other.holder().run();
        if (other.state() == EffectLedger.EffectState.RESERVED && !by.equals(execution.run().id())) {
            return waitForOther(new LedgerDecision.HeldByOtherRun(by, false), seen); // another run is sending it right now
        }
        if (plan.protection() instanceof Protection.AtMostOnce) {
            return outcomes.recordIndeterminate(holder, last);
        }
        renamed = true;
        return waitForDecision(other.id(), holder, seen);
    }

    private @Nullable Outcome<JsonNode> lookUp(EffectLedger.EffectHolder holder, LedgerDecision.OutcomeUnknown unsettled, long seen) {
        Step step = new StepRunner.StepHandle(place.stepId(), identity.wireKey(unsettled.generation()), unsettled.attempt());
        ProviderLookup.LookupResult found = lookUp.query(step);
        if (found instanceof ProviderLookup.LookupResult.NotFound && looks++ == 0) {
            // The first request may still be in transit: query once more after a pause.
            scope.waitUntil(execution.storeNow() + QUIET_MICROS, "lookup", place.path());
            scope.checkMayBegin(); // a run that was cancelled meanwhile has not waited, and stays in doubt
            found = lookUp.query(step);
        }
        if (lookUp.problem() != null) {
            last = lookUp.problem();
        }
        return switch (found) {
            case ProviderLookup.LookupResult.Done(JsonNode result) -> outcomes.recordDone(holder, result, JournalEntry.StepOutcome.FOUND);
            case ProviderLookup.LookupResult.NoAnswer(long due) -> handleNoAnswer(holder, due, seen);
            case ProviderLookup.LookupResult.NotFound _ -> unknownToProvider(holder);
        };
    }

    /** The provider has no record of it: send it if attempts are left. */
    private @Nullable Outcome<JsonNode> unknownToProvider(EffectLedger.EffectHolder holder) {
        if (outcomes.attempts() >= plan.step().retry().attempts()) {
            throw failStep(holder, null);
        }
        // CRASH(lookup-empty): the provider has no record of it; the next lookup finds the same, and then it is sent.
        execution.ambient().point("lookup-empty");
        EffectLedger.SettleSend free = new EffectLedger.SettleSend(identity.row(), holder, EffectLedger.EffectState.FREE, null);
        long now = execution.storeNow();
        JournalEntry.ErrorDetails problem = last == null ? StepResults.OUTCOME_UNKNOWN : last;
        execution.record(
                new JournalEntry.AttemptFailure(place.path(), JournalEntry.EntryKind.EFFECT, now, problem, outcomes.attempts(), 0), 256, free);
        return null;
    }

    /** The provider does not answer: a user may decide as well. Whichever comes first, the ledger is checked again. */
    private @Nullable Outcome<JsonNode> handleNoAnswer(EffectLedger.EffectHolder holder, long due, long seen) {
        execution.addLedgerOp(new EffectLedger.SettleSend(identity.row(), holder, EffectLedger.EffectState.UNKNOWN, null));
        execution.awaitDurable();
        if (ReviewRequests.open(execution, ReviewRequests.forDoubt(plan, place.path(), identity.row().digest(), null))) {
            String what = WaitReasonJson.toJson("lookup", place.path(), due);
            scope.await(new BranchWaitTracker.BranchWait(due, what, false, false), seen);
        }
        return null;
    }

    private @Nullable Outcome<JsonNode> waitForDecision(EffectLedger.EffectHolder holder, long seen) {
        return waitForDecision(identity.row(), holder, seen);
    }

    /** Waits until a user decides the outcome, then checks the ledger again. */
    private @Nullable Outcome<JsonNode> waitForDecision(EffectLedger.EffectId row, EffectLedger.EffectHolder holder, long seen) {
        execution.counters().inDoubt.increment();
        inDoubt = true; // from now on only a decision sends it again, whatever wakes the run
        EffectLedger.SettleSend unknown = new EffectLedger.SettleSend(row, holder, EffectLedger.EffectState.UNKNOWN, null);
        if (last == null || last.equals(recordedProblem)) {
            execution.addLedgerOp(unknown); // an earlier execution sent it, or this problem is recorded already
        } else {
            recordedProblem = last;
            long now = execution.storeNow();
            execution.record(
                    new JournalEntry.AttemptFailure(place.path(), JournalEntry.EntryKind.EFFECT, now, last, outcomes.attempts(), 0), 256, unknown);
        }
        execution.awaitDurable();
        // CRASH(effect-doubted): the doubt is recorded; a restart finds it and waits for the decision.
        execution.ambient().point("effect-doubted");
        ReviewOperation.ReviewQuestion question = renamed
                ? ReviewRequests.forRenamedKey(plan, place.path(), row.digest())
                : ReviewRequests.forDoubt(plan, place.path(), row.digest(), null);
        if (!ReviewRequests.open(execution, question)) {
            return null; // a user decided before the review was opened
        }
        // The doubt may belong to the replayed run: a decision there wakes only that run, so this one polls.
        boolean own = execution.run().lineage().equals(execution.run().id());
        long due = own ? StoreWrite.Suspension.NEVER : execution.storeNow() + LOOK_AGAIN_AT_MOST;
        String what = WaitReasonJson.toJson("decision", place.path(), due, row.digest());
        scope.await(new BranchWaitTracker.BranchWait(due, what, false, true), seen);
        return null;
    }

    private @Nullable Outcome<JsonNode> waitForOther(LedgerDecision.HeldByOtherRun taken, long seen) {
        long pause = Math.min(LOOK_AGAIN_AT_MOST, LOOK_AGAIN_MICROS << Math.min(looks++, 7));
        long due = execution.storeNow() + pause;
        String what = WaitReasonJson.toJson("effect", place.path(), due, taken.by().text());
        scope.await(new BranchWaitTracker.BranchWait(due, what, false, false), seen);
        return null;
    }

    /** The data differ from what was accepted inside the window: a user decides whether to send it. */
    private @Nullable Outcome<JsonNode> review() {
        String content = Objects.requireNonNullElse(identity.contentDigest(), "");
        boolean send = SignalSteps.awaitReview(scope, place, ReviewRequests.forChange(plan, place.path(), content))
                .path("approved")
                .asBoolean();
        onChange = send ? EffectLedger.ChangePolicy.SEND : EffectLedger.ChangePolicy.SUPPRESS;
        return null;
    }
}
