package dev.semel.engine.effect;

import dev.semel.definition.DurableWorkflowOperations;
import dev.semel.definition.EffectSpec;
import dev.semel.definition.ResultNotRecordable;
import dev.semel.effect.EffectDuplicateProtection;
import dev.semel.effect.EffectLedger;
import dev.semel.effect.EffectLedger.LedgerDecision;
import dev.semel.engine.ClockAndRandomSource;
import dev.semel.engine.signal.HumanReviewOpener;
import dev.semel.engine.signal.SignalWaitExecutor;
import dev.semel.engine.step.AtLeastOnceStepExecutor;
import dev.semel.engine.step.InMemoryRunExecutionState;
import dev.semel.engine.step.RetryLimit;
import dev.semel.engine.step.RunExecutionAbort;
import dev.semel.engine.step.StepAttemptRunner;
import dev.semel.engine.step.StepJournalMatcher;
import dev.semel.engine.step.StepNameValidator;
import dev.semel.engine.step.StepResultSerializer;
import dev.semel.engine.step.StoredRunWaitReasonWriter;
import dev.semel.engine.step.WaitingBranchesRunSuspender;
import dev.semel.error.HttpStatusException;
import dev.semel.error.StepFailed;
import dev.semel.journal.JournalEntry;
import dev.semel.run.RunId;
import dev.semel.store.HumanReviewStoreWriteCommand;
import dev.semel.store.StoreWrite;
import dev.semel.workflow.EffectOutcome;
import dev.semel.workflow.Step;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/** Every send passes here. The engine never guesses the outcome of an unanswered send: the protection decides. */
public final class EffectExecutor {
    private static final long LOOK_AGAIN_MICROS = 250_000;
    private static final long LOOK_AGAIN_AT_MOST = 30_000_000;
    private static final long QUIET_MICROS = 1_000_000;

    private final StepJournalMatcher scope;
    private final InMemoryRunExecutionState execution;
    private final EffectSpec plan;
    private final DurableWorkflowOperations.EffectSender sending;
    private final StepJournalMatcher.StepState state;
    private final EffectIdentity identity;
    private final EffectOutcomeRecorder outcomes;
    private final PreviousRunEffectFinder history;
    private final ExternalEffectLookupExecutor lookUp;
    private int looks;
    private long begunAt;
    private boolean renamed;
    private boolean replayedError;
    private boolean mayHaveHappened;
    private EffectLedger.ChangePolicy onChange;
    private JournalEntry.@Nullable ErrorDetails last;
    private JournalEntry.@Nullable ErrorDetails recordedProblem;

    private EffectExecutor(
            StepJournalMatcher scope,
            EffectSpec plan,
            DurableWorkflowOperations.EffectSender sending,
            StepJournalMatcher.StepState state) {
        this.scope = scope;
        this.execution = scope.execution();
        this.plan = plan;
        this.sending = sending;
        this.state = state;
        this.identity = EffectIdentity.of(execution, state, plan);
        this.outcomes = new EffectOutcomeRecorder(scope, plan, state, identity);
        this.history = new PreviousRunEffectFinder(execution, state, identity);
        this.lookUp = new ExternalEffectLookupExecutor(scope, plan, sending, state.path());
        this.onChange = identity.onChange();
    }

    public static EffectOutcome<JsonNode> perform(
            StepJournalMatcher scope, EffectSpec plan, DurableWorkflowOperations.EffectSender sending) {
        StepJournalMatcher.StepState state = scope.enter(plan.step(), JournalEntry.EntryKind.EFFECT);
        JournalEntry.StepResult done = state.done();
        if (done != null && done.outcome() == JournalEntry.StepOutcome.INDETERMINATE) {
            return new EffectOutcome.Indeterminate<>(StepResultSerializer.INDETERMINATE);
        }
        JsonNode known = state.result();
        if (known != null) {
            return new EffectOutcome.Done<>(known);
        }
        StepNameValidator.rejectUnstorableEffect(plan, state.path());
        return new EffectExecutor(scope, plan, sending, state).perform();
    }

