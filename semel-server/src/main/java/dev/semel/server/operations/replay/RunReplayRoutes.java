package dev.semel.server.operations.replay;

import dev.semel.error.ErrorCode;
import dev.semel.error.SemelException;
import dev.semel.json.StrictJsonCodec;
import dev.semel.replay.ReplayNotificationMode;
import dev.semel.replay.ReplayPlanApplyOptions;
import dev.semel.replay.ReplayPlanRequest;
import dev.semel.replay.SafeReplayStepAction;
import dev.semel.run.RunId;
import dev.semel.runtime.ReplayPlanOperations;
import dev.semel.runtime.SemelRuntime;
import dev.semel.server.http.ServerHttpRequest;
import dev.semel.server.http.ServerHttpResponse;
import dev.semel.server.http.TokenScope;
import dev.semel.server.operations.ActionRequest;
import dev.semel.server.operations.ActionResult;
import dev.semel.server.operations.ApiRouter;
import dev.semel.server.operations.IdempotentInboundRequestExecutor;
import dev.semel.server.operations.InboundJsonRequestBody;
import dev.semel.server.operations.PublishedYamlWorkflow;
import dev.semel.server.operations.run.RunUpdateStreamRoutes;
import dev.semel.server.query.ApiErrors;
import dev.semel.server.query.PagingParameters;
import dev.semel.server.query.RunJsonRenderer;
import dev.semel.server.query.RunListFilter;
import dev.semel.server.query.StoreReader;
import dev.semel.store.DatabaseRows;
import dev.semel.store.ReplayPlanQueries;
import dev.semel.store.ReplayPlanStoreWriteCommand;
import dev.semel.store.StoreQueries;
import dev.semel.store.StoreWriteCommand;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/** Serves `/v1/replays`: creates, lists, approves, applies and stops safe-replay plans. */
public final class RunReplayRoutes {
    private static final int MAX_NAMED = 1_000;
    private static final int MAX_WATCHED = 1_000;
    private static final int READ_AT_ONCE = 500;
    private static final long LOOK_NANOS = TimeUnit.SECONDS.toNanos(1);
    private static final long COUNTED_NANOS = TimeUnit.SECONDS.toNanos(5);
    private static final Set<String> MEMBERS = Set.of(
            "runs",
            "q",
            "from",
            "redo",
            "confirm_redo",
            "late_signals",
            "notify",
            "input",
            "definition",
            "approval",
            "include",
            "rate",
            "canary",
            "stop_after");

    private final SemelRuntime semel;
    private final RunJsonRenderer views;
    private final IdempotentInboundRequestExecutor actions;
    /** The latest view of each watched plan: all streams of one plan share one query per second. */
    private final ConcurrentHashMap<RunId, CachedPlanView> watched = new ConcurrentHashMap<>();

    private record CachedPlanView(long at, ObjectNode view) {}

    private final ConcurrentHashMap<RunId, CachedItemCounts> counted = new ConcurrentHashMap<>();

    private record CachedItemCounts(
            ReplayPlanStoreWriteCommand.PlanState state, long until, List<ReplayPlanQueries.ItemCount> counts) {}

    public RunReplayRoutes(SemelRuntime semel, RunJsonRenderer views, IdempotentInboundRequestExecutor actions) {
        this.semel = semel;
        this.views = views;
        this.actions = actions;
    }

    public void addTo(ApiRouter router, RunUpdateStreamRoutes streams) {
        String one = "/v1/replays/{replay_id}";
        router.post("/v1/replays", TokenScope.OPERATE, this::plan)
                .get("/v1/replays", TokenScope.READ, this::list)
                .get(one, TokenScope.READ, this::get)
                .get(one + "/items", TokenScope.READ, this::items)
                .get(one + "/events", TokenScope.READ, request -> events(request, streams))
                .post(one + "/approve", TokenScope.OPERATE, this::approve)
                .post(one + "/apply", TokenScope.OPERATE, this::apply)
                .post(one + "/stop", TokenScope.OPERATE, this::stop);
    }

