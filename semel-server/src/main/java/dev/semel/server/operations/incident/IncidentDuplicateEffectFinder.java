package dev.semel.server.operations.incident;

import dev.semel.effect.EffectLedger;
import dev.semel.runtime.SemelRuntime;
import dev.semel.server.query.BusinessObjectNamePiiMasker;
import dev.semel.server.query.StoreReader;
import dev.semel.store.MetricQueries;
import dev.semel.store.StoreQueries;
import java.util.ArrayList;
import java.util.List;
import java.util.SortedSet;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * Finds duplicate effects in the period of an incident: objects that two effects created, and unprotected effects sent
 * more than once. It cannot compare effects without an object, nor see what a provider did twice with one request.
 */
record IncidentDuplicateEffectFinder(
        SemelRuntime semel, IncidentReportDataCollector.IncidentPeriod span, SortedSet<String> atLeast) {
    private static final int MOST_OBJECTS = 50;
    private static final int MOST_PAGES =
            IncidentReportDataCollector.MAX_SCANNED / IncidentReportDataCollector.PAGE_SIZE;

    /** @param unprotected how many effects without a protection were accepted in this period */
    void addFindings(ObjectNode out, long unprotected) {
        List<MetricQueries.ObjectWrites> repeated =
                StoreReader.read(semel, reads -> reads.metrics().mostWrittenObjects(span.range(), 1, MOST_OBJECTS));
        if (repeated.size() == MOST_OBJECTS) {
            atLeast.add("duplicated");
        }
        ArrayNode objects = out.putArray("duplicated_objects");
        // The report stores these names as text, so PII must be masked now.
        BusinessObjectNamePiiMasker masks = new BusinessObjectNamePiiMasker(semel, span.workspace());
        for (MetricQueries.ObjectWrites objectWrites : repeated) {
            List<EffectLedger.EffectRow> made = creations(objectWrites);
            if (made.size() > 1) {
                ObjectNode one = objects.addObject().put("object", masks.mask(objectWrites, made));
                one.put("created", made.size());
                made.stream().map(row -> row.holder().run().text()).forEach(one.putArray("runs")::add);
            }
        }
        out.put("duplicated", objects.size());
        out.put("possibly_duplicated", (unprotected == 0 ? 0 : countRetried(unprotected)) + countUnconfirmed());
    }

    /** Effects that created this object in the period. A repeated update is not a duplicate. */
    private List<EffectLedger.EffectRow> creations(MetricQueries.ObjectWrites objectWrites) {
        List<EffectLedger.EffectRow> made = new ArrayList<>();
        boolean all = scan(EffectLedger.EffectState.DONE, objectWrites.object(), null, page -> {
            page.stream()
                    .filter(row -> row.details().does().equals("create"))
                    .filter(row -> row.details().workflowId().equals(objectWrites.workflowId()))
                    .filter(row -> span.contains(row.acceptedAt()))
                    .limit(Math.max(0, MOST_OBJECTS - made.size()))
                    .forEach(made::add);
            return made.size() < MOST_OBJECTS;
        });
        if (!all) {
            atLeast.add("duplicated");
        }
        return made;
    }

    /** Counts effects with `protect: none` and more than one attempt: each attempt may have happened. */
    private long countRetried(long unprotected) {
        long[] seen = {0, 0};
        boolean all = scan(EffectLedger.EffectState.DONE, null, "none", page -> {
            for (EffectLedger.EffectRow row : page) {
                boolean then = span.contains(row.acceptedAt());
                seen[0] += then ? 1 : 0;
                seen[1] += then && row.attempt() > 1 ? 1 : 0;
            }
            return seen[0] < unprotected;
        });
        // The counters cover whole minutes or hours, so fewer rows than counted may exist.
        if (!all && seen[0] < unprotected) {
            atLeast.add("possibly_duplicated");
        }
        return seen[1];
    }

    /** Counts effects with `protect: none` that were sent more than once, although none of the attempts was accepted. */
    private long countUnconfirmed() {
        long[] seen = {0};
        boolean all = scan(EffectLedger.EffectState.UNCONFIRMED, null, "none", page -> {
            seen[0] += page.stream()
                    .filter(row ->
                            row.attempt() > 1 && span.contains(row.lastSend().at()))
                    .count();
            return true;
        });
        if (!all) {
            atLeast.add("possibly_duplicated");
        }
        return seen[0];
    }

    /** Reads pages backwards from the end of the period until `slice` returns false. False if the limit cut it off. */
    private boolean scan(
            EffectLedger.EffectState state,
            @Nullable String object,
            @Nullable String protection,
            Predicate<List<EffectLedger.EffectRow>> slice) {
        StoreQueries.EffectCursor behind = span.startCursor();
        boolean more = true;
        for (int pages = 0; more && behind != null && pages < MOST_PAGES; pages++) {
            var filter = new StoreQueries.EffectFilter(
                    span.workspace(),
                    state,
                    span.workflowId(),
                    object,
                    protection,
                    null,
                    StoreQueries.EffectSelection.NOT_SUPPRESSED,
                    behind,
                    IncidentReportDataCollector.PAGE_SIZE);
            StoreQueries.EffectPage page = StoreReader.read(semel, reads -> reads.effects(filter));
            more = slice.test(page.found());
            behind = page.next();
        }
        return behind == null;
    }
}