    private EffectOutcome<JsonNode> perform() {
        begunAt = state.trace() == null || state.trace().started() == null
                ? execution.storeNow()
                : state.trace().started().at();
        if (state.retryDue() == JournalEntry.AttemptFailure.NO_NEXT && canBeSettled(findOwnRow())) {
            throw stopRun(); // an earlier execution ended the attempts, and then could not record the end of the run
        }
        scope.waitForRetry(state.retryDue(), state.path(), outcomes.history());
        EffectOutcome<JsonNode> outcome = null;
        EffectLedger.EffectRow before = history.findDone();
        if (before != null) {
            outcome = outcomes.recordReused(Objects.requireNonNullElse(before.result(), "null"), before.suppressedBy());
        } else if (history.isMuted()) {
            outcome = outcomes.recordMuted();
        } else if (state.trace() == null) {
            // Recorded before it is sent, so that code which now requests another step is noticed.
            long at = execution.ambient().micros();
            String review = HumanReviewOpener.toRecord(plan);
            execution.record(
                    new JournalEntry.WaitStart(state.path(), JournalEntry.EntryKind.EFFECT, at, 0, review),
                    64 + (review == null ? 0 : review.length()));
        }
        while (outcome == null) {
            long seen = execution.waits().wakeCount();
            scope.checkNotCancelled();
            EffectLedger.EffectHolder holder = holder();
            EffectLedger.EffectRow other = history.findUnderOtherKey();
            if (other != null) {
                outcome = handleRenamed(other, holder, seen);
                continue;
            }
            if (scope.isTimedOut()) {
                outcome = handleTimeout(findOwnRow(), holder, seen);
                continue;
            }
            LedgerDecision decision = execution.reserve(identity.toReservation(holder, onChange, history.isRedo()));
            outcome = switch (decision) {
                case LedgerDecision.SendGranted granted -> send(holder, granted);
                case LedgerDecision.Reused reused -> outcomes.recordReused(reused.result(), null);
                case LedgerDecision.Suppressed suppressed -> outcomes.recordSuppressed(holder, suppressed);
                case LedgerDecision.OutcomeUnknown unsettled -> handleUnsettled(holder, unsettled, seen);
                case LedgerDecision.HeldByOtherRun heldByOtherRun -> waitForOther(heldByOtherRun, seen);
                case LedgerDecision.DataChanged changed -> review(changed);
                case LedgerDecision.Recorded _ ->
                    throw new IllegalStateException("a reservation always gets a verdict");
            };
        }
        return outcome;
    }

    /**
     * Sends nothing more. The code of the workflow sees the deadline only once it is known whether the effect happened:
     * it must not compensate on a guess.
     */
    private @Nullable EffectOutcome<JsonNode> handleTimeout(
            EffectLedger.@Nullable EffectRow row, EffectLedger.EffectHolder holder, long seen) {
        if (row == null || row.state() == EffectLedger.EffectState.FREE) {
            throw scope.timeOut();
        }
        boolean own = row.holder().run().equals(execution.run().id());
        if (row.state() == EffectLedger.EffectState.DONE) {
            if (history.isRedo() && !own) {
                throw scope.timeOut();
            }
            return outcomes.recordReused(Objects.requireNonNullElse(row.result(), "null"), null);
        }
        if (row.state() == EffectLedger.EffectState.RESERVED && !own) {
            return waitForOther(new LedgerDecision.HeldByOtherRun(row.holder().run(), false), seen);
        }
        renamed = !row.details().key().equals(identity.key());
        if (!renamed && canBeSettled(row)) {
            throw stopRun();
        }
        return switch (plan.protection()) {
            case EffectDuplicateProtection.AtMostOnce _ -> outcomes.recordIndeterminate(holder, last);
            case EffectDuplicateProtection.ProviderKey _,
                    EffectDuplicateProtection.Lookup _,
                    EffectDuplicateProtection.Ask _ -> waitForDecision(holder, seen);
            case EffectDuplicateProtection.Repeatable _, EffectDuplicateProtection.None _ -> throw scope.timeOut();
        };
    }

    private EffectLedger.EffectHolder holder() {
        return new EffectLedger.EffectHolder(
                state.stepId(), execution.run().id(), execution.run().driver().claim(), execution.nextTurn());
    }

