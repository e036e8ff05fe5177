package dev.semel.engine;

import dev.semel.effect.Ledger;
import dev.semel.effect.Ledger.Verdict;
import dev.semel.effect.Protection;
import dev.semel.error.StepFailed;
import dev.semel.journal.Entry;
import dev.semel.run.RunId;
import dev.semel.store.Review;
import dev.semel.store.Write;
import dev.semel.workflow.Durable;
import dev.semel.workflow.EffectPlan;
import dev.semel.workflow.Failures;
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
final class EffectGate {
    private static final long LOOK_AGAIN_MICROS = 250_000;
    private static final long LOOK_AGAIN_AT_MOST = 30_000_000;
    private static final long QUIET_MICROS = 1_000_000;

    private final Scope scope;
    private final Execution execution;
    private final EffectPlan plan;
    private final Durable.Sending sending;
    private final Scope.Place place;
    private final EffectName identity;
    private final EffectEnds outcomes;
    private final StepPast history;
    private final LookUp lookUp;
    private int looks;
    private boolean inDoubt;
    private boolean renamed;
    private Ledger.OnChange onChange;
    private Entry.@Nullable Problem last;
    private Entry.@Nullable Problem recordedProblem;

    private EffectGate(Scope scope, EffectPlan plan, Durable.Sending sending, Scope.Place place) {
        this.scope = scope;
        this.execution = scope.execution();
        this.plan = plan;
        this.sending = sending;
        this.place = place;
        this.identity = EffectName.of(execution.run(), place, plan);
        this.outcomes = new EffectEnds(scope, plan, place, identity);
        this.history = new StepPast(execution, place, identity);
        this.lookUp = new LookUp(scope, plan, sending, place.path());
        this.inDoubt = place.tries() > 0 && place.retryDue() == 0; // the last recorded attempt has no next one
        this.onChange = identity.onChange();
    }

    static Outcome<JsonNode> perform(Scope scope, EffectPlan plan, Durable.Sending sending) {
        Scope.Place place = scope.enter(plan.step(), Entry.Kind.EFFECT);
        Entry.Done done = place.done();
        if (done != null && done.how() == Entry.How.INDETERMINATE) {
            return new Outcome.Indeterminate<>(Results.INDETERMINATE);
        }
        JsonNode known = place.result();
        return known != null ? new Outcome.Done<>(known) : new EffectGate(scope, plan, sending, place).perform();
    }

    private Outcome<JsonNode> perform() {
        scope.waitFor(place.retryDue(), "retry", place.path());
        Outcome<JsonNode> outcome = null;
        Ledger.Row before = history.done();
        if (before != null) {
            outcome = outcomes.reused(Objects.requireNonNullElse(before.result(), "null"), before.stoodFor());
        } else if (history.isSilent()) {
            outcome = outcomes.silent();
        } else if (place.trace() == null) {
            // Recorded before it is sent, so that code which now requests another step is noticed.
            long at = execution.ambient().micros();
            execution.record(new Entry.Begun(place.path(), Entry.Kind.EFFECT, at, 0, null), 64);
        }
        while (outcome == null) {
            scope.mayBegin();
            long seen = execution.waits().wakes();
            Ledger.Holder holder = holder();
            Ledger.Row other = history.underAnotherKey();
            if (other != null) {
                outcome = handleRenamed(other, holder, seen);
                continue;
            }
            Verdict verdict = execution.reserve(identity.reserve(holder, onChange, !inDoubt, history.afresh()));
            outcome = switch (verdict) {
                case Verdict.Granted granted -> send(holder, granted);
                case Verdict.Reused reused -> outcomes.reused(reused.result(), null);
                case Verdict.Suppressed suppressed -> outcomes.suppressed(holder, suppressed);
                case Verdict.Unsettled unsettled -> handleUnsettled(holder, unsettled, seen);
                case Verdict.Taken taken -> waitForOther(taken, seen);
                case Verdict.Changed _ -> review();
                case Verdict.Noted _ -> throw new IllegalStateException("a reservation always gets a verdict");
            };
        }
        return outcome;
    }

