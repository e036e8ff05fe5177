package dev.semel.server.api;

import dev.semel.Semel;
import dev.semel.run.RunId;
import dev.semel.server.http.Answer;
import dev.semel.server.http.Request;
import dev.semel.store.Counted;
import dev.semel.store.Figure;
import dev.semel.store.Figures;
import dev.semel.store.Rows;
import dev.semel.store.Write;
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
final class FactRoutes {
    private static final int MAX_SCANNED = 10_000;
    private static final int PAGE = 500;
    private static final Pattern HAVING = Pattern.compile("writes\\s*>\\s*(\\d{1,9})");
    private static final String KINDS =
            "conflict, replayed, same_payload, expired, recovered, suppressed, written, told, unkeyed";

    private final Semel semel;
    private final Views views;
    private final Masks masks;

    FactRoutes(Semel semel, Views views) {
        this.semel = semel;
        this.views = views;
        this.masks = new Masks(semel);
    }

    Answer list(Request request) {
        Looking query = Looking.of(semel, request);
        Figure figure = figure(request.query("kind"));
        return switch (figure) {
            case CONFLICT, REPLAYED, SAME_PAYLOAD -> requests(request, query, figure);
            case EXPIRED, RECOVERED, SUPPRESSED, WRITTEN, TOLD -> facts(request, query, figure);
            case UNKEYED -> new Keyless(semel).list(request, query);
            case KEYED, UNPROTECTED -> throw Paging.refused("kind must be one of " + KINDS);
        };
    }

    private static Figure figure(@Nullable String word) {
        for (Figure figure : Figure.values()) {
            if (figure.word().equals(word)) {
                return figure;
            }
        }
        throw Paging.refused("kind must be one of " + KINDS);
    }

    private Answer facts(Request request, Looking query, Figure figure) {
        Paging paging = Paging.of(request);
        Figures.Behind behind = paging.after() == null ? Figures.Behind.START : behind(paging.after());
        String object = request.query("object");
        List<Counted.Fact> found = new ArrayList<>();
        int limit = paging.limit();
        boolean more = true;
        for (int scanned = 0; more && scanned < MAX_SCANNED && found.size() < limit; scanned += PAGE) {
            Figures.Behind from = behind;
            List<Counted.Fact> page = Objects.requireNonNull(
                    semel.view(reads -> reads.figures().facts(query.range(), figure, from, PAGE)));
            page.stream()
                    .filter(fact -> object == null || ObjectMasks.is(fact, object))
                    .limit(limit - found.size())
                    .forEach(found::add);
            more = page.size() == PAGE;
            behind = page.isEmpty() ? from : behind(page.getLast());
        }
        ObjectNode out = Views.object();
        var items = out.putArray("items");
        found.forEach(fact -> items.add(view(query, fact)));
        // A full page continues after its last item; a short one after the last scanned row.
        boolean full = found.size() == limit;
        return Views.ok(out.put("next", full ? cursor(behind(found.getLast())) : more ? cursor(behind) : null));
    }

    private static Figures.Behind behind(Counted.Fact fact) {
        return new Figures.Behind(fact.at(), fact.run(), fact.digest());
    }

    private ObjectNode view(Looking query, Counted.Fact fact) {
        Rows.Run run = semel.view(reads -> reads.run(query.workspace(), fact.run()));
        ObjectNode out = Views.object();
        out.put("kind", fact.figure().word());
        out.put("at", Views.time(fact.at()));
        out.put("run_id", run == null ? fact.run().text() : run.runIdText());
        out.put("key", run == null ? null : run.origin().key());
        out.put("workflow", query.name(fact.workflowId()));
        out.put("step", fact.step().isEmpty() ? null : fact.step());
        out.set("object", Bare.object(fact).under(masks.of(run, query.workspace(), fact.workflowId())));
        out.put("worth", fact.worth());
        if (fact.figure() == Figure.EXPIRED) {
            out.put("first_used_at", Views.time(fact.sinceAt()));
            out.put("hours_after", Math.round((fact.at() - fact.sinceAt()) / 36_000_000.0) / 100.0);
        }
        return out;
    }