    private @Nullable EffectOutcome<JsonNode> send(
            EffectLedger.EffectHolder holder, LedgerDecision.SendGranted granted) {
        // CRASH(effect-reserved): the intent is recorded and nothing was sent; a restart cannot know whether it was.
        execution.ambient().point("effect-reserved");
        execution.checkMayAct();
        renamed = false;
        outcomes.countAttempt();
        outcomes.use(granted.generation(), granted.attempt());
        Step step = new AtLeastOnceStepExecutor.StepHandle(
                state.stepId(), identity.wireKey(granted.generation()), granted.attempt());
        JsonNode result;
        execution.counters().sent.increment();
        scope.enterUserCode();
        try {
            result = StepAttemptRunner.of(plan.step(), execution.ambient()).run(step, sending::send);
        } catch (RunExecutionAbort | ClockAndRandomSource.SimulatedCrash end) {
            throw end;
        } catch (Throwable failure) {
            scope.leaveUserCode();
            if (failure instanceof ResultNotRecordable resultNotRecordable) {
                return outcomes.recordUnstorableResult(
                        holder, StepResultSerializer.toProblem(resultNotRecordable.why()));
            }
            if (failure instanceof HttpStatusException status
                    && plan.alreadyDone().contains(status.status())) {
                return outcomes.recordDone(holder, status.body(), JournalEntry.StepOutcome.ALREADY_DONE);
            }
            return handleFailure(holder, failure, granted);
        }
        scope.leaveUserCode();
        // CRASH(effect-sent): the effect happened and its result is not recorded; the protection decides.
        execution.ambient().point("effect-sent");
        return outcomes.recordDone(holder, result, JournalEntry.StepOutcome.DONE);
    }

    /** Null: next attempt. An earlier attempt may have happened; a rejection of the caller does not settle it. */
    private @Nullable EffectOutcome<JsonNode> handleFailure(
            EffectLedger.EffectHolder holder, Throwable failure, LedgerDecision.SendGranted granted) {
        last = StepResultSerializer.toProblem(failure);
        boolean unsettled =
                granted.maybeSentBefore() && plan.protection() instanceof EffectDuplicateProtection.ProviderKey;
        mayHaveHappened = granted.maybeSentBefore() || !StepAttemptRunner.wasNotSent(failure);
        boolean unsure = unsettled && StepAttemptRunner.isCallerRejected(plan.step(), failure);
        if (!unsure && StepAttemptRunner.isRejected(plan.step(), failure)) {
            mayHaveHappened = granted.maybeSentBefore();
            throw failStep(holder, failure);
        }
        boolean notSent = StepAttemptRunner.wasNotSent(failure);
        RetryLimit limit = outcomes.limit(granted.firstAt(), notSent && !granted.maybeSentBefore());
        if (notSent && !unsettled) {
            return retryOrFail(holder, failure, limit, true);
        }
        return switch (plan.protection()) {
            case EffectDuplicateProtection.AtMostOnce _ -> outcomes.recordIndeterminate(holder, last);
            case EffectDuplicateProtection.Ask _ ->
                waitForDecision(holder, execution.waits().wakeCount());
            case EffectDuplicateProtection.ProviderKey _ ->
                handleUnknown(holder, failure, limit, identity.resendUntil(granted.firstAt()));
            // The next loop queries the provider first, also after the last attempt.
            case EffectDuplicateProtection.Lookup _ -> {
                long due = limit.nextDue(execution.storeNow(), failure, execution.ambient());
                retry(failure, due, false, settleAs(holder, EffectLedger.EffectState.UNKNOWN));
                yield null;
            }
            case EffectDuplicateProtection.Repeatable _, EffectDuplicateProtection.None _ ->
                retryOrFail(holder, failure, limit, notSent);
        };
    }

    /** Nothing forbids another attempt: it was not sent, or may be repeated. */
    private @Nullable EffectOutcome<JsonNode> retryOrFail(
            EffectLedger.EffectHolder holder, Throwable failure, RetryLimit limit, boolean unsent) {
        long now = execution.storeNow();
        if (limit.isReached(now)) {
            throw failStep(holder, failure);
        }
        long due = limit.nextDue(now, failure, execution.ambient());
        retry(failure, due, unsent, settleAs(holder, stateWhenOver()));
        return null;
    }