    private Ledger.Holder holder() {
        return new Ledger.Holder(
                place.stepId(), execution.run().id(), execution.run().driver().claim(), execution.nextTurn());
    }

    private @Nullable Outcome<JsonNode> send(Ledger.Holder holder, Verdict.Granted granted) {
        // CRASH(effect-reserved): the intent is recorded and nothing was sent; a restart cannot know whether it was.
        execution.ambient().point("effect-reserved");
        execution.mayAct();
        renamed = false;
        outcomes.tried();
        Step step = new StepRunner.Doing(place.stepId(), identity.wireKey(granted.generation()), granted.attempt());
        JsonNode result;
        execution.counters().sent.increment();
        scope.codeBegins();
        try {
            result = Attempt.of(plan.step(), execution.ambient()).run(step, sending::send);
        } catch (Unwind | Ambient.Death end) {
            throw end;
        } catch (Throwable failure) {
            scope.codeEnded();
            if (failure instanceof Failures.NotKept kept) {
                return outcomes.unrecordable(holder, Results.problem(kept.why()));
            }
            if (failure instanceof Failures.Status status && plan.alreadyDone().contains(status.status())) {
                return outcomes.settled(holder, status.body(), Entry.How.ALREADY_DONE);
            }
            return handleFailure(holder, failure, granted.unsure());
        }
        scope.codeEnded();
        // CRASH(effect-sent): the effect happened and its result is not recorded; the protection decides.
        execution.ambient().point("effect-sent");
        return outcomes.settled(holder, result, Entry.How.DONE);
    }

    /**
     * Handles a failed send. Returns null to continue with the next attempt.
     *
     * @param unsure an earlier attempt may have happened, so that a rejection of this one does not settle it
     */
    private @Nullable Outcome<JsonNode> handleFailure(Ledger.Holder holder, Throwable failure, boolean unsure) {
        last = Results.problem(failure);
        boolean exhausted = outcomes.tries() >= plan.step().retry().attempts();
        boolean unsettled = unsure && plan.protection() instanceof Protection.ProviderKey;
        if (Attempt.saidNo(plan.step(), failure)) {
            if (unsettled && Attempt.isAboutTheCaller(plan.step(), failure)) {
                return waitForDecision(holder, execution.waits().wakes());
            }
            throw failStep(holder, failure);
        }
        if (Attempt.notSent(failure) && !unsettled) {
            if (exhausted) {
                throw failStep(holder, failure);
            }
            retry(failure, new Ledger.Settle(identity.row(), holder, Ledger.State.FREE, null));
            return null;
        }
        return switch (plan.protection()) {
            case Protection.AtMostOnce _ -> outcomes.indeterminate(holder, last);
            case Protection.Ask _ -> waitForDecision(holder, execution.waits().wakes());
            case Protection.ProviderKey _ -> {
                if (exhausted) {
                    yield waitForDecision(holder, execution.waits().wakes());
                }
                retry(failure, new Ledger.Settle(identity.row(), holder, Ledger.State.UNKNOWN, null));
                yield null;
            }
            // The next loop queries the provider first, also after the last attempt.
            case Protection.Lookup _ -> {
                retry(failure, new Ledger.Settle(identity.row(), holder, Ledger.State.UNKNOWN, null));
                yield null;
            }
            case Protection.Repeatable _, Protection.None _ -> {
                if (exhausted) {
                    throw failStep(holder, failure);
                }
                retry(failure, new Ledger.Settle(identity.row(), holder, Ledger.State.FREE, null));
                yield null;
            }
        };
    }

