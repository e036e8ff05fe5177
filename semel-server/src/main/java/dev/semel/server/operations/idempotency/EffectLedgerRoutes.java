package dev.semel.server.operations.idempotency;

import dev.semel.definition.WorkflowCatalogEntry;
import dev.semel.effect.EffectGeneration;
import dev.semel.effect.EffectLedger;
import dev.semel.run.RunId;
import dev.semel.runtime.SemelRuntime;
import dev.semel.server.http.ServerHttpRequest;
import dev.semel.server.http.ServerHttpResponse;
import dev.semel.server.query.ApiErrors;
import dev.semel.server.query.PagingParameters;
import dev.semel.server.query.PiiMask;
import dev.semel.server.query.RunJsonRenderer;
import dev.semel.server.query.RunPiiMaskFactory;
import dev.semel.server.query.StoreReader;
import dev.semel.server.query.UnmaskedPiiValue;
import dev.semel.store.DatabaseRows;
import dev.semel.store.StoreQueries;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ObjectNode;

/** Serves `GET /v1/effects`: the effect ledger with the key, status and run of each side effect. */
public final class EffectLedgerRoutes {
    private final SemelRuntime semel;
    private final RunPiiMaskFactory masks;

    public EffectLedgerRoutes(SemelRuntime semel) {
        this.semel = semel;
        this.masks = new RunPiiMaskFactory(semel);
    }

    /**
     * The filter `q`: `object:order/1 key:KEY sent_key:KEY state:in_doubt workflow:NAME protection:none
     * suppressed:true`.
     */
    private record Filter(
            @Nullable String object,
            @Nullable String key,
            @Nullable String sentKey,
            EffectLedger.@Nullable EffectState state,
            @Nullable String workflow,
            @Nullable String protection,
            StoreQueries.EffectSelection part) {
        static Filter parse(@Nullable String text) {
            String object = null;
            String key = null;
            String sentKey = null;
            EffectLedger.EffectState state = null;
            String workflow = null;
            String protection = null;
            StoreQueries.EffectSelection part = StoreQueries.EffectSelection.ALL;
            for (String word : text == null || text.isBlank()
                    ? new String[0]
                    : text.strip().split("\\s+")) {
                int colon = word.indexOf(':');
                String value = word.substring(colon + 1);
                switch (colon < 1 || value.isEmpty() ? "" : word.substring(0, colon)) {
                    case "object" -> object = value;
                    case "key" -> key = value;
                    case "sent_key" -> sentKey = value;
                    case "state" -> state = stateOf(value);
                    case "workflow" -> workflow = value;
                    case "protection" -> protection = value;
                    case "suppressed" -> part = partOf(value);
                    default ->
                        throw ApiErrors.invalidQuery("q must be a filter like object:NAME key:KEY sent_key:KEY"
                                + " state:in_doubt workflow:NAME protection:none suppressed:true");
                }
            }
            return new Filter(object, key, sentKey, state, workflow, protection, part);
        }

        private static StoreQueries.EffectSelection partOf(String word) {
            return switch (word) {
                case "true" -> StoreQueries.EffectSelection.SUPPRESSED;
                case "false" -> StoreQueries.EffectSelection.NOT_SUPPRESSED;
                default -> throw ApiErrors.invalidQuery("suppressed must be true or false");
            };
        }

        private static EffectLedger.EffectState stateOf(String word) {
            for (EffectLedger.EffectState state : EffectLedger.EffectState.values()) {
                if (state != EffectLedger.EffectState.UNCONFIRMED
                        && statusWord(state).equals(word)) {
                    return state;
                }
            }
            throw ApiErrors.invalidQuery("state must be one of in_flight, done, in_doubt, not_done");
        }
    }

    /** An effect with an unknown outcome is not in doubt as long as it is safe to send again. */
    private static String statusWord(EffectLedger.EffectRow row) {
        return row.resendUntil() > 0 ? "unknown" : statusWord(row.state());
    }

    static String statusWord(EffectLedger.EffectState state) {
        return switch (state) {
            case RESERVED -> "in_flight";
            case DONE -> "done";
            case UNKNOWN -> "in_doubt";
            case FREE -> "not_done";
            case UNCONFIRMED -> "unknown";
        };
    }

    public ServerHttpResponse list(ServerHttpRequest request) {
        Filter query = Filter.parse(request.query("q"));
        PagingParameters paging = PagingParameters.parse(request);
        if (query.sentKey() != null) {
            return bySentKey(request.principal().workspace(), query, query.sentKey(), paging);
        }
        StoreQueries.EffectPage page = page(request.principal().workspace(), query, paging);
        String next = page.next() == null ? null : cursor(page.next());
        return RunJsonRenderer.ok(RunJsonRenderer.pageJson(page.found(), this::effectJson, next));
    }

    private StoreQueries.EffectPage page(int ws, Filter query, PagingParameters paging) {
        StoreQueries.EffectFilter filter = filter(ws, query, paging);
        if (filter == null) {
            return new StoreQueries.EffectPage(List.of(), null);
        }
        StoreQueries.EffectPage named =
                query.key() == null || paging.after() != null ? null : byKey(filter, query.key());
        return named != null ? named : StoreReader.read(semel, reads -> reads.effects(filter));
    }

