package dev.semel.server.api;

import dev.semel.runtime.SemelRuntime;
import dev.semel.run.RunId;
import dev.semel.server.http.HttpResponse;
import dev.semel.server.http.HttpRequest;
import dev.semel.store.MetricUpdates;
import dev.semel.store.MetricCounter;
import dev.semel.store.MetricQueries;
import dev.semel.store.StoredRows;
import dev.semel.store.StoreWrite;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Objects;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ObjectNode;

/** Serves the rows behind the idempotency metrics (`GET /v1/facts?kind=`), and objects by their number of writes. */
final class MetricFactRoutes {
    private static final int MAX_SCANNED = 10_000;
    private static final int PAGE = 500;
    private static final Pattern HAVING = Pattern.compile("writes\\s*>\\s*(\\d{1,9})");
    private static final String KINDS =
            "conflict, replayed, same_payload, expired, recovered, suppressed, written, told, unkeyed";

    private final SemelRuntime semel;
    private final JsonViews views;
    private final PiiMasks masks;

    MetricFactRoutes(SemelRuntime semel, JsonViews views) {
        this.semel = semel;
        this.views = views;
        this.masks = new PiiMasks(semel);
    }

    HttpResponse list(HttpRequest request) {
        MetricQuery query = MetricQuery.of(semel, request);
        MetricCounter figure = figure(request.query("kind"));
        return switch (figure) {
            case CONFLICT, REPLAYED, SAME_PAYLOAD -> requests(request, query, figure);
            case EXPIRED, RECOVERED, SUPPRESSED, WRITTEN, TOLD -> facts(request, query, figure);
            case UNKEYED -> new UnkeyedRunList(semel).list(request, query);
            case KEYED, UNPROTECTED -> throw PagingParameters.invalidQuery("kind must be one of " + KINDS);
        };
    }

    private static MetricCounter figure(@Nullable String word) {
        for (MetricCounter figure : MetricCounter.values()) {
            if (figure.word().equals(word)) {
                return figure;
            }
        }
        throw PagingParameters.invalidQuery("kind must be one of " + KINDS);
    }

    private HttpResponse facts(HttpRequest request, MetricQuery query, MetricCounter figure) {
        PagingParameters paging = PagingParameters.parse(request);
        MetricQueries.FactCursor behind = paging.after() == null ? MetricQueries.FactCursor.START : behind(paging.after());
        String object = request.query("object");
        List<MetricUpdates.MetricFact> found = new ArrayList<>();
        int limit = paging.limit();
        boolean more = true;
        for (int scanned = 0; more && scanned < MAX_SCANNED && found.size() < limit; scanned += PAGE) {
            MetricQueries.FactCursor from = behind;
            List<MetricUpdates.MetricFact> page = Objects.requireNonNull(
                    semel.view(reads -> reads.metrics().facts(query.range(), figure, from, PAGE)));
            page.stream()
                    .filter(fact -> object == null || ObjectNameMasker.hasName(fact, object))
                    .limit(limit - found.size())
                    .forEach(found::add);
            more = page.size() == PAGE;
            behind = page.isEmpty() ? from : behind(page.getLast());
        }
        ObjectNode out = JsonViews.newObject();
        var items = out.putArray("items");
        found.forEach(fact -> items.add(view(query, fact)));
        // A full page continues after its last item; a short one after the last scanned row.
        boolean full = found.size() == limit;
        return JsonViews.ok(out.put("next", full ? cursor(behind(found.getLast())) : more ? cursor(behind) : null));
    }

    private static MetricQueries.FactCursor behind(MetricUpdates.MetricFact fact) {
        return new MetricQueries.FactCursor(fact.at(), fact.run(), fact.digest());
    }

    private ObjectNode view(MetricQuery query, MetricUpdates.MetricFact fact) {
        StoredRows.RunRow run = semel.view(reads -> reads.run(query.workspace(), fact.run()));
        ObjectNode out = JsonViews.newObject();
        out.put("kind", fact.counter().word());
        out.put("at", JsonViews.formatTime(fact.at()));
        out.put("run_id", run == null ? fact.run().text() : run.runIdText());
        out.put("key", run == null ? null : run.origin().key());
        out.put("workflow", query.workflowName(fact.workflowId()));
        out.put("step", fact.step().isEmpty() ? null : fact.step());
        out.set("object", UnmaskedValue.object(fact).maskWith(masks.of(run, query.workspace(), fact.workflowId())));
        out.put("worth", fact.worth());
        if (fact.counter() == MetricCounter.EXPIRED) {
            out.put("first_used_at", JsonViews.formatTime(fact.keyFirstUsedAt()));
            out.put("hours_after", Math.round((fact.at() - fact.keyFirstUsedAt()) / 36_000_000.0) / 100.0);
        }
        return out;
    }