    private static String cursor(Figures.Behind behind) {
        String text = behind.at() + " " + behind.run().text() + " " + behind.digest();
        return Base64.getUrlEncoder().withoutPadding().encodeToString(text.getBytes(StandardCharsets.UTF_8));
    }

    private static Figures.Behind behind(String cursor) {
        try {
            String[] parts = new String(Base64.getUrlDecoder().decode(cursor), StandardCharsets.UTF_8).split(" ", -1);
            RunId run = parts.length == 3 ? RunId.parse(parts[1]) : null;
            if (run == null || parts[2].indexOf(0) >= 0) {
                throw new IllegalArgumentException("not a cursor of this list");
            }
            return new Figures.Behind(Long.parseLong(parts[0]), run, parts[2]);
        } catch (IllegalArgumentException e) {
            throw Paging.refused("after is not a cursor from an earlier page");
        }
    }

    /** Scans a limited number of the workspace's requests per page. The cursor continues after the last scanned row. */
    private Answer requests(Request request, Looking query, Figure figure) {
        Paging paging = Paging.of(request);
        ObjectNode out = Views.object();
        var items = out.putArray("items");
        RunId before = paging.afterId();
        boolean more = true;
        for (int scanned = 0; more && scanned < MAX_SCANNED && items.size() < paging.limit(); scanned += PAGE) {
            RunId from = before;
            List<Write.Seen> page =
                    Objects.requireNonNull(semel.view(reads -> reads.requests(query.workspace(), from, PAGE)));
            more = page.size() == PAGE;
            for (Write.Seen row : page) {
                before = row.id();
                if (row.at() < query.period().since()) {
                    more = false;
                    break;
                }
                if (counts(row, figure, query)) {
                    items.add(views.request(query.workspace(), row));
                }
                if (items.size() == paging.limit()) {
                    more = true;
                    break;
                }
            }
        }
        out.put("next", more && before != null ? Paging.cursor(before) : null);
        return Views.ok(out);
    }

    private boolean counts(Write.Seen row, Figure figure, Looking query) {
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
        Rows.Run run = semel.view(reads -> reads.run(query.workspace(), row.run()));
        return run != null && run.workflowId().equals(query.workflowId());
    }

    Answer objects(Request request) {
        Looking query = Looking.of(semel, request);
        Paging paging = Paging.of(request);
        String having = request.query("having");
        Matcher more = HAVING.matcher(having == null ? "writes>0" : having);
        if (!more.matches()) {
            throw Paging.refused("having must be a condition like writes>1");
        }
        long least = Long.parseLong(more.group(1));
        List<Figures.Thing> things = Objects.requireNonNull(
                semel.view(reads -> reads.figures().objects(query.range(), least, paging.limit())));
        ObjectNode out = Views.object();
        var items = out.putArray("items");
        ObjectMasks shown = new ObjectMasks(semel, query.workspace());
        things.forEach(thing -> items.add(view(query, thing, shown.of(thing))));
        out.putNull("next");
        return Views.ok(out);
    }

    private static ObjectNode view(Looking query, Figures.Thing thing, String object) {
        // A link contains the object. For a masked object it lists all writes of the workflow.
        String list = ObjectMasks.is(thing, object)
                ? "facts?kind=written&object=" + Looking.escaped(object)
                : "facts?kind=written";
        return Views.object()
                .put("object", object)
                .put("workflow", query.name(thing.workflowId()))
                .put("writes", thing.writes())
                .put("first_at", Views.time(thing.firstAt()))
                .put("last_at", Views.time(thing.lastAt()))
                .put("list", query.list(list, thing.workflowId()));
    }
}