    private ServerHttpResponse plan(ServerHttpRequest request) {
        InboundJsonRequestBody json = InboundJsonRequestBody.parse(request, MEMBERS);
        ReplayPlanOperations.ReplayRequest replayRequest = replayRequest(request, json);
        ActionRequest actionRequest = new ActionRequest("replay.plan", StrictJsonCodec.write(json.body()));
        ActionResult laid = actions.runOnce(
                request,
                actionRequest,
                semel.replays().createPlanEdit(replayRequest),
                plan -> plan == null ? null : RunJsonRenderer.newObject().put("replay_id", plan.idText()));
        String id = Objects.requireNonNull(laid).body().required("replay_id").asString();
        ReplayPlanStoreWriteCommand.ReplayPlan made =
                semel.replays().buildPlan(Objects.requireNonNull(ReplayPlanStoreWriteCommand.parse(id)), replayRequest);
        return RunJsonRenderer.ok(view(made), laid.replayed());
    }

    private ReplayPlanOperations.ReplayRequest replayRequest(ServerHttpRequest request, InboundJsonRequestBody json) {
        List<String> runs = textList("runs", json.value("runs"));
        String q = json.text("q");
        if (runs.isEmpty() == q.isBlank()) {
            throw ApiErrors.invalidRequest(
                    "either `runs` (a list of run ids) or `q` (a filter such as status:failed) is required");
        }
        String definition = json.text("definition");
        if (!Set.of("", "recorded_version", "current_version").contains(definition)) {
            throw ApiErrors.invalidRequest("definition must be recorded_version or current_version");
        }
        JsonNode input = json.value("input");
        if (input != null && runs.size() != 1) {
            throw ApiErrors.invalidRequest("an edited input requires exactly one run");
        }
        String what = runs.isEmpty() ? q.strip() : runs.size() == 1 ? runs.getFirst() : runs.size() + " runs";
        ReplayPlanRequest order = new ReplayPlanRequest(
                what,
                json.text("from"),
                definition.equals("current_version"),
                textList("redo", json.value("redo")),
                json.flag("confirm_redo"),
                json.flag("late_signals"),
                notificationMode(json.text("notify")));
        if (input != null) {
            DatabaseRows.RunRow run = views.findRun(request.principal(), runs.getFirst());
            int by = semel.replays().versionForReplay(run.ws(), runs.getFirst(), order);
            PublishedYamlWorkflow.checkInput(semel.version(run.workflowId(), by), input);
        }
        ReplayPlanOperations.RunSelection which = runs.isEmpty()
                ? new ReplayPlanOperations.RunSelection.ByFilter(filter(request, q))
                : new ReplayPlanOperations.RunSelection.ByRunId(runs);
        return new ReplayPlanOperations.ReplayRequest(
                request.principal().workspace(),
                request.principal().tokenId(),
                which,
                order,
                input == null ? null : StrictJsonCodec.write(input),
                json.flag("approval"),
                manner(json));
    }

    private static ReplayNotificationMode notificationMode(String word) {
        if (!Set.of("", "missing", "none", "again").contains(word)) {
            throw ApiErrors.invalidRequest("`notify` must be one of missing, none, again");
        }
        return word.isEmpty() ? ReplayNotificationMode.MISSING : ReplayNotificationMode.of(word);
    }

    private static List<String> textList(String member, @Nullable JsonNode given) {
        List<String> texts = new ArrayList<>();
        if (given != null) {
            if (!given.isArray() || given.size() > MAX_NAMED) {
                throw ApiErrors.invalidRequest(member + " must be a list of at most " + MAX_NAMED + " names");
            }
            for (JsonNode one : given) {
                if (!one.isString()) {
                    throw ApiErrors.invalidRequest("each item of " + member + " must be text");
                }
                texts.add(one.stringValue());
            }
        }
        return texts;
    }

    private StoreQueries.RunFilter filter(ServerHttpRequest request, String q) {
        RunListFilter filter = RunListFilter.parse(q);
        String workflow = StoreReader.workflowId(semel, request.principal().workspace(), filter.workflow());
        return filter.toQuery(request.principal().workspace(), workflow, StoreReader.now(semel));
    }

    private ServerHttpResponse list(ServerHttpRequest request) {
        PagingParameters paging = PagingParameters.parse(request);
        return RunJsonRenderer.pageResponse(
                semel.replays().listPlans(request.principal().workspace(), paging.afterId(), paging.limit()),
                paging.limit(),
                RunReplayJsonRenderer::planHead,
                plan -> PagingParameters.cursor(plan.id()));
    }

    private ServerHttpResponse get(ServerHttpRequest request) {
        return RunJsonRenderer.ok(view(find(request)));
    }