    private static String cursor(MetricQueries.FactCursor behind) {
        String text = behind.at() + " " + behind.run().text() + " " + behind.digest();
        return Base64.getUrlEncoder().withoutPadding().encodeToString(text.getBytes(StandardCharsets.UTF_8));
    }

    private static MetricQueries.FactCursor behind(String cursor) {
        try {
            String[] parts = new String(Base64.getUrlDecoder().decode(cursor), StandardCharsets.UTF_8).split(" ", -1);
            RunId run = parts.length == 3 ? RunId.parse(parts[1]) : null;
            if (run == null || parts[2].indexOf(0) >= 0) {
                throw new IllegalArgumentException("not a cursor of this list");
            }
            return new MetricQueries.FactCursor(Long.parseLong(parts[0]), run, parts[2]);
        } catch (IllegalArgumentException e) {
            throw PagingParameters.invalidQuery("after is not a cursor from an earlier page");
        }
    }

    /** Scans a limited number of the workspace's requests per page. The cursor continues after the last scanned row. */
    private HttpResponse requests(HttpRequest request, MetricQuery query, MetricCounter figure) {
        PagingParameters paging = PagingParameters.parse(request);
        ObjectNode out = JsonViews.newObject();
        var items = out.putArray("items");
        RunId before = paging.afterId();
        boolean more = true;
        for (int scanned = 0; more && scanned < MAX_SCANNED && items.size() < paging.limit(); scanned += PAGE) {
            RunId from = before;
            List<StoreWrite.DuplicateRequest> page =
                    Objects.requireNonNull(semel.view(reads -> reads.requests(query.workspace(), from, PAGE)));
            more = page.size() == PAGE;
            for (StoreWrite.DuplicateRequest row : page) {
                before = row.id();
                if (row.at() < query.period().since()) {
                    more = false;
                    break;
                }
                if (counts(row, figure, query)) {
                    items.add(views.requestJson(query.workspace(), row));
                }
                if (items.size() == paging.limit()) {
                    more = true;
                    break;
                }
            }
        }
        out.put("next", more && before != null ? PagingParameters.cursor(before) : null);
        return JsonViews.ok(out);
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
        StoredRows.RunRow run = semel.view(reads -> reads.run(query.workspace(), row.run()));
        return run != null && run.workflowId().equals(query.workflowId());
    }

    HttpResponse objects(HttpRequest request) {
        MetricQuery query = MetricQuery.of(semel, request);
        PagingParameters paging = PagingParameters.parse(request);
        String having = request.query("having");
        Matcher more = HAVING.matcher(having == null ? "writes>0" : having);
        if (!more.matches()) {
            throw PagingParameters.invalidQuery("having must be a condition like writes>1");
        }
        long least = Long.parseLong(more.group(1));
        List<MetricQueries.ObjectWrites> things = Objects.requireNonNull(
                semel.view(reads -> reads.metrics().mostWrittenObjects(query.range(), least, paging.limit())));
        ObjectNode out = JsonViews.newObject();
        var items = out.putArray("items");
        ObjectNameMasker shown = new ObjectNameMasker(semel, query.workspace());
        things.forEach(thing -> items.add(view(query, thing, shown.mask(thing))));
        out.putNull("next");
        return JsonViews.ok(out);
    }

    private static ObjectNode view(MetricQuery query, MetricQueries.ObjectWrites thing, String object) {
        // A link contains the object. For a masked object it lists all writes of the workflow.
        String list = ObjectNameMasker.hasName(thing, object)
                ? "facts?kind=written&object=" + MetricQuery.escaped(object)
                : "facts?kind=written";
        return JsonViews.newObject()
                .put("object", object)
                .put("workflow", query.workflowName(thing.workflowId()))
                .put("writes", thing.writes())
                .put("first_at", JsonViews.formatTime(thing.firstAt()))
                .put("last_at", JsonViews.formatTime(thing.lastAt()))
                .put("list", query.listLink(list, thing.workflowId()));
    }
}