    /** Null if the workflow does not exist. */
    private StoreQueries.@Nullable EffectFilter filter(int ws, Filter query, PagingParameters paging) {
        WorkflowCatalogEntry workflow = query.workflow() == null ? null : semel.workflow(ws, query.workflow());
        if (query.workflow() != null && workflow == null) {
            return null;
        }
        return new StoreQueries.EffectFilter(
                ws,
                query.state(),
                workflow == null ? null : workflow.published().workflowId(),
                query.object(),
                query.protection(),
                query.key(),
                query.part(),
                paging.after() == null ? null : place(paging.after()),
                paging.limit());
    }

    /**
     * Looks up the row of a key that spans runs, or of a step id. Null if neither exists, as for suppressed effects and
     * keys of single runs; the caller then scans the newest rows.
     */
    private StoreQueries.@Nullable EffectPage byKey(StoreQueries.EffectFilter filter, String key) {
        List<EffectLedger.EffectRow> found = new ArrayList<>();
        for (EffectLedger.EffectId id :
                List.of(EffectLedger.EffectId.once(filter.ws(), key), EffectLedger.EffectId.step(filter.ws(), key))) {
            EffectLedger.EffectRow row = semel.view(reads -> reads.effect(id));
            if (row != null && filter.matches(row)) {
                found.add(row);
            }
        }
        return found.isEmpty() ? null : new StoreQueries.EffectPage(found, null);
    }

    /**
     * The provider's key leads to its runs, also to sends that a newer generation or another run followed. A key has few
     * runs, so one page has all of them.
     */
    private ServerHttpResponse bySentKey(int ws, Filter query, String sentKey, PagingParameters paging) {
        StoreQueries.EffectFilter filter = filter(ws, query, paging);
        List<StoreQueries.SentEffect> found = filter == null || filter.before() != null
                ? List.of()
                : StoreReader.read(semel, reads -> reads.effectsBySentKey(ws, sentKey, paging.limit()));
        List<StoreQueries.SentEffect> matching = found.stream()
                .filter(one -> Objects.requireNonNull(filter).matchesSend(one.row()))
                .toList();
        return RunJsonRenderer.ok(RunJsonRenderer.pageJson(
                matching,
                one -> {
                    ObjectNode out = effectJson(one.row());
                    boolean lost = one.past() && one.row().state() == EffectLedger.EffectState.RESERVED;
                    return lost ? out.put("status", "lost") : out;
                },
                null));
    }

    static boolean isSuppressed(EffectLedger.EffectRow row) {
        return row.suppressedBy() != null;
    }

    ObjectNode effectJson(EffectLedger.EffectRow row) {
        ObjectNode out = RunJsonRenderer.newObject();
        DatabaseRows.RunRow run =
                semel.view(reads -> reads.run(row.id().workspace(), row.holder().run()));
        PiiMask mask = masks.of(run, row.id().workspace(), row.details().workflowId());
        out.set("effect_key", UnmaskedPiiValue.key(row).maskWith(mask));
        out.put("sent_key", row.lastSend().key());
        out.put("status", isSuppressed(row) ? "suppressed" : statusWord(row));
        out.put("step_id", row.holder().step());
        out.put("path", row.details().path());
        out.put("run_id", run == null ? row.holder().run().text() : run.runIdText());
        out.put("workflow_id", row.details().workflowId());
        out.put(
                "workflow",
                run == null
                        ? null
                        : semel.version(run.workflowId(), run.version()).name());
        out.put("protection", row.details().protection());
        out.put("does", row.details().does());
        out.set("object", UnmaskedPiiValue.object(row).maskWith(mask));
        out.put("worth", row.details().worth());
        out.put("attempts", isSuppressed(row) ? 0 : row.attempt());
        out.put("first_at", RunJsonRenderer.formatTime(row.firstAt()));
        out.put("accepted_at", isSuppressed(row) ? null : RunJsonRenderer.formatTime(row.acceptedAt()));
        boolean open = row.state() == EffectLedger.EffectState.RESERVED || row.resendUntil() > 0;
        out.put("window_ends_at", open ? null : RunJsonRenderer.formatTime(row.expiresAt()));
        out.put("safe_to_resend_until", open ? RunJsonRenderer.formatTime(row.expiresAt()) : null);
        out.put("generation", EffectGeneration.text(row.generation()));
        return out;
    }

    private static String cursor(StoreQueries.EffectCursor effectCursor) {
        return PagingParameters.cursor(effectCursor.run()) + "." + effectCursor.digest();
    }

    private static StoreQueries.EffectCursor place(String cursor) {
        int dot = cursor.indexOf('.');
        RunId run = dot < 0 ? null : RunId.parse("run_" + cursor.substring(0, dot));
        if (run == null || !cursor.substring(dot + 1).matches("[0-9a-f]{0,64}")) {
            throw ApiErrors.invalidQuery("`after` is not a cursor from an earlier page");
        }
        return new StoreQueries.EffectCursor(run, cursor.substring(dot + 1));
    }
}