    /**
     * It may have happened, and the provider remembers the key: sent again with the same key while attempts are left.
     * A compensation has no end that a user could resume, so it is sent again as long as that is safe.
     */
    private @Nullable EffectOutcome<JsonNode> handleUnknown(
            EffectLedger.EffectHolder holder, Throwable failure, RetryLimit limit, long safeUntil) {
        long now = execution.storeNow();
        replayedError = StepAttemptRunner.isReplayedError(failure);
        if (replayedError || now >= safeUntil) {
            return waitForDecision(holder, execution.waits().wakeCount());
        }
        if (limit.isReached(now) && !scope.isCompensation()) {
            outcomes.recordFailedAttempt(
                    now,
                    StepResultSerializer.toProblem(failure),
                    JournalEntry.AttemptFailure.NO_NEXT,
                    false,
                    settleAs(holder, EffectLedger.EffectState.UNKNOWN));
            throw stopRun();
        }
        long due = limit.isReached(now)
                ? limit.nextDueBeyondEnd(now, failure, execution.ambient())
                : limit.nextDue(now, failure, execution.ambient());
        // At the end of the window it looks again, and is in doubt.
        retry(failure, Math.min(due, safeUntil), false, settleAs(holder, EffectLedger.EffectState.UNKNOWN));
        return null;
    }

    /** Ends the execution: the run fails with an unknown outcome, which its code never sees. */
    private RunExecutionAbort stopRun() {
        JournalEntry.ErrorDetails problem = last == null ? StepResultSerializer.OUTCOME_UNKNOWN : last;
        return execution.end(new RunExecutionAbort.OutcomeUnknown(
                StepNameValidator.toDisplay(state.path()),
                problem.message() + (problem.message().endsWith(".") ? "" : ".")
                        + " The attempts ended and the outcome of this effect is unknown. Nothing was compensated."));
    }

    /** Returns what the ledger says about this step; null if it was not sent. */
    private EffectLedger.@Nullable EffectRow findOwnRow() {
        execution.awaitDurable(); // an outcome that is known is in the ledger then
        EffectLedger.EffectRow row = execution.readNullable(reads -> reads.effect(identity.row()));
        return row != null && row.holder().step().equals(state.stepId()) ? row : null;
    }

    /** Whether its outcome is unknown, and it may be sent again or the provider can be queried. */
    private boolean canBeSettled(EffectLedger.@Nullable EffectRow row) {
        boolean open = row != null
                && (row.state() == EffectLedger.EffectState.UNKNOWN
                        || row.state() == EffectLedger.EffectState.RESERVED);
        return switch (plan.protection()) {
            case EffectDuplicateProtection.ProviderKey _ ->
                open && row != null && row.expiresAt() > execution.storeNow();
            case EffectDuplicateProtection.Lookup _ -> open;
            case EffectDuplicateProtection.AtMostOnce _,
                    EffectDuplicateProtection.Ask _,
                    EffectDuplicateProtection.Repeatable _,
                    EffectDuplicateProtection.None _ -> false;
        };
    }

    private StepFailed failStep(EffectLedger.EffectHolder holder, @Nullable Throwable failure) {
        JournalEntry.ErrorDetails problem = last == null ? StepResultSerializer.OUTCOME_UNKNOWN : last;
        outcomes.recordFailure(problem, settleAs(holder, stateWhenOver()));
        return StepResultSerializer.toFailure(state.path(), problem, outcomes.attempts(), failure);
    }

    /** An attempt that nothing blocks from another send. It is free only if certainly none of them happened. */
    private EffectLedger.EffectState stateWhenOver() {
        boolean loose = plan.protection() instanceof EffectDuplicateProtection.Repeatable
                || plan.protection() instanceof EffectDuplicateProtection.None;
        return loose && mayHaveHappened ? EffectLedger.EffectState.UNCONFIRMED : EffectLedger.EffectState.FREE;
    }

    private EffectLedger.SettleSend settleAs(EffectLedger.EffectHolder holder, EffectLedger.EffectState to) {
        return new EffectLedger.SettleSend(identity.row(), holder, to, null);
    }

    private void retry(Throwable failure, long due, boolean unsent, EffectLedger.SettleSend settle) {
        execution.counters().retries.increment();
        outcomes.recordFailedAttempt(
                execution.storeNow(), StepResultSerializer.toProblem(failure), due, unsent, settle);
        scope.waitForRetry(due, state.path(), outcomes.history());
    }

