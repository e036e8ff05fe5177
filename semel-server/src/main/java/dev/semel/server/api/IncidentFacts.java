package dev.semel.server.api;

import dev.semel.Semel;
import dev.semel.effect.Ledger;
import dev.semel.run.RunId;
import dev.semel.server.signals.Period;
import dev.semel.store.Counted;
import dev.semel.store.Figure;
import dev.semel.store.Figures;
import dev.semel.store.Reads;
import dev.semel.store.Rows;
import dev.semel.store.Write;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.SortedSet;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * Collects the facts of an incident report from the store: failures, duplicates, effects in doubt, audit and alerts. It
 * only reads. Scans go backwards from the end of the period and are limited; `at_least` names each count that reached
 * its limit, and the report must not present such a count as zero.
 */
final class IncidentFacts {
    static final int AT_ONCE = 200;
    static final int MOST_LOOKED_AT = 5_000;
    private static final int MAX_FAILED = 100_000;
    private static final int MAX_SHOWN = 50;
    private static final int LONGEST_MESSAGE = 300;

    private final Semel semel;
    private final Span span;
    private final SortedSet<String> atLeast = new TreeSet<>();

    /** @param workflowId null for all */
    record Span(int workspace, @Nullable String workflowId, long since, long until) {
        boolean has(long at) {
            return at >= since && at < until;
        }

        Figures.Range range() {
            return new Figures.Range(workspace, workflowId == null ? "" : workflowId, since, until);
        }

        /** The cursor before all rows of the period: a run that acted in it was created before its end. */
        Reads.EffectPlace end() {
            return new Reads.EffectPlace(RunId.madeUntil(until), "");
        }
    }

    IncidentFacts(Semel semel, Span span) {
        this.semel = semel;
        this.span = span;
    }

    ObjectNode gather() {
        ObjectNode out = Views.object();
        addFailures(out);
        Map<Figure, Long> counted = addDuplicates(out);
        addExpiredKeyRetries(out);
        addInDoubt(out);
        new Doubles(semel, span, atLeast).tell(out, counted.getOrDefault(Figure.UNPROTECTED, 0L));
        new IncidentAudit(semel, span, atLeast).tell(out, MAX_SHOWN);
        atLeast.forEach(out.putArray("at_least")::add);
        return out.put("complete", atLeast.isEmpty());
    }

    private void addFailures(ObjectNode out) {
        Figures.Failures failures =
                Objects.requireNonNull(semel.view(reads -> reads.figures().failures(span.range(), MAX_FAILED)));
        out.put("failed_runs", failures.runs());
        if (failures.more()) {
            atLeast.add("failed_runs");
        }
        RunId id = failures.first();
        Rows.Run first = id == null ? null : semel.view(reads -> reads.run(span.workspace(), id));
        if (first != null && first.end() != null) {
            out.set("first", first(first, first.end()));
        }
        ArrayNode errors = out.putArray("errors");
        failures.errors().stream()
                .limit(MAX_SHOWN)
                .forEach(error -> errors.addObject()
                        .put("code", error.code())
                        .put("step", error.step())
                        .put("runs", error.runs()));
    }

    private ObjectNode first(Rows.Run run, Rows.End end) {
        Write.Ending ending = end.ending();
        String message = Bare.message(ending).textUnder(new Masks(semel).of(run));
        return Views.object()
                .put("run_id", run.runIdText())
                .put("key", run.origin().key())
                .put("step", ending.errorStep())
                .put("code", ending.errorCode())
                .put("message", message.length() > LONGEST_MESSAGE ? message.substring(0, LONGEST_MESSAGE) : message)
                .put("at", Views.time(end.endedAt()));
    }

    /** Exact counts per minute, or per hour for older times; `counted_since` and `counted_until` give their period. */
    private Map<Figure, Long> addDuplicates(ObjectNode out) {
        long now = Objects.requireNonNull(semel.view(reads -> reads.now()));
        Period period = Period.of(span.since(), span.until(), now);
        Figures.Range range = period.of(span.workspace(), span.range().workflowId(), "");
        List<Figures.Sum> sums =
                Objects.requireNonNull(semel.view(reads -> reads.figures().sums(range, period.grain())));
        Map<Figure, Long> counted = new EnumMap<>(Figure.class);
        sums.forEach(sum -> counted.merge(sum.figure(), sum.n(), Long::sum));
        out.put("replayed_requests", counted.getOrDefault(Figure.REPLAYED, 0L))
                .put("suppressed_effects", counted.getOrDefault(Figure.SUPPRESSED, 0L))
                .put(
                        "conflicts",
                        counted.getOrDefault(Figure.CONFLICT, 0L) + counted.getOrDefault(Figure.SAME_PAYLOAD, 0L))
                .put("counted_since", Views.time(period.since()))
                .put("counted_until", Views.time(period.until()))
                .put("by_the_hour", isWiderThanPeriod(period));
        return counted;
    }

    private boolean isWiderThanPeriod(Period period) {
        return span.since() - period.since() >= Counted.MINUTE || period.until() - span.until() >= Counted.MINUTE;
    }

    /** Retries after the window of their key. Each started a new run. */
    private void addExpiredKeyRetries(ObjectNode out) {
        List<Counted.Fact> found = Objects.requireNonNull(semel.view(
                reads -> reads.figures().facts(span.range(), Figure.EXPIRED, Figures.Behind.START, MOST_LOOKED_AT)));
        if (found.size() == MOST_LOOKED_AT) {
            atLeast.add("expired_key_retries");
        }
        out.put("expired_key_retries", found.size());
    }

    private void addInDoubt(ObjectNode out) {
        long open = 0;
        Reads.EffectPlace behind = span.end();
        for (int scanned = 0; behind != null && scanned < MOST_LOOKED_AT; scanned += AT_ONCE) {
            var filter = new Reads.EffectFilter(
                    span.workspace(),
                    Ledger.State.UNKNOWN,
                    span.workflowId(),
                    null,
                    null,
                    null,
                    Reads.Part.ALL,
                    behind,
                    AT_ONCE);
            Reads.LedgerPage page = Objects.requireNonNull(semel.view(reads -> reads.effects(filter)));
            open += page.found().stream().filter(row -> span.has(row.firstAt())).count();
            behind = page.next();
        }
        if (behind != null) {
            atLeast.add("in_doubt");
        }
        out.put("in_doubt", open);
    }
}