    private ObjectNode view(ReplayPlanStoreWriteCommand.ReplayPlan plan) {
        return RunReplayJsonRenderer.planJson(plan, counts(plan));
    }

    /** Counting reads all items, so the result is cached for ten times the query's duration, at most five seconds. */
    private List<ReplayPlanQueries.ItemCount> counts(ReplayPlanStoreWriteCommand.ReplayPlan plan) {
        CachedItemCounts cachedItemCounts = counted.get(plan.id());
        long begun = semel.nanos();
        if (cachedItemCounts != null
                && cachedItemCounts.state() == plan.state()
                && begun - cachedItemCounts.until() < 0) {
            return cachedItemCounts.counts();
        }
        List<ReplayPlanQueries.ItemCount> counts = semel.replays().progress(plan.id());
        if (counted.size() > MAX_WATCHED) {
            counted.clear();
        }
        long ended = semel.nanos();
        long until = ended + Math.min(COUNTED_NANOS, 10 * (ended - begun));
        counted.put(plan.id(), new CachedItemCounts(plan.state(), until, counts));
        return counts;
    }

    private ReplayPlanStoreWriteCommand.ReplayPlan find(ServerHttpRequest request) {
        return ApiErrors.orThrow(
                semel.replays().findPlan(request.principal().workspace(), id(request)), RunReplayRoutes::unknownPlan);
    }

    private static RunId id(ServerHttpRequest request) {
        return ApiErrors.orThrow(
                ReplayPlanStoreWriteCommand.parse(request.parameter("replay_id")), RunReplayRoutes::unknownPlan);
    }

    private static SemelException unknownPlan() {
        return ApiErrors.notFound(
                "No replay plan with this id exists in this workspace. Nothing was changed.",
                "GET /v1/replays lists the plans. The server keeps a plan for 30 days.");
    }

    private ServerHttpResponse items(ServerHttpRequest request) {
        PagingParameters paging = PagingParameters.parse(request);
        ReplayPlanStoreWriteCommand.ReplayPlan plan = find(request);
        String action = request.query("action");
        String worst = request.query("worst");
        if (action != null && worst != null) {
            throw ApiErrors.invalidQuery("send either `action` (any step) or `worst` (the riskiest step), not both");
        }
        ReplayPlanQueries.ItemFilter wanted = new ReplayPlanQueries.ItemFilter(
                plan.id(), action == null ? 0 : parseAction(action).bit(), parseOutcome(request.query("outcome")));
        return RunJsonRenderer.pageResponse(
                worst == null
                        ? semel.replays().listItems(wanted, paging.afterId(), paging.limit())
                        : worst(wanted, worst, paging),
                paging.limit(),
                RunReplayJsonRenderer::itemJson,
                item -> PagingParameters.cursor(item.run()));
    }

    /** Lists runs by their riskiest step, or blocked runs. The server scans the plan page by page for it. */
    private List<ReplayPlanStoreWriteCommand.PlanItem> worst(
            ReplayPlanQueries.ItemFilter wanted, String word, PagingParameters paging) {
        SafeReplayStepAction action = word.equals("blocked") ? null : parseAction(word);
        ReplayPlanQueries.ItemFilter narrowed =
                new ReplayPlanQueries.ItemFilter(wanted.plan(), action == null ? 0 : action.bit(), wanted.outcome());
        int place = action == null ? 0 : action.ordinal() + 1;
        List<ReplayPlanStoreWriteCommand.PlanItem> found = new ArrayList<>();
        RunId after = paging.afterId();
        boolean more = true;
        while (more && found.size() < paging.limit()) {
            List<ReplayPlanStoreWriteCommand.PlanItem> page = semel.replays().listItems(narrowed, after, READ_AT_ONCE);
            page.stream()
                    .filter(item -> item.worstAction() == place)
                    .limit(paging.limit() - found.size())
                    .forEach(found::add);
            more = page.size() == READ_AT_ONCE;
            after = page.isEmpty() ? after : page.getLast().run();
        }
        return found;
    }

    static SafeReplayStepAction parseAction(String word) {
        for (SafeReplayStepAction action : SafeReplayStepAction.values()) {
            if (action.word().equals(word)) {
                return action;
            }
        }
        throw ApiErrors.invalidQuery(
                "action must be one of reuse, run_again, send, resend, check, ask, unprotected, silent");
    }