    private @Nullable EffectOutcome<JsonNode> handleUnsettled(
            EffectLedger.EffectHolder holder, LedgerDecision.OutcomeUnknown unsettled, long seen) {
        renamed = unsettled.keyChanged();
        return switch (plan.protection()) {
            case EffectDuplicateProtection.Lookup _ ->
                renamed ? waitForDecision(holder, seen) : lookUp(holder, unsettled, seen);
            case EffectDuplicateProtection.AtMostOnce _ -> outcomes.recordIndeterminate(holder, last);
            case EffectDuplicateProtection.ProviderKey _, EffectDuplicateProtection.Ask _ ->
                waitForDecision(holder, seen);
            case EffectDuplicateProtection.Repeatable _, EffectDuplicateProtection.None _ ->
                throw new IllegalStateException("a repeatable effect is never unsettled");
        };
    }

    /** The effect was sent under another once-per-key key than it has now: only a user knows whether that counts. */
    private @Nullable EffectOutcome<JsonNode> handleRenamed(
            EffectLedger.EffectRow other, EffectLedger.EffectHolder holder, long seen) {
        if (other.state() == EffectLedger.EffectState.DONE) {
            return outcomes.recordReused(Objects.requireNonNullElse(other.result(), "null"), null);
        }
        RunId by = other.holder().run();
        if (other.state() == EffectLedger.EffectState.RESERVED
                && !by.equals(execution.run().id())) {
            return waitForOther(
                    new LedgerDecision.HeldByOtherRun(by, false), seen); // another run is sending it right now
        }
        if (plan.protection() instanceof EffectDuplicateProtection.AtMostOnce) {
            return outcomes.recordIndeterminate(holder, last);
        }
        renamed = true;
        return waitForDecision(other.id(), holder, seen);
    }

    private @Nullable EffectOutcome<JsonNode> lookUp(
            EffectLedger.EffectHolder holder, LedgerDecision.OutcomeUnknown unsettled, long seen) {
        outcomes.use(unsettled.generation(), unsettled.attempt());
        Step step = new AtLeastOnceStepExecutor.StepHandle(
                state.stepId(), identity.wireKey(unsettled.generation()), unsettled.attempt());
        ExternalEffectLookupExecutor.LookupResult found = lookUp.query(step);
        if (found instanceof ExternalEffectLookupExecutor.LookupResult.NotFound && looks++ == 0) {
            // The first request may still be in transit: query once more after a pause.
            scope.waitUntil(execution.storeNow() + QUIET_MICROS, "lookup", state.path());
            scope.checkNotCancelled(); // a run that was cancelled meanwhile has not waited, and stays in doubt
            if (scope.isTimedOut()) {
                return null; // it has not waited either: one look does not settle it
            }
            found = lookUp.query(step);
        }
        if (lookUp.problem() != null) {
            last = lookUp.problem();
        }
        return switch (found) {
            case ExternalEffectLookupExecutor.LookupResult.Done(JsonNode result) ->
                outcomes.recordDone(holder, result, JournalEntry.StepOutcome.FOUND);
            case ExternalEffectLookupExecutor.LookupResult.NoAnswer(long due) ->
                handleNoAnswer(holder, unsettled.firstAt(), due, seen);
            case ExternalEffectLookupExecutor.LookupResult.NotFound _ -> unknownToProvider(holder, unsettled.firstAt());
        };
    }

    /** The provider has no record of it: send it if attempts are left. */
    private @Nullable EffectOutcome<JsonNode> unknownToProvider(EffectLedger.EffectHolder holder, long firstSend) {
        if (outcomes.limit(firstSend, false).isReached(execution.storeNow())) {
            throw failStep(holder, null);
        }
        // CRASH(lookup-empty): the provider has no record of it; the next lookup finds the same, and then it is sent.
        execution.ambient().point("lookup-empty");
        long now = execution.storeNow();
        JournalEntry.ErrorDetails problem = last == null ? StepResultSerializer.OUTCOME_UNKNOWN : last;
        outcomes.recordFailedAttempt(now, problem, 0, false, settleAs(holder, EffectLedger.EffectState.FREE));
        return null;
    }