    private StepFailed failStep(Ledger.Holder holder, @Nullable Throwable failure) {
        Entry.Problem problem = last == null ? Results.LOST : last;
        execution.record(
                new Entry.Failed(
                        place.path(), Entry.Kind.EFFECT, execution.ambient().micros(), problem, outcomes.tries()),
                256,
                new Ledger.Settle(identity.row(), holder, Ledger.State.FREE, null));
        return failure == null
                ? Results.failure(place.path(), problem, outcomes.tries())
                : Results.failure(place.path(), problem, outcomes.tries(), failure);
    }

    private void retry(Throwable failure, Ledger.Settle settle) {
        long now = execution.storeNow();
        long due = now + Attempt.pauseMicros(plan.step().retry(), outcomes.tries(), failure, execution.ambient());
        execution.counters().retries.increment();
        Entry.Problem problem = Results.problem(failure);
        execution.record(
                new Entry.Tried(place.path(), Entry.Kind.EFFECT, now, problem, outcomes.tries(), due), 256, settle);
        scope.waitFor(due, "retry", place.path());
    }

    /** Handles a step that was sent before with an unknown outcome. */
    private @Nullable Outcome<JsonNode> handleUnsettled(Ledger.Holder holder, Verdict.Unsettled unsettled, long seen) {
        renamed = unsettled.renamed();
        return switch (plan.protection()) {
            case Protection.Lookup _ -> renamed ? waitForDecision(holder, seen) : lookUp(holder, unsettled, seen);
            case Protection.AtMostOnce _ -> outcomes.indeterminate(holder, last);
            case Protection.ProviderKey _, Protection.Ask _ -> waitForDecision(holder, seen);
            case Protection.Repeatable _, Protection.None _ ->
                throw new IllegalStateException("a repeatable effect is never unsettled");
        };
    }

    /**
     * Handles an effect that was sent under another once-per-key key than it has now: only a user knows whether that
     * counts.
     */
    private @Nullable Outcome<JsonNode> handleRenamed(Ledger.Row other, Ledger.Holder holder, long seen) {
        if (other.state() == Ledger.State.DONE) {
            return outcomes.reused(Objects.requireNonNullElse(other.result(), "null"), null);
        }
        RunId by = other.holder().run();
        if (other.state() == Ledger.State.RESERVED && !by.equals(execution.run().id())) {
            return waitForOther(new Verdict.Taken(by, false), seen); // another run is sending it right now
        }
        if (plan.protection() instanceof Protection.AtMostOnce) {
            return outcomes.indeterminate(holder, last);
        }
        renamed = true;
        return waitForDecision(other.id(), holder, seen);
    }

    private @Nullable Outcome<JsonNode> lookUp(Ledger.Holder holder, Verdict.Unsettled unsettled, long seen) {
        Step step = new StepRunner.Doing(place.stepId(), identity.wireKey(unsettled.generation()), unsettled.attempt());
        LookUp.Found found = lookUp.ask(step);
        if (found instanceof LookUp.Found.Nothing && looks++ == 0) {
            // The first request may still be in transit: query once more after a pause.
            scope.waitFor(execution.storeNow() + QUIET_MICROS, "lookup", place.path());
            scope.mayBegin(); // a run that was cancelled meanwhile has not waited, and stays in doubt
            found = lookUp.ask(step);
        }
        if (lookUp.problem() != null) {
            last = lookUp.problem();
        }
        return switch (found) {
            case LookUp.Found.Done(JsonNode result) -> outcomes.settled(holder, result, Entry.How.FOUND);
            case LookUp.Found.NoAnswer(long due) -> handleNoAnswer(holder, due, seen);
            case LookUp.Found.Nothing _ -> unknownToProvider(holder);
        };
    }