    private static ReplayPlanStoreWriteCommand.@Nullable ItemOutcome parseOutcome(@Nullable String word) {
        for (ReplayPlanStoreWriteCommand.ItemOutcome outcome : ReplayPlanStoreWriteCommand.ItemOutcome.values()) {
            if (outcome.word().equals(word)) {
                return outcome;
            }
        }
        if (word != null) {
            throw ApiErrors.invalidQuery("outcome must be one of planned, applied, outdated, rejected, skipped");
        }
        return null;
    }

    private ServerHttpResponse approve(ServerHttpRequest request) {
        InboundJsonRequestBody.parse(request, Set.of());
        ReplayPlanStoreWriteCommand.ReplayPlan plan = find(request);
        if (plan.approvedBy() == null
                && !new ReplayApprovalFourEyesCheck(semel)
                        .isOtherUser(
                                plan.ws(), plan.createdBy(), request.principal().tokenId())) {
            throw new SemelException(
                    ErrorCode.FORBIDDEN,
                    "Plan " + plan.idText() + " was created by you or with one of your tokens. It was not approved.",
                    "Another user must approve it, in the dashboard or with a token that you did not create.");
        }
        return RunJsonRenderer.ok(view(semel.replays()
                .approve(
                        request.principal().workspace(),
                        id(request),
                        request.principal().tokenId())));
    }

    /** A repeat returns the progress; a plan is applied once. */
    private ServerHttpResponse apply(ServerHttpRequest request) {
        InboundJsonRequestBody json =
                InboundJsonRequestBody.parse(request, Set.of("include", "rate", "canary", "stop_after"));
        return RunJsonRenderer.ok(view(semel.replays()
                .apply(
                        request.principal().workspace(),
                        id(request),
                        json.body().isEmpty() ? null : manner(json),
                        request.principal().tokenId())));
    }

    /** Parses the options of applying. Options that are stored with the plan are part of what a user approves. */
    private static ReplayPlanApplyOptions manner(InboundJsonRequestBody json) {
        List<SafeReplayStepAction> include = new ArrayList<>();
        JsonNode words = json.value("include");
        if (words != null) {
            words.forEach(word -> include.add(parseAction(word.asString(""))));
        }
        return new ReplayPlanApplyOptions(
                include, number(json, "rate"), number(json, "canary"), number(json, "stop_after"));
    }

    private static int number(InboundJsonRequestBody json, String member) {
        JsonNode value = json.value(member);
        if (value == null || value.isNull()) {
            return 0;
        }
        if (!value.isIntegralNumber() || value.asLong(-1) < 0 || value.asLong(-1) > 1_000_000) {
            throw ApiErrors.invalidRequest(member + " must be a whole number from 0 to 1000000");
        }
        return value.asInt();
    }

    private ServerHttpResponse stop(ServerHttpRequest request) {
        InboundJsonRequestBody json = InboundJsonRequestBody.parse(request, Set.of("reason"));
        StoreWriteCommand.ChangeAuthor by = new StoreWriteCommand.ChangeAuthor(
                semel.newId(), request.principal().tokenId(), json.text("reason"));
        return RunJsonRenderer.ok(view(semel.replays().stop(request.principal().workspace(), id(request), by)));
    }

    /** Streams the progress on every change until the plan is verified. */
    private ServerHttpResponse events(ServerHttpRequest request, RunUpdateStreamRoutes streams) {
        ReplayPlanStoreWriteCommand.ReplayPlan plan = find(request);
        return streams.watch(request.principal(), streams.parseLength(request), "progress", () -> {
            ObjectNode now = latestView(plan);
            return now == null
                    ? null
                    : new RunUpdateStreamRoutes.ResourceSnapshot(
                            now, now.path("progress").path("verified").asBoolean());
        });
    }

    private @Nullable ObjectNode latestView(ReplayPlanStoreWriteCommand.ReplayPlan plan) {
        if (watched.size() > MAX_WATCHED) {
            watched.clear();
        }
        CachedPlanView cachedPlanView = watched.compute(
                plan.id(),
                (id, before) ->
                        before != null && semel.nanos() - before.at() < LOOK_NANOS ? before : loadView(plan.ws(), id));
        return cachedPlanView == null ? null : cachedPlanView.view();
    }

    private @Nullable CachedPlanView loadView(int ws, RunId id) {
        ReplayPlanStoreWriteCommand.ReplayPlan now = semel.replays().findPlan(ws, id);
        return now == null ? null : new CachedPlanView(semel.nanos(), view(now));
    }
}
