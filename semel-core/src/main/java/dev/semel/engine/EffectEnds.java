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

/** How an effect comes to its end: what the journal gets, what the ledger gets, and what the workflow is told. */
final class EffectEnds {
    private final Scope scope;
    private final Execution execution;
    private final EffectPlan plan;
    private final Scope.Place place;
    private final EffectName name;
    private int tries;

    EffectEnds(Scope scope, EffectPlan plan, Scope.Place place, EffectName name) {
        this.scope = scope;
        this.execution = scope.execution();
        this.plan = plan;
        this.place = place;
        this.name = name;
        this.tries = place.tries();
    }

    /** It is tried once more. */
    void tried() {
        tries++;
    }

    /** How often it was tried, over all executions. */
    int tries() {
        return tries;
    }

    /** It happened: the ledger and the journal get the result in one commit, at the latest before anything else leaves. */
    Outcome<JsonNode> settled(Ledger.Holder holder, @Nullable JsonNode result, Entry.How how) {
        Results.Fit fit = Results.fit(result, place.path(), execution.engine().limits());
        if (fit.problem() != null) {
            return unrecordable(holder, fit.problem());
        }
        long at = execution.ambient().micros();
        execution.record(
                new Entry.Done(place.path(), Entry.Kind.EFFECT, at, fit.kept(), how, tries, null),
                fit.bytes(),
                name.done(holder, fit.text()));
        return new Outcome.Done<>(fit.kept().deepCopy());
    }

    /** It happened, and only what it answered cannot be kept: the step fails, and the deed is not done again. */
    Outcome<JsonNode> unrecordable(Ledger.Holder holder, Entry.Problem problem) {
        execution.record(
                new Entry.Failed(
                        place.path(), Entry.Kind.EFFECT, execution.ambient().micros(), problem, tries),
                256,
                name.done(holder, "null"));
        throw Results.failure(place.path(), problem, tries);
    }

    /**
     * Somebody else's result, or an earlier one of our own: only the journal learns of it.
     *
     * @param first whose deed it was, where the run that this one replays was suppressed; so is this one
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
                name.suppressed(holder, suppressed.result(), first));
        return new Outcome.Done<>(kept.deepCopy());
    }

    /**
     * Never sent again, and the run goes on. People are asked all the same: other runs may wait for its key. They are
     * asked before the journal says that the step is over, since nobody would come back to ask afterwards.
     *
     * @param last how the send ended, where anybody knows
     */
    Outcome<JsonNode> indeterminate(Ledger.Holder holder, Entry.@Nullable Problem last) {
        execution.counters().inDoubt.increment();
        execution.note(new Ledger.Settle(name.row(), holder, Ledger.State.UNKNOWN, null));
        execution.durable();
        // Whatever they have said by now, this step stays as it is: it was sent once.
        var unused = Inquiry.ask(
                execution, Inquiry.doubt(plan, place.path(), name.row().digest(), last));
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

    /** It tells somebody something, and the run is a replay that does not: the run goes on, and the ledger has nothing. */
    Outcome<JsonNode> silent() {
        scope.keepSilent(place.path());
        JsonNode nothing = JsonNodeFactory.instance.nullNode();
        long at = execution.ambient().micros();
        execution.record(
                new Entry.Done(place.path(), Entry.Kind.EFFECT, at, nothing, Entry.How.SILENT, tries, null), 64);
        return new Outcome.Done<>(nothing);
    }
}
