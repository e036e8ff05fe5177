package dev.semel.server.api;

import dev.semel.Semel;
import dev.semel.effect.Ledger;
import dev.semel.run.RunId;
import dev.semel.server.http.Answer;
import dev.semel.server.http.Request;
import dev.semel.store.Reads;
import dev.semel.store.Rows;
import dev.semel.workflow.Current;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/** Serves `GET /v1/effects`: the effect ledger with the key, status and run of each side effect. */
final class EffectRoutes {
    private final Semel semel;
    private final Masks masks;

    EffectRoutes(Semel semel) {
        this.semel = semel;
        this.masks = new Masks(semel);
    }

    /** The filter `q`: `object:order/1 key:KEY state:in_doubt workflow:NAME protection:none suppressed:true`. */
    private record Filter(
            @Nullable String object,
            @Nullable String key,
            Ledger.@Nullable State state,
            @Nullable String workflow,
            @Nullable String protection,
            Reads.Part part) {
        static Filter parse(@Nullable String text) {
            String object = null;
            String key = null;
            Ledger.State state = null;
            String workflow = null;
            String protection = null;
            Reads.Part part = Reads.Part.ALL;
            for (String word : text == null || text.isBlank()
                    ? new String[0]
                    : text.strip().split("\\s+")) {
                int colon = word.indexOf(':');
                String value = word.substring(colon + 1);
                switch (colon < 1 || value.isEmpty() ? "" : word.substring(0, colon)) {
                    case "object" -> object = value;
                    case "key" -> key = value;
                    case "state" -> state = stateOf(value);
                    case "workflow" -> workflow = value;
                    case "protection" -> protection = value;
                    case "suppressed" -> part = partOf(value);
                    default ->
                        throw Paging.refused(
                                "q must be a filter like object:NAME key:KEY state:in_doubt workflow:NAME"
                                        + " protection:none suppressed:true");
                }
            }
            return new Filter(object, key, state, workflow, protection, part);
        }

        private static Reads.Part partOf(String word) {
            return switch (word) {
                case "true" -> Reads.Part.SUPPRESSED;
                case "false" -> Reads.Part.DEEDS;
                default -> throw Paging.refused("suppressed must be true or false");
            };
        }

        private static Ledger.State stateOf(String word) {
            for (Ledger.State state : Ledger.State.values()) {
                if (word(state).equals(word)) {
                    return state;
                }
            }
            throw Paging.refused("state must be one of on_its_way, done, in_doubt, not_done");
        }
    }

    static String word(Ledger.State state) {
        return switch (state) {
            case RESERVED -> "on_its_way";
            case DONE -> "done";
            case UNKNOWN -> "in_doubt";
            case FREE -> "not_done";
        };
    }

    Answer list(Request request) {
        Filter query = Filter.parse(request.query("q"));
        Paging paging = Paging.of(request);
        Reads.LedgerPage page = page(request.principal().workspace(), query, paging);
        ObjectNode out = Views.object();
        ArrayNode items = out.putArray("items");
        page.found().forEach(row -> items.add(item(row)));
        out.put("next", page.next() == null ? null : cursor(page.next()));
        return Views.ok(out);
    }

    private Reads.LedgerPage page(int ws, Filter query, Paging paging) {
        Current workflow = query.workflow() == null ? null : semel.workflow(ws, query.workflow());
        if (query.workflow() != null && workflow == null) {
            return new Reads.LedgerPage(List.of(), null);
        }
        var filter = new Reads.EffectFilter(
                ws,
                query.state(),
                workflow == null ? null : workflow.published().workflowId(),
                query.object(),
                query.protection(),
                query.key(),
                query.part(),
                paging.after() == null ? null : place(paging.after()),
                paging.limit());
        Reads.LedgerPage named = query.key() == null || paging.after() != null ? null : byKey(filter, query.key());
        return named != null ? named : Objects.requireNonNull(semel.view(reads -> reads.effects(filter)));
    }

    /**
     * Looks up the row of a key that spans runs, or of a step id. Null if neither exists, as for suppressed effects and
     * keys of single runs; the caller then scans the newest rows.
     */
    private Reads.@Nullable LedgerPage byKey(Reads.EffectFilter filter, String key) {
        List<Ledger.Row> found = new ArrayList<>();
        for (Ledger.Id id : List.of(Ledger.Id.once(filter.ws(), key), Ledger.Id.step(filter.ws(), key))) {
            Ledger.Row row = semel.view(reads -> reads.effect(id));
            if (row != null && filter.fits(row)) {
                found.add(row);
            }
        }
        return found.isEmpty() ? null : new Reads.LedgerPage(found, null);
    }

    static boolean isSuppressed(Ledger.Row row) {
        return row.stoodFor() != null;
    }

    ObjectNode item(Ledger.Row row) {
        ObjectNode out = Views.object();
        Rows.Run run =
                semel.view(reads -> reads.run(row.id().workspace(), row.holder().run()));
        Masks.Mask mask = masks.of(run, row.id().workspace(), row.facts().workflowId());
        out.set("effect_key", Bare.key(row).under(mask));
        out.put("status", isSuppressed(row) ? "suppressed" : word(row.state()));
        out.put("step_id", row.holder().step());
        out.put("path", row.facts().path());
        out.put("run_id", run == null ? row.holder().run().text() : run.runIdText());
        out.put("workflow_id", row.facts().workflowId());
        out.put(
                "workflow",
                run == null
                        ? null
                        : semel.version(run.workflowId(), run.version()).name());
        out.put("protection", row.facts().protection());
        out.put("does", row.facts().does());
        out.set("object", Bare.object(row).under(mask));
        out.put("worth", row.facts().worth());
        out.put("attempts", isSuppressed(row) ? 0 : row.attempt());
        out.put("first_at", Views.time(row.firstAt()));
        out.put("accepted_at", isSuppressed(row) ? null : Views.time(row.acceptedAt()));
        out.put("window_ends_at", Views.time(row.expiresAt()));
        out.put("generation", row.generation());
        return out;
    }

    private static String cursor(Reads.EffectPlace place) {
        return Paging.cursor(place.run()) + "." + place.digest();
    }

    private static Reads.EffectPlace place(String cursor) {
        int dot = cursor.indexOf('.');
        RunId run = dot < 0 ? null : RunId.parse("run_" + cursor.substring(0, dot));
        if (run == null || !cursor.substring(dot + 1).matches("[0-9a-f]{0,64}")) {
            throw Paging.refused("after is not a cursor from an earlier page");
        }
        return new Reads.EffectPlace(run, cursor.substring(dot + 1));
    }
}
