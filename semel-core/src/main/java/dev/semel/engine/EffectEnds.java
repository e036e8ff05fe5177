package dev.semel.engine;

import dev.semel.effect.Ledger;
import dev.semel.effect.Ledger.Verdict;
import dev.semel.journal.Entry;
import dev.semel.json.Json;
import dev.semel.workflow.EffectPlan;
import dev.semel.workflow.Outcome;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.JsonNodeFactory;

/** Records the outcome of an effect in journal and ledger and returns it to the workflow. */
final class EffectEnds {
    private final Scope scope;
    private final Execution execution;
    private final EffectPlan plan;
    private final Scope.Place place;
    private final EffectName identity;
    private int tries;

    EffectEnds(Scope scope, EffectPlan plan, Scope.Place place, EffectName identity) {
        this.scope = scope;
        this.execution = scope.execution();
        this.plan = plan;
        this.place = place;
        this.identity = identity;
        this.tries = place.tries();
    }

    /** Counts one more attempt. */
    void tried() {
        tries++;
    }

    /** Number of attempts over all executions. */
    int tries() {
        return tries;
    }

    /** Records that the effect happened. One commit writes ledger and journal, at the latest before the next effect. */
    Outcome<JsonNode> settled(Ledger.Holder holder, @Nullable JsonNode result, Entry.How how) {
        Results.Fit fit = Results.fit(result, place.path(), execution.engine().limits());
        if (fit.problem() != null) {
            return unrecordable(holder, fit.problem());
        }
        long at = execution.ambient().micros();
        execution.record(
                new Entry.Done(place.path(), Entry.Kind.EFFECT, at, fit.kept(), how, tries, null),
                fit.bytes(),
                identity.done(holder, fit.text()));
        return new Outcome.Done<>(fit.kept().deepCopy());
    }

    /**
     * Records that the effect happened but its result cannot be stored: the step fails and the effect is not sent
     * again.
     */
    Outcome<JsonNode> unrecordable(Ledger.Holder holder, Entry.Problem problem) {
        execution.record(
                new Entry.Failed(
                        place.path(), Entry.Kind.EFFECT, execution.ambient().micros(), problem, tries),
                256,
                identity.done(holder, "null"));
        throw Results.failure(place.path(), problem, tries);
    }

    /**
     * Records a result of another run, or an earlier one of this run, in the journal only.
     *
     * @param first the run that sent the effect, if the replayed run was itself suppressed
     */
    Outcome<JsonNode> reused(String result, @Nullable String first) {
        JsonNode kept = Json.parse(result);
        execution.counters().reused.increment();
        if (first != null) {
            scope.stoodFor(place.path(), first);
        }
        execution.record(
                new Entry.Done(
                        place.path(),
                        Entry.Kind.EFFECT,
                        execution.ambient().micros(),
                        kept,
                        Entry.How.REUSED,
                        tries,
                        first),
                result.length());
        return new Outcome.Done<>(kept.deepCopy());
    }

    Outcome<JsonNode> suppressed(Ledger.Holder holder, Verdict.Suppressed suppressed) {
        execution.counters().suppressed.increment();
        JsonNode kept = Json.parse(suppressed.result());
        String first = scope.stoodFor(place.path(), suppressed.by().text() + " " + suppressed.acceptedAt());
        execution.record(
                new Entry.Done(
                        place.path(),
                        Entry.Kind.EFFECT,
                        execution.ambient().micros(),
                        kept,
                        Entry.How.SUPPRESSED,
                        tries,
                        first),
                suppressed.result().length(),
                identity.suppressed(holder, suppressed.result(), first));
        return new Outcome.Done<>(kept.deepCopy());
    }

    /**
     * Records an unknown outcome that is never sent again, and lets the run continue.
     * It opens a review, since other runs may wait for the key. It does so before the journal ends the step; later no
     * execution would come back to do it.
     *
     * @param last how the send failed, if known
     */
    Outcome<JsonNode> indeterminate(Ledger.Holder holder, Entry.@Nullable Problem last) {
        execution.counters().inDoubt.increment();
        execution.note(new Ledger.Settle(identity.row(), holder, Ledger.State.UNKNOWN, null));
        execution.durable();
        // Whatever the users decided, this step stays indeterminate: it was sent once.
        var unused = Inquiry.ask(
                execution, Inquiry.doubt(plan, place.path(), identity.row().digest(), last));
        execution.record(
                new Entry.Done(
                        place.path(),
                        Entry.Kind.EFFECT,
                        execution.ambient().micros(),
                        Json.parse("null"),
                        Entry.How.INDETERMINATE,
                        tries,
                        null),
                64);
        return new Outcome.Indeterminate<>(Results.INDETERMINATE);
    }

    /** Records a notification that a replay without notifications does not send. The ledger gets no row. */
    Outcome<JsonNode> silent() {
        scope.keepSilent(place.path());
        JsonNode nothing = JsonNodeFactory.instance.nullNode();
        long at = execution.ambient().micros();
        execution.record(
                new Entry.Done(place.path(), Entry.Kind.EFFECT, at, nothing, Entry.How.SILENT, tries, null), 64);
        return new Outcome.Done<>(nothing);
    }
}