    /** The provider has no record of it: send it if attempts are left. */
    private @Nullable Outcome<JsonNode> unknownToProvider(Ledger.Holder holder) {
        if (outcomes.tries() >= plan.step().retry().attempts()) {
            throw failStep(holder, null);
        }
        // CRASH(lookup-empty): the provider has no record of it; the next lookup finds the same, and then it is sent.
        execution.ambient().point("lookup-empty");
        Ledger.Settle free = new Ledger.Settle(identity.row(), holder, Ledger.State.FREE, null);
        long now = execution.storeNow();
        Entry.Problem problem = last == null ? Results.LOST : last;
        execution.record(
                new Entry.Tried(place.path(), Entry.Kind.EFFECT, now, problem, outcomes.tries(), 0), 256, free);
        return null;
    }

    /** The provider does not answer: a user may decide as well. Whichever comes first, the ledger is checked again. */
    private @Nullable Outcome<JsonNode> handleNoAnswer(Ledger.Holder holder, long due, long seen) {
        execution.note(new Ledger.Settle(identity.row(), holder, Ledger.State.UNKNOWN, null));
        execution.durable();
        if (Inquiry.ask(execution, Inquiry.doubt(plan, place.path(), identity.row().digest(), null))) {
            String what = Waiting.text("lookup", place.path(), due);
            scope.await(new Waits.Wait(due, what, false, false), seen);
        }
        return null;
    }

    private @Nullable Outcome<JsonNode> waitForDecision(Ledger.Holder holder, long seen) {
        return waitForDecision(identity.row(), holder, seen);
    }

    /** Waits until a user decides the outcome, then checks the ledger again. */
    private @Nullable Outcome<JsonNode> waitForDecision(Ledger.Id row, Ledger.Holder holder, long seen) {
        execution.counters().inDoubt.increment();
        inDoubt = true; // from now on only a decision sends it again, whatever wakes the run
        Ledger.Settle unknown = new Ledger.Settle(row, holder, Ledger.State.UNKNOWN, null);
        if (last == null || last.equals(recordedProblem)) {
            execution.note(unknown); // an earlier execution sent it, or this problem is recorded already
        } else {
            recordedProblem = last;
            long now = execution.storeNow();
            execution.record(
                    new Entry.Tried(place.path(), Entry.Kind.EFFECT, now, last, outcomes.tries(), 0), 256, unknown);
        }
        execution.durable();
        // CRASH(effect-doubted): the doubt is recorded; a restart finds it and waits for the decision.
        execution.ambient().point("effect-doubted");
        Review.Question question = renamed
                ? Inquiry.renamed(plan, place.path(), row.digest())
                : Inquiry.doubt(plan, place.path(), row.digest(), null);
        if (!Inquiry.ask(execution, question)) {
            return null; // a user decided before the review was opened
        }
        // The doubt may belong to the replayed run: a decision there wakes only that run, so this one polls.
        boolean own = execution.run().lineage().equals(execution.run().id());
        long due = own ? Write.Rest.NEVER : execution.storeNow() + LOOK_AGAIN_AT_MOST;
        String what = Waiting.text("decision", place.path(), due, row.digest());
        scope.await(new Waits.Wait(due, what, false, true), seen);
        return null;
    }

    private @Nullable Outcome<JsonNode> waitForOther(Verdict.Taken taken, long seen) {
        long pause = Math.min(LOOK_AGAIN_AT_MOST, LOOK_AGAIN_MICROS << Math.min(looks++, 7));
        long due = execution.storeNow() + pause;
        String what = Waiting.text("effect", place.path(), due, taken.by().text());
        scope.await(new Waits.Wait(due, what, false, false), seen);
        return null;
    }

    /** The data differ from what was accepted inside the window: a user decides whether to send it. */
    private @Nullable Outcome<JsonNode> review() {
        String content = Objects.requireNonNullElse(identity.content(), "");
        boolean send = Signals.review(scope, place, Inquiry.change(plan, place.path(), content))
                .path("approved")
                .asBoolean();
        onChange = send ? Ledger.OnChange.SEND : Ledger.OnChange.SUPPRESS;
        return null;
    }
}
