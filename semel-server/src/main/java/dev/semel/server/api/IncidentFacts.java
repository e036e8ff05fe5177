package dev.semel.server.api;

import dev.semel.Semel;
import dev.semel.effect.Ledger;
import dev.semel.run.RunId;
import dev.semel.run.RunState;
import dev.semel.server.alerts.Watch;
import dev.semel.store.Counted;
import dev.semel.store.Figure;
import dev.semel.store.Figures;
import dev.semel.store.Reads;
import dev.semel.store.Rows;
import dev.semel.store.Write;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/** What the store knows of a span of time in which something went wrong. Reads alone, in slices, and so far back only. */
final class IncidentFacts {
    private static final int AT_ONCE = 200;
    private static final int MOST_LOOKED_AT = 5_000;
    private static final int MOST_SHOWN = 50;
    private static final int LONGEST_MESSAGE = 300;

    /** Runs that were asked for before the span and failed in it are looked for as far back as this. */
    private static final long BEFORE_MICROS = 86_400_000_000L;

    private final Semel semel;
    private final Span span;
    private boolean complete = true;

    /** @param workflowId null for all */
    record Span(int workspace, @Nullable String workflowId, long since, long until) {
        boolean has(long at) {
            return at >= since && at < until;
        }

        Figures.Range range() {
            return new Figures.Range(workspace, workflowId == null ? "" : workflowId, since, until);
        }
    }

    IncidentFacts(Semel semel, Span span) {
        this.semel = semel;
        this.span = span;
    }

    ObjectNode gather() {
        ObjectNode out = Views.object();
        List<Rows.Run> failed = failed();
        out.put("failed_runs", failed.size());
        failed.stream()
                .min(Comparator.comparingLong(run -> end(run).endedAt()))
                .ifPresent(first -> out.set("first", first(first)));
        errors(out.putArray("errors"), failed);
        requests(out);
        expired(out);
        doubts(out);
        new Doubles(semel, span).tell(out);
        audit(out);
        alerts(out);
        return out.put("complete", complete);
    }

    private static Rows.End end(Rows.Run run) {
        return Objects.requireNonNull(run.end(), "a failed run has ended");
    }

    private List<Rows.Run> failed() {
        List<Rows.Run> found = new ArrayList<>();
        RunId before = null;
        for (int looked = 0; looked < MOST_LOOKED_AT; looked += AT_ONCE) {
            RunId behind = before;
            List<Rows.Run> page = semel.view(reads -> reads.runs(new Reads.RunFilter(
                    span.workspace(),
                    span.workflowId(),
                    RunState.FAILED,
                    null,
                    false,
                    Math.max(1, span.since() - BEFORE_MICROS),
                    behind,
                    AT_ONCE)));
            if (page == null || page.isEmpty()) {
                return found;
            }
            page.stream().filter(run -> span.has(end(run).endedAt())).forEach(found::add);
            before = page.getLast().id();
        }
        complete = false;
        return found;
    }

    private ObjectNode first(Rows.Run run) {
        Write.Ending ending = end(run).ending();
        String message = Bare.message(ending).textUnder(new Masks(semel).of(run));
        return Views.object()
                .put("run_id", run.runIdText())
                .put("key", run.origin().key())
                .put("step", ending.errorStep())
                .put("code", ending.errorCode())
                .put("message", message.length() > LONGEST_MESSAGE ? message.substring(0, LONGEST_MESSAGE) : message)
                .put("at", Views.time(end(run).endedAt()));
    }

    private static void errors(ArrayNode out, List<Rows.Run> failed) {
        record Error(String code, String step) {}
        Map<Error, Integer> counts =
                new TreeMap<>(Comparator.comparing(Error::code).thenComparing(Error::step));
        for (Rows.Run run : failed) {
            Write.Ending ending = end(run).ending();
            counts.merge(
                    new Error(String.valueOf(ending.errorCode()), String.valueOf(ending.errorStep())), 1, Integer::sum);
        }
        counts.entrySet().stream()
                .sorted(Map.Entry.<Error, Integer>comparingByValue().reversed())
                .limit(MOST_SHOWN)
                .forEach(one -> out.addObject()
                        .put("code", one.getKey().code())
                        .put("step", one.getKey().step())
                        .put("runs", one.getValue()));
    }

    /** Duplicates that were prevented. A request names its run alone, and that knows the workflow. */
    private void requests(ObjectNode out) {
        Map<RunId, Boolean> meant = new HashMap<>();
        long replayed = 0;
        long conflicts = 0;
        RunId before = null;
        for (int looked = 0; looked < MOST_LOOKED_AT; looked += AT_ONCE) {
            RunId behind = before;
            List<Write.Seen> page = semel.view(reads -> reads.requests(span.workspace(), behind, AT_ONCE));
            if (page == null || page.isEmpty() || page.getFirst().at() < span.since() - BEFORE_MICROS) {
                break;
            }
            for (Write.Seen seen : page) {
                if (span.has(seen.at()) && meant.computeIfAbsent(seen.run(), this::isMeant)) {
                    replayed += seen.conflict() ? 0 : seen.times();
                    conflicts += seen.conflict() ? seen.times() : 0;
                }
            }
            before = page.getLast().id();
            complete &= looked + AT_ONCE < MOST_LOOKED_AT || page.size() < AT_ONCE;
        }
        out.put("replayed_requests", replayed).put("conflicts", conflicts);
    }

    private boolean isMeant(RunId id) {
        Rows.Run run = span.workflowId() == null ? null : semel.view(reads -> reads.run(span.workspace(), id));
        return span.workflowId() == null || (run != null && run.workflowId().equals(span.workflowId()));
    }

    /** Retries that came after the window of their key, each of which started a new run. */
    private void expired(ObjectNode out) {
        List<Counted.Fact> found = Objects.requireNonNull(semel.view(
                reads -> reads.figures().facts(span.range(), Figure.EXPIRED, Figures.Behind.START, MOST_LOOKED_AT)));
        complete &= found.size() < MOST_LOOKED_AT;
        out.put("expired_key_retries", found.size());
    }

    private void doubts(ObjectNode out) {
        long open = 0;
        Reads.EffectPlace behind = null;
        for (int looked = 0; looked < MOST_LOOKED_AT; looked += AT_ONCE) {
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
            if (behind == null) {
                break;
            }
        }
        complete &= behind == null;
        out.put("in_doubt", open);
    }

    private void audit(ObjectNode out) {
        AuditFilter filter = new AuditFilter(null, null, null, span.since(), span.until());
        AuditRoutes.Page page = new AuditRoutes(semel).page(span.workspace(), filter, null, AT_ONCE);
        complete &= page.next() == null;
        ArrayNode rows = out.putArray("audit");
        page.found().stream().limit(MOST_SHOWN).forEach(row -> rows.add(AuditRoutes.view(row)));
        out.put("audit_rows", page.found().size());
        out.put(
                "decided",
                page.found().stream()
                        .filter(row -> row.action().startsWith("effect."))
                        .count());
    }

    /** Which alerts began to fire: what somebody could have known without looking. */
    private void alerts(ObjectNode out) {
        AuditFilter filter = new AuditFilter(null, Watch.FIRED, null, span.since(), span.until());
        AuditRoutes.Page page = new AuditRoutes(semel).page(span.workspace(), filter, null, MOST_SHOWN);
        ArrayNode rows = out.putArray("alerts");
        page.found()
                .reversed()
                .forEach(row -> rows.addObject()
                        .put("name", row.target())
                        .put("at", Views.time(row.at()))
                        .put("because", row.reason()));
    }
}
