package dev.semel.server.operations.incident;

import dev.semel.effect.EffectLedger;
import dev.semel.json.StrictJsonCodec;
import dev.semel.run.RunId;
import dev.semel.runtime.SemelRuntime;
import dev.semel.server.monitoring.MetricPeriod;
import dev.semel.server.query.PiiMask;
import dev.semel.server.query.RunJsonRenderer;
import dev.semel.server.query.RunPiiMaskFactory;
import dev.semel.server.query.StoreReader;
import dev.semel.server.query.UnmaskedPiiValue;
import dev.semel.store.DatabaseRows;
import dev.semel.store.MetricCounter;
import dev.semel.store.MetricQueries;
import dev.semel.store.MetricUpdateCollector;
import dev.semel.store.StoreQueries;
import dev.semel.store.StoreWrite;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
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
final class IncidentReportDataCollector {
    static final int PAGE_SIZE = 200;
    static final int MAX_SCANNED = 5_000;
    private static final int MAX_FAILED = 100_000;
    private static final int MAX_SHOWN = 50;
    private static final int LONGEST_MESSAGE = 300;
    private static final int LONGEST_INPUT = 2_000;

    private final SemelRuntime semel;
    private final IncidentPeriod span;
    private final SortedSet<String> atLeast = new TreeSet<>();

    /** @param workflowId null for all */
    record IncidentPeriod(int workspace, @Nullable String workflowId, long since, long until) {
        boolean contains(long at) {
            return at >= since && at < until;
        }

        MetricQueries.MetricRange range() {
            return new MetricQueries.MetricRange(workspace, workflowId == null ? "" : workflowId, since, until);
        }

        /** The cursor before all rows of the period: a run that acted in it was created before its end. */
        StoreQueries.EffectCursor startCursor() {
            return new StoreQueries.EffectCursor(RunId.upperBoundAt(until), "");
        }
    }

    IncidentReportDataCollector(SemelRuntime semel, IncidentPeriod span) {
        this.semel = semel;
        this.span = span;
    }

    ObjectNode collect() {
        ObjectNode out = RunJsonRenderer.newObject();
        out.put("one_workflow", span.workflowId() != null);
        addFailures(out);
        Map<MetricCounter, Long> counted = addDuplicates(out);
        addExpiredKeyRetries(out);
        addInDoubt(out);
        new IncidentDuplicateEffectFinder(semel, span, atLeast)
                .addFindings(out, counted.getOrDefault(MetricCounter.UNPROTECTED, 0L));
        new IncidentReportAuditCollector(semel, span, atLeast).addFindings(out, MAX_SHOWN);
        atLeast.forEach(out.putArray("at_least")::add);
        return out.put("complete", atLeast.isEmpty());
    }

    private void addFailures(ObjectNode out) {
        MetricQueries.FailureSummary failures =
                StoreReader.read(semel, reads -> reads.metrics().failures(span.range(), MAX_FAILED));
        out.put("failed_runs", failures.runs());
        if (failures.more()) {
            atLeast.add("failed_runs");
        }
        RunId id = failures.firstRun();
        DatabaseRows.RunRow first = id == null ? null : semel.view(reads -> reads.run(span.workspace(), id));
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

    private ObjectNode first(DatabaseRows.RunRow run, DatabaseRows.RunEnd end) {
        StoreWrite.RunResult ending = end.result();
        PiiMask mask = new RunPiiMaskFactory(semel).of(run);
        String message = UnmaskedPiiValue.message(ending).maskTextWith(mask);
        ObjectNode out = RunJsonRenderer.newObject();
        UnmaskedPiiValue.httpStatus(ending).ifPresent(status -> out.put("http_status", status));
        // The report is stored as text, so PII must be masked now.
        String input = StrictJsonCodec.write(UnmaskedPiiValue.input(run).maskWith(mask));
        return out.put("input", input.length() > LONGEST_INPUT ? input.substring(0, LONGEST_INPUT) + "…" : input)
                .put("run_id", run.runIdText())
                .put("key", run.origin().key())
                .put("step", ending.errorStep())
                .put("code", ending.errorCode())
                .put("message", message.length() > LONGEST_MESSAGE ? message.substring(0, LONGEST_MESSAGE) : message)
                .put("at", RunJsonRenderer.formatTime(end.endedAt()));
    }

    /** Exact counts per minute, or per hour for older times; `counted_since` and `counted_until` give their period. */
    private Map<MetricCounter, Long> addDuplicates(ObjectNode out) {
        long now = StoreReader.now(semel);
        MetricPeriod period = MetricPeriod.of(span.since(), span.until(), now);
        MetricQueries.MetricRange range =
                period.of(span.workspace(), span.range().workflowId(), "");
        List<MetricQueries.CounterSum> sums =
                StoreReader.read(semel, reads -> reads.metrics().sums(range, period.grain()));
        Map<MetricCounter, Long> counted = new EnumMap<>(MetricCounter.class);
        sums.forEach(sum -> counted.merge(sum.counter(), sum.count(), Long::sum));
        out.put("replayed_requests", counted.getOrDefault(MetricCounter.REPLAYED, 0L))
                .put("suppressed_effects", counted.getOrDefault(MetricCounter.SUPPRESSED, 0L))
                .put(
                        "conflicts",
                        counted.getOrDefault(MetricCounter.CONFLICT, 0L)
                                + counted.getOrDefault(MetricCounter.DUPLICATE_PAYLOAD, 0L))
                .put("counted_since", RunJsonRenderer.formatTime(period.since()))
                .put("counted_until", RunJsonRenderer.formatTime(period.until()))
                .put("hourly", isWiderThanPeriod(period));
        return counted;
    }

    private boolean isWiderThanPeriod(MetricPeriod period) {
        return span.since() - period.since() >= MetricUpdateCollector.MICROS_PER_MINUTE
                || period.until() - span.until() >= MetricUpdateCollector.MICROS_PER_MINUTE;
    }

    /** Retries after the window of their key. Each started a new run. */
    private void addExpiredKeyRetries(ObjectNode out) {
        List<MetricUpdateCollector.MetricFact> found = StoreReader.read(
                semel,
                reads -> reads.metrics()
                        .facts(span.range(), MetricCounter.EXPIRED, MetricQueries.FactCursor.START, MAX_SCANNED));
        if (found.size() == MAX_SCANNED) {
            atLeast.add("expired_key_retries");
        }
        out.put("expired_key_retries", found.size());
    }

    private void addInDoubt(ObjectNode out) {
        long open = 0;
        StoreQueries.EffectCursor behind = span.startCursor();
        for (int scanned = 0; behind != null && scanned < MAX_SCANNED; scanned += PAGE_SIZE) {
            var filter = new StoreQueries.EffectFilter(
                    span.workspace(),
                    EffectLedger.EffectState.UNKNOWN,
                    span.workflowId(),
                    null,
                    null,
                    null,
                    StoreQueries.EffectSelection.ALL,
                    behind,
                    PAGE_SIZE);
            StoreQueries.EffectPage page = StoreReader.read(semel, reads -> reads.effects(filter));
            open += page.found().stream()
                    .filter(row -> span.contains(row.firstAt()))
                    .count();
            behind = page.next();
        }
        if (behind != null) {
            atLeast.add("in_doubt");
        }
        out.put("in_doubt", open);
    }
}
