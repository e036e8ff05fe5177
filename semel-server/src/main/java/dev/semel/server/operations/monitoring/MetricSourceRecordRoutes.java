package dev.semel.server.operations.monitoring;

import dev.semel.run.RunId;
import dev.semel.runtime.SemelRuntime;
import dev.semel.server.http.ServerHttpRequest;
import dev.semel.server.http.ServerHttpResponse;
import dev.semel.server.operations.ViewJson;
import dev.semel.server.query.ApiErrors;
import dev.semel.server.query.BusinessObjectNamePiiMasker;
import dev.semel.server.query.PagingParameters;
import dev.semel.server.query.RunJsonRenderer;
import dev.semel.server.query.RunPiiMaskFactory;
import dev.semel.server.query.StoreReader;
import dev.semel.server.query.UnmaskedPiiValue;
import dev.semel.store.DatabaseRows;
import dev.semel.store.MetricCounter;
import dev.semel.store.MetricQueries;
import dev.semel.store.MetricUpdateCollector;
import dev.semel.store.StoreWrite;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ObjectNode;

/** Serves the rows behind the idempotency metrics (`GET /v1/facts?kind=`), and objects by their number of writes. */
final class MetricSourceRecordRoutes {
    private static final int MAX_SCANNED = 10_000;
    private static final int PAGE = 500;
    private static final Pattern HAVING = Pattern.compile("writes\\s*>\\s*(\\d{1,9})");
    private static final String KINDS =
            "conflict, replayed, duplicate_payload, expired, recovered, suppressed, written, notified, unkeyed";

    private final SemelRuntime semel;
    private final RunJsonRenderer views;
    private final RunPiiMaskFactory masks;

    MetricSourceRecordRoutes(SemelRuntime semel, RunJsonRenderer views) {
        this.semel = semel;
        this.views = views;
        this.masks = new RunPiiMaskFactory(semel);
    }

    ServerHttpResponse list(ServerHttpRequest request) {
        MetricQuery query = MetricQuery.of(semel, request);
        MetricCounter figure = figure(request.query("kind"));
        return switch (figure) {
            case CONFLICT, REPLAYED, DUPLICATE_PAYLOAD -> requests(request, query, figure);
            case EXPIRED, RECOVERED, SUPPRESSED, WRITTEN, NOTIFIED -> facts(request, query, figure);
            case UNKEYED -> new RunsWithoutIdempotencyKeyRoutes(semel).list(request, query);
            case KEYED, UNPROTECTED -> throw ApiErrors.invalidQuery("kind must be one of " + KINDS);
        };
    }

    private static MetricCounter figure(@Nullable String word) {
        for (MetricCounter figure : MetricCounter.values()) {
            if (figure.word().equals(word)) {
                return figure;
            }
        }
        throw ApiErrors.invalidQuery("kind must be one of " + KINDS);
    }

    private ServerHttpResponse facts(ServerHttpRequest request, MetricQuery query, MetricCounter figure) {
        PagingParameters paging = PagingParameters.parse(request);
        MetricQueries.FactCursor behind =
                paging.after() == null ? MetricQueries.FactCursor.START : behind(paging.after());
        String object = request.query("object");
        List<MetricUpdateCollector.MetricFact> found = new ArrayList<>();
        int limit = paging.limit();
        boolean more = true;
        for (int scanned = 0; more && scanned < MAX_SCANNED && found.size() < limit; scanned += PAGE) {
            MetricQueries.FactCursor from = behind;
            List<MetricUpdateCollector.MetricFact> page =
                    StoreReader.read(semel, reads -> reads.metrics().facts(query.range(), figure, from, PAGE));
            page.stream()
                    .filter(fact -> object == null || BusinessObjectNamePiiMasker.hasName(fact, object))
                    .limit(limit - found.size())
                    .forEach(found::add);
            more = page.size() == PAGE;
            behind = page.isEmpty() ? from : behind(page.getLast());
        }
        // A full page continues after its last item; a short one after the last scanned row.
        boolean full = found.size() == limit;
        String next = full ? cursor(behind(found.getLast())) : more ? cursor(behind) : null;
        return RunJsonRenderer.ok(RunJsonRenderer.pageJson(found, fact -> view(query, fact), next));
    }

    private static MetricQueries.FactCursor behind(MetricUpdateCollector.MetricFact fact) {
        return new MetricQueries.FactCursor(fact.at(), fact.run(), fact.digest());
    }

