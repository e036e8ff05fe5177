package dev.semel.server.operations.idempotency;

import dev.semel.definition.WorkflowCatalogEntry;
import dev.semel.effect.EffectGeneration;
import dev.semel.effect.EffectLedger;
import dev.semel.run.RunId;
import dev.semel.runtime.SemelRuntime;
import dev.semel.server.http.ServerHttpRequest;
import dev.semel.server.http.TokenScope;
import dev.semel.server.operations.CommandDeclaration;
import dev.semel.server.operations.Operation;
import dev.semel.server.operations.OperationRouter;
import dev.semel.server.operations.Parameter;
import dev.semel.server.query.ApiErrors;
import dev.semel.server.query.ApiListFilterParser;
import dev.semel.server.query.PagingParameters;
import dev.semel.server.query.PiiMask;
import dev.semel.server.query.RunPiiMaskFactory;
import dev.semel.server.query.StoreReader;
import dev.semel.server.query.UnmaskedPiiValue;
import dev.semel.server.query.view.EffectView;
import dev.semel.server.query.view.Page;
import dev.semel.server.query.view.StoreTime;
import dev.semel.store.DatabaseRows;
import dev.semel.store.StoreQueries;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** Serves `GET /v1/effects`: the effect ledger with the key, status and run of each side effect. */
public final class EffectLedgerRoutes {
    private static final String TERMS =
            "object:NAME key:KEY sent_key:KEY state:in_doubt workflow:NAME protection:none" + " suppressed:true";

    static final Operation<Page<EffectView>> LIST = Operation.get("listEffects", "/v1/effects", TokenScope.READ)
            .tag("Keys")
            .summary("List effects, newest run first")
            .description("With the key that a provider received, `sent_key:` finds the run, also for an earlier"
                    + " generation.")
            .parameters(Parameter.text("q", "Filter terms, all of which must match: `" + TERMS + "`."))
            .paged()
            .command(CommandDeclaration.of("effect list", "Lists side effects in external systems, newest runs first.")
                    .filter(
                            "QUERY",
                            "Filter terms such as object:order/10443 key:K sent_key:K state:in_doubt workflow:W"
                                    + " protection:none suppressed:true.")
                    .examples(
                            "semel effect list object:order/10443",
                            "semel effect list state:in_doubt",
                            "semel effect list sent_key:5788dbc0f2a94a71b2c1d0e3f4a5968778695a4b3c2d1e0f",
                            "semel effect list suppressed:true")
                    .whenEmpty("no effects")
                    .text("STATUS", "status")
                    .text("STEP", "path")
                    .text("OBJECT", "object")
                    .text("WORTH", "worth")
                    .text("WORKFLOW", "workflow")
                    .text("RUN", "run_id")
                    .text("PROTECTION", "protection")
                    .text("KEY", "effect_key")
                    .text("SENT KEY", "sent_key")
                    .time("FIRST", "first_at")
                    .suggest("semel run timeline", "run_id"))
            .returnsPage(EffectView.class, "Rows of the effect ledger.");

    public static final List<Operation<?>> OPERATIONS = List.of(LIST);

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
                    default -> throw ApiErrors.invalidQuery("q must be a filter like " + TERMS);
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
                        && statusOf(state).name().toLowerCase(Locale.ROOT).equals(word)) {
                    return state;
                }
            }
            throw ApiErrors.invalidQuery("state must be one of in_flight, done, in_doubt, not_done");
        }
    }

    /** An effect with an unknown outcome is not in doubt as long as it is safe to send again. */
    private static EffectView.Status statusOf(EffectLedger.EffectRow row) {
        return isSuppressed(row)
                ? EffectView.Status.SUPPRESSED
                : row.resendUntil() > 0 ? EffectView.Status.UNKNOWN : statusOf(row.state());
    }

    private static EffectView.Status statusOf(EffectLedger.EffectState state) {
        return switch (state) {
            case RESERVED -> EffectView.Status.IN_FLIGHT;
            case DONE -> EffectView.Status.DONE;
            case UNKNOWN -> EffectView.Status.IN_DOUBT;
            case FREE -> EffectView.Status.NOT_DONE;
            case UNCONFIRMED -> EffectView.Status.UNKNOWN;
        };
    }

    public void addTo(OperationRouter router) {
        router.add(LIST, this::list);
    }

    private Page<EffectView> list(ServerHttpRequest request) {
        Filter query = Filter.parse(ApiListFilterParser.read(request));
        PagingParameters paging = PagingParameters.parse(request);
        if (query.sentKey() != null) {
            return bySentKey(request.principal().workspace(), query, query.sentKey(), paging);
        }
        StoreQueries.EffectPage page = page(request.principal().workspace(), query, paging);
        String next = page.next() == null ? null : cursor(page.next());
        return new Page<>(page.found().stream().map(this::view).toList(), next);
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
    private Page<EffectView> bySentKey(int ws, Filter query, String sentKey, PagingParameters paging) {
        StoreQueries.EffectFilter filter = filter(ws, query, paging);
        List<StoreQueries.SentEffect> found = filter == null || filter.before() != null
                ? List.of()
                : StoreReader.read(semel, reads -> reads.effectsBySentKey(ws, sentKey, paging.limit()));
        return new Page<>(
                found.stream()
                        .filter(one -> Objects.requireNonNull(filter).matchesSend(one.row()))
                        .map(this::view)
                        .toList(),
                null);
    }

    private EffectView view(StoreQueries.SentEffect one) {
        boolean lost = one.past() && one.row().state() == EffectLedger.EffectState.RESERVED;
        return view(one.row(), lost ? EffectView.Status.LOST : statusOf(one.row()));
    }

    static boolean isSuppressed(EffectLedger.EffectRow row) {
        return row.suppressedBy() != null;
    }

    public EffectView view(EffectLedger.EffectRow row) {
        return view(row, statusOf(row));
    }

    private EffectView view(EffectLedger.EffectRow row, EffectView.Status status) {
        DatabaseRows.RunRow run =
                semel.view(reads -> reads.run(row.id().workspace(), row.holder().run()));
        PiiMask mask = masks.of(run, row.id().workspace(), row.details().workflowId());
        boolean suppressed = isSuppressed(row);
        boolean open = row.state() == EffectLedger.EffectState.RESERVED || row.resendUntil() > 0;
        return new EffectView(
                UnmaskedPiiValue.key(row).maskTextWith(mask),
                row.lastSend().key(),
                status,
                row.holder().step(),
                row.details().path(),
                run == null ? row.holder().run().text() : run.runIdText(),
                row.details().workflowId(),
                run == null
                        ? null
                        : semel.version(run.workflowId(), run.version()).name(),
                row.details().protection(),
                row.details().does(),
                UnmaskedPiiValue.object(row).maskTextOrNull(mask),
                row.details().worth(),
                suppressed ? 0 : row.attempt(),
                StoreTime.instant(row.firstAt()),
                suppressed ? null : StoreTime.instantOrNull(row.acceptedAt()),
                open ? null : StoreTime.instantOrNull(row.expiresAt()),
                open ? StoreTime.instantOrNull(row.expiresAt()) : null,
                EffectGeneration.text(row.generation()));
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