    /** The provider does not answer: a user may decide as well. Whichever comes first, the ledger is checked again. */
    private @Nullable EffectOutcome<JsonNode> handleNoAnswer(
            EffectLedger.EffectHolder holder, long firstSend, long due, long seen) {
        long now = execution.storeNow();
        boolean timed = plan.step().retry().within() != null && !scope.isCompensation();
        if (timed && outcomes.limit(firstSend, false).isReached(now)) {
            outcomes.recordFailedAttempt(
                    now,
                    last == null ? StepResultSerializer.OUTCOME_UNKNOWN : last,
                    JournalEntry.AttemptFailure.NO_NEXT,
                    false,
                    settleAs(holder, EffectLedger.EffectState.UNKNOWN));
            throw stopRun();
        }
        execution.addLedgerOp(settleAs(holder, EffectLedger.EffectState.UNKNOWN));
        execution.awaitDurable();
        if (HumanReviewOpener.open(
                execution,
                HumanReviewOpener.forDoubt(plan, state.path(), identity.row().digest(), null))) {
            String what = StoredRunWaitReasonWriter.toJson("lookup", state.path(), due);
            scope.await(new WaitingBranchesRunSuspender.BranchWait(due, what, false, false), seen);
        }
        return null;
    }

    private @Nullable EffectOutcome<JsonNode> waitForDecision(EffectLedger.EffectHolder holder, long seen) {
        return waitForDecision(identity.row(), holder, seen);
    }

    /** Waits until a user decides the outcome, then checks the ledger again. */
    private @Nullable EffectOutcome<JsonNode> waitForDecision(
            EffectLedger.EffectId row, EffectLedger.EffectHolder holder, long seen) {
        execution.counters().inDoubt.increment();
        // From now on only a decision sends it again, whatever wakes the run.
        EffectLedger.SettleSend unknown =
                new EffectLedger.SettleSend(row, holder, EffectLedger.EffectState.UNKNOWN, null, true);
        if (last == null || last.equals(recordedProblem)) {
            execution.addLedgerOp(unknown); // an earlier execution sent it, or this problem is recorded already
        } else {
            recordedProblem = last;
            outcomes.recordFailedAttempt(execution.storeNow(), last, 0, false, unknown);
        }
        execution.awaitDurable();
        // CRASH(effect-doubted): the doubt is recorded; a restart finds it and waits for the decision.
        execution.ambient().point("effect-doubted");
        HumanReviewStoreWriteCommand.ReviewQuestion question = renamed
                ? HumanReviewOpener.forRenamedKey(plan, state.path(), row.digest())
                : replayedError
                        ? HumanReviewOpener.forReplayedError(plan, state.path(), row.digest())
                        : HumanReviewOpener.forDoubt(plan, state.path(), row.digest(), null);
        if (!HumanReviewOpener.open(execution, question)) {
            return null; // a user decided before the review was opened
        }
        // The doubt may belong to the replayed run: a decision there wakes only that run, so this one polls.
        boolean own = execution.run().lineage().equals(execution.run().id());
        long due = own ? StoreWrite.Suspension.NEVER : execution.storeNow() + LOOK_AGAIN_AT_MOST;
        String what = StoredRunWaitReasonWriter.toJson("decision", state.path(), due, row.digest());
        scope.awaitPastDeadline(new WaitingBranchesRunSuspender.BranchWait(due, what, false, true), seen);
        return null;
    }

    /** Looks again at growing intervals, also after the run was parked: a short wait would keep the run's place. */
    private @Nullable EffectOutcome<JsonNode> waitForOther(LedgerDecision.HeldByOtherRun heldByOtherRun, long seen) {
        long now = execution.storeNow();
        long due = now + Math.clamp(now - begunAt, LOOK_AGAIN_MICROS, LOOK_AGAIN_AT_MOST);
        String what = StoredRunWaitReasonWriter.toJson(
                "effect", state.path(), due, heldByOtherRun.by().text());
        var wait = new WaitingBranchesRunSuspender.BranchWait(due, what, false, false);
        if (scope.isTimedOut()) {
            scope.awaitPastDeadline(wait, seen); // that run sends this step for this one
        } else {
            scope.await(wait, seen);
        }
        return null;
    }

    /** The data differ from what was accepted inside the window: a user decides whether to send it. */
    private @Nullable EffectOutcome<JsonNode> review(LedgerDecision.DataChanged changed) {
        String content = Objects.requireNonNullElse(identity.contentDigest(), "");
        boolean send = SignalWaitExecutor.awaitReview(
                        scope, state, HumanReviewOpener.forChange(plan, state.path(), content, changed))
                .path("approved")
                .asBoolean();
        onChange = send ? EffectLedger.ChangePolicy.SEND : EffectLedger.ChangePolicy.SUPPRESS;
        return null;
    }
}