    private ObjectNode view(MetricQuery query, MetricUpdateCollector.MetricFact fact) {
        DatabaseRows.RunRow run = semel.view(reads -> reads.run(query.workspace(), fact.run()));
        ObjectNode out = RunJsonRenderer.newObject();
        out.put("kind", fact.counter().word());
        out.put("at", RunJsonRenderer.formatTime(fact.at()));
        out.put("run_id", run == null ? fact.run().text() : run.runIdText());
        out.put("key", run == null ? null : run.origin().key());
        out.put("workflow", query.workflowName(fact.workflowId()));
        out.put("step", fact.step().isEmpty() ? null : fact.step());
        out.set("object", UnmaskedPiiValue.object(fact).maskWith(masks.of(run, query.workspace(), fact.workflowId())));
        out.put("worth", fact.worth());
        if (fact.counter() == MetricCounter.EXPIRED) {
            out.put("first_used_at", RunJsonRenderer.formatTime(fact.keyFirstUsedAt()));
            out.put("hours_after", Math.round((fact.at() - fact.keyFirstUsedAt()) / 36_000_000.0) / 100.0);
        }
        return out;
    }

    private static String cursor(MetricQueries.FactCursor behind) {
        String text = behind.at() + " " + behind.run().text() + " " + behind.digest();
        return PagingParameters.encode(text);
    }

    private static MetricQueries.FactCursor behind(String cursor) {
        try {
            String[] parts = PagingParameters.decode(cursor).split(" ", -1);
            RunId run = parts.length == 3 ? RunId.parse(parts[1]) : null;
            if (run == null || parts[2].indexOf(0) >= 0) {
                throw new IllegalArgumentException("not a cursor of this list");
            }
            return new MetricQueries.FactCursor(Long.parseLong(parts[0]), run, parts[2]);
        } catch (IllegalArgumentException e) {
            throw ApiErrors.invalidQuery("`after` is not a cursor from an earlier page");
        }
    }

    /** Scans a limited number of the workspace's requests per page. The cursor continues after the last scanned row. */
    private ServerHttpResponse requests(ServerHttpRequest request, MetricQuery query, MetricCounter figure) {
        PagingParameters paging = PagingParameters.parse(request);
        ObjectNode out = RunJsonRenderer.newObject();
        var items = out.putArray("items");
        RunId before = paging.afterId();
        boolean more = true;
        for (int scanned = 0; more && scanned < MAX_SCANNED && items.size() < paging.limit(); scanned += PAGE) {
            RunId from = before;
            List<StoreWrite.DuplicateRequest> page =
                    StoreReader.read(semel, reads -> reads.requests(query.workspace(), from, PAGE));
            more = page.size() == PAGE;
            for (StoreWrite.DuplicateRequest row : page) {
                before = row.id();
                if (row.at() < query.period().since()) {
                    more = false;
                    break;
                }
                if (counts(row, figure, query)) {
                    items.add(ViewJson.of(views.request(query.workspace(), row)));
                }
                if (items.size() == paging.limit()) {
                    more = true;
                    break;
                }
            }
        }
        out.put("next", more && before != null ? PagingParameters.cursor(before) : null);
        return RunJsonRenderer.ok(out);
    }

    private boolean counts(StoreWrite.DuplicateRequest row, MetricCounter figure, MetricQuery query) {
        boolean kind = switch (figure) {
            case REPLAYED -> !row.conflict();
            case CONFLICT -> row.conflict() && row.statusCode() == 422;
            default -> row.conflict() && row.statusCode() != 422;
        };
        if (!kind || row.at() >= query.period().until()) {
            return false;
        }
        if (query.workflowId().isEmpty()) {
            return true;
        }
        DatabaseRows.RunRow run = semel.view(reads -> reads.run(query.workspace(), row.run()));
        return run != null && run.workflowId().equals(query.workflowId());
    }

    ServerHttpResponse objects(ServerHttpRequest request) {
        MetricQuery query = MetricQuery.of(semel, request);
        PagingParameters paging = PagingParameters.parse(request);
        String having = request.query("having");
        Matcher more = HAVING.matcher(having == null ? "writes>0" : having);
        if (!more.matches()) {
            throw ApiErrors.invalidQuery("having must be a condition like writes>1");
        }
        long least = Long.parseLong(more.group(1));
        List<MetricQueries.ObjectWrites> objectWrites = StoreReader.read(
                semel, reads -> reads.metrics().mostWrittenObjects(query.range(), least, paging.limit()));
        BusinessObjectNamePiiMasker shown = new BusinessObjectNamePiiMasker(semel, query.workspace());
        return RunJsonRenderer.ok(
                RunJsonRenderer.pageJson(objectWrites, thing -> view(query, thing, shown.mask(thing)), null));
    }

    private static ObjectNode view(MetricQuery query, MetricQueries.ObjectWrites objectWrites, String object) {
        // A link contains the object. For a masked object it lists all writes of the workflow.
        String list = BusinessObjectNamePiiMasker.hasName(objectWrites, object)
                ? "facts?kind=written&object=" + MetricQuery.escaped(object)
                : "facts?kind=written";
        return RunJsonRenderer.newObject()
                .put("object", object)
                .put("workflow", query.workflowName(objectWrites.workflowId()))
                .put("writes", objectWrites.writes())
                .put("first_at", RunJsonRenderer.formatTime(objectWrites.firstAt()))
                .put("last_at", RunJsonRenderer.formatTime(objectWrites.lastAt()))
                .put("list", query.listLink(list, objectWrites.workflowId()));
    }
}
