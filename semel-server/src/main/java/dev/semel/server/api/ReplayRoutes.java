package dev.semel.server.api;

import dev.semel.runtime.Replays;
import dev.semel.runtime.SemelRuntime;
import dev.semel.error.ErrorCode;
import dev.semel.error.SemelException;
import dev.semel.json.StrictJson;
import dev.semel.replay.ReplayAction;
import dev.semel.replay.ApplyOptions;
import dev.semel.replay.NotificationMode;
import dev.semel.replay.ReplayPlanRequest;
import dev.semel.run.RunId;
import dev.semel.server.http.HttpResponse;
import dev.semel.server.http.HttpRequest;
import dev.semel.server.http.Router;
import dev.semel.server.http.TokenScope;
import dev.semel.store.StoreCommand;
import dev.semel.store.ReplayPlanQueries;
import dev.semel.store.StoreQueries;
import dev.semel.store.ReplayPlanOperation;
import dev.semel.store.StoredRows;
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
final class ReplayRoutes {
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
            "version",
            "approval",
            "include",
            "rate",
            "canary",
            "stop_after");

    private final SemelRuntime semel;
    private final JsonViews views;
    private final TriggerRoutes triggers;
    private final IdempotentActions actions;
    /** The latest view of each watched plan: all streams of one plan share one query per second. */
    private final ConcurrentHashMap<RunId, CachedPlanView> watched = new ConcurrentHashMap<>();

    private record CachedPlanView(long at, ObjectNode view) {}

    private final ConcurrentHashMap<RunId, CachedItemCounts> counted = new ConcurrentHashMap<>();

    /** The item counts of a plan, cached for a short time. */
    private record CachedItemCounts(ReplayPlanOperation.PlanState state, long until, List<ReplayPlanQueries.ItemCount> counts) {}

    ReplayRoutes(SemelRuntime semel, JsonViews views, TriggerRoutes triggers, IdempotentActions actions) {
        this.semel = semel;
        this.views = views;
        this.triggers = triggers;
        this.actions = actions;
    }

    void addTo(Router router, LiveUpdateStreams streams) {
        String one = "/v1/replays/{replay_id}";
        router.add(ApiRoutes.mutationRoute("POST", "/v1/replays", TokenScope.OPERATE, this::plan))
                .add("GET", "/v1/replays", TokenScope.READ, this::list)
                .add("GET", one, TokenScope.READ, this::get)
                .add("GET", one + "/items", TokenScope.READ, this::items)
                .add("GET", one + "/events", TokenScope.READ, request -> events(request, streams))
                .add(ApiRoutes.mutationRoute("POST", one + "/approve", TokenScope.OPERATE, this::approve))
                .add(ApiRoutes.mutationRoute("POST", one + "/apply", TokenScope.OPERATE, this::apply))
                .add(ApiRoutes.mutationRoute("POST", one + "/stop", TokenScope.OPERATE, this::stop));
    }

    private HttpResponse plan(HttpRequest request) {
        JsonBody json = JsonBody.parse(request, MEMBERS);
        Replays.ReplayRequest asked = replayRequest(request, json);
        IdempotentActions.ActionRequest actionRequest = new IdempotentActions.ActionRequest("replay.plan", StrictJson.write(json.body()));
        IdempotentActions.ActionResult laid = actions.runOnce(
                request,
                actionRequest,
                semel.replays().createPlanEdit(asked),
                plan -> plan == null ? null : JsonViews.newObject().put("replay_id", plan.idText()));
        String id = Objects.requireNonNull(laid).body().required("replay_id").asString();
        ReplayPlanOperation.ReplayPlan made = semel.replays().buildPlan(Objects.requireNonNull(ReplayPlanOperation.parse(id)), asked);
        HttpResponse answer = JsonViews.ok(view(made));
        return laid.replayed() ? IdempotentActions.addReplayedHeaders(answer) : answer;
    }

    private Replays.ReplayRequest replayRequest(HttpRequest request, JsonBody json) {
        List<String> runs = textList("runs", json.value("runs"));
        String q = json.text("q");
        if (runs.isEmpty() == q.isBlank()) {
            throw RunActionRoutes.invalidRequest("either runs (a list of run ids) or q (a filter such as status:failed) is required");
        }
        String version = json.text("version");
        if (!Set.of("", "as_it_was", "as_it_is").contains(version)) {
            throw RunActionRoutes.invalidRequest("version must be as_it_was or as_it_is");
        }
        JsonNode input = json.value("input");
        if (input != null && runs.size() != 1) {
            throw RunActionRoutes.invalidRequest("an edited input requires exactly one run");
        }
        String what = runs.isEmpty() ? q.strip() : runs.size() == 1 ? runs.getFirst() : runs.size() + " runs";
        ReplayPlanRequest order = new ReplayPlanRequest(
                what,
                json.text("from"),
                version.equals("as_it_is"),
                textList("redo", json.value("redo")),
                flag(json, "confirm_redo"),
                flag(json, "late_signals"),
                notificationMode(json.text("notify")));
        if (input != null) {
            StoredRows.RunRow run = views.findRun(request.principal(), runs.getFirst());
            int by = semel.replays().versionForReplay(run.ws(), runs.getFirst(), order);
            FileWorkflow.checkInput(semel.version(run.workflowId(), by), input);
        }
        Replays.RunSelection which =
                runs.isEmpty() ? new Replays.RunSelection.ByFilter(filter(request, q)) : new Replays.RunSelection.ByRunId(runs);
        return new Replays.ReplayRequest(
                request.principal().workspace(),
                request.principal().tokenId(),
                which,
                order,
                input == null ? null : StrictJson.write(input),
                flag(json, "approval"),
                manner(json));
    }

    private static NotificationMode notificationMode(String word) {
        if (!Set.of("", "missing", "none", "again").contains(word)) {
            throw RunActionRoutes.invalidRequest("notify must be missing, none or again");
        }
        return word.isEmpty() ? NotificationMode.MISSING : NotificationMode.of(word);
    }

    private static boolean flag(JsonBody json, String member) {
        JsonNode value = json.value(member);
        return value != null && value.asBoolean();
    }

    private static List<String> textList(String member, @Nullable JsonNode given) {
        List<String> texts = new ArrayList<>();
        if (given != null) {
            if (!given.isArray() || given.size() > MAX_NAMED) {
                throw RunActionRoutes.invalidRequest(member + " must be a list of at most " + MAX_NAMED + " names");
            }
            for (JsonNode one : given) {
                texts.add(one.asString());
            }
        }
        return texts;
    }

    private StoreQueries.RunFilter filter(HttpRequest request, String q) {
        RunRoutes.RunListFilter filter = RunRoutes.RunListFilter.parse(q);
        String workflow = filter.workflow() == null
                ? null
                : triggers.findWorkflow(request.principal(), filter.workflow())
                        .published()
                        .workflowId();
        long since = filter.since(Objects.requireNonNull(semel.view(reads -> reads.now())));
        return new StoreQueries.RunFilter(
                request.principal().workspace(),
                workflow,
                filter.state(),
                filter.key(),
                filter.replayed(),
                since,
                null,
                1,
                since == 0 ? null : RunId.lowerBoundAt(since));
    }

    private HttpResponse list(HttpRequest request) {
        PagingParameters paging = PagingParameters.parse(request);
        return JsonViews.pageResponse(
                semel.replays().listPlans(request.principal().workspace(), paging.afterId(), paging.limit()),
                paging.limit(),
                ReplayViews::planHead,
                plan -> PagingParameters.cursor(plan.id()));
    }

    private HttpResponse get(HttpRequest request) {
        return JsonViews.ok(view(find(request)));
    }

    private ObjectNode view(ReplayPlanOperation.ReplayPlan plan) {
        return ReplayViews.planJson(plan, counts(plan));
    }

    /**
     * Counting reads all items, so the result is cached for ten times the duration of the query, at most five seconds.
     */
    private List<ReplayPlanQueries.ItemCount> counts(ReplayPlanOperation.ReplayPlan plan) {
        CachedItemCounts known = counted.get(plan.id());
        long begun = semel.nanos();
        if (known != null && known.state() == plan.state() && begun - known.until() < 0) {
            return known.counts();
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

    private ReplayPlanOperation.ReplayPlan find(HttpRequest request) {
        ReplayPlanOperation.ReplayPlan plan = semel.replays().findPlan(request.principal().workspace(), id(request));
        if (plan == null) {
            throw unknownPlan();
        }
        return plan;
    }

    private static RunId id(HttpRequest request) {
        RunId id = ReplayPlanOperation.parse(request.parameter("replay_id"));
        if (id == null) {
            throw unknownPlan();
        }
        return id;
    }

    private static SemelException unknownPlan() {
        return new SemelException(
                ErrorCode.NOT_FOUND,
                "No replay plan with this id exists in this workspace. Nothing was changed.",
                "GET /v1/replays lists the plans. The server keeps a plan for 30 days.");
    }

    private HttpResponse items(HttpRequest request) {
        PagingParameters paging = PagingParameters.parse(request);
        ReplayPlanOperation.ReplayPlan plan = find(request);
        String action = request.query("action");
        String worst = request.query("worst");
        if (action != null && worst != null) {
            throw PagingParameters.invalidQuery("send either action (any step) or worst (the most dangerous step), not both");
        }
        ReplayPlanQueries.ItemFilter wanted =
                new ReplayPlanQueries.ItemFilter(plan.id(), action == null ? 0 : parseAction(action).bit(), fate(request.query("fate")));
        return JsonViews.pageResponse(
                worst == null
                        ? semel.replays().listItems(wanted, paging.afterId(), paging.limit())
                        : worst(wanted, worst, paging),
                paging.limit(),
                ReplayViews::itemJson,
                item -> PagingParameters.cursor(item.run()));
    }

    /** Lists runs by their most dangerous step, or blocked runs. The server scans the plan page by page for it. */
    private List<ReplayPlanOperation.PlanItem> worst(ReplayPlanQueries.ItemFilter wanted, String word, PagingParameters paging) {
        ReplayAction action = word.equals("blocked") ? null : parseAction(word);
        ReplayPlanQueries.ItemFilter narrowed = new ReplayPlanQueries.ItemFilter(wanted.plan(), action == null ? 0 : action.bit(), wanted.outcome());
        int place = action == null ? 0 : action.ordinal() + 1;
        List<ReplayPlanOperation.PlanItem> found = new ArrayList<>();
        RunId after = paging.afterId();
        boolean more = true;
        while (more && found.size() < paging.limit()) {
            List<ReplayPlanOperation.PlanItem> page = semel.replays().listItems(narrowed, after, READ_AT_ONCE);
            page.stream()
                    .filter(item -> item.worstAction() == place)
                    .limit(paging.limit() - found.size())
                    .forEach(found::add);
            more = page.size() == READ_AT_ONCE;
            after = page.isEmpty() ? after : page.getLast().run();
        }
        return found;
    }

    static ReplayAction parseAction(String word) {
        for (ReplayAction action : ReplayAction.values()) {
            if (action.word().equals(word)) {
                return action;
            }
        }
        throw PagingParameters.invalidQuery("action must be one of reuse, run_again, send, resend, check, ask, unprotected, silent");
    }

    private static ReplayPlanOperation.@Nullable ItemOutcome fate(@Nullable String word) {
        for (ReplayPlanOperation.ItemOutcome fate : ReplayPlanOperation.ItemOutcome.values()) {
            if (fate.word().equals(word)) {
                return fate;
            }
        }
        if (word != null) {
            throw PagingParameters.invalidQuery("fate must be one of planned, applied, outdated, refused, left_out");
        }
        return null;
    }

    private HttpResponse approve(HttpRequest request) {
        JsonBody.parse(request, Set.of());
        ReplayPlanOperation.ReplayPlan plan = find(request);
        if (plan.approvedBy() == null
                && !new FourEyesCheck(semel)
                        .isOtherUser(plan.ws(), plan.createdBy(), request.principal().tokenId())) {
            throw new SemelException(
                    ErrorCode.FORBIDDEN,
                    "Plan " + plan.idText() + " was created by you or with one of your tokens. It was not approved.",
                    "Another user must approve it, in the dashboard or with a token that you did not create.");
        }
        return JsonViews.ok(view(semel.replays()
                .approve(
                        request.principal().workspace(),
                        id(request),
                        request.principal().tokenId())));
    }

    /** A repeat returns the progress; a plan is applied once. */
    private HttpResponse apply(HttpRequest request) {
        JsonBody json = JsonBody.parse(request, Set.of("include", "rate", "canary", "stop_after"));
        return JsonViews.ok(view(semel.replays()
                .apply(
                        request.principal().workspace(),
                        id(request),
                        json.body().isEmpty() ? null : manner(json),
                        request.principal().tokenId())));
    }

    /** Parses the options of applying. Options that are stored with the plan are part of what a user approves. */
    private static ApplyOptions manner(JsonBody json) {
        List<ReplayAction> include = new ArrayList<>();
        JsonNode words = json.value("include");
        if (words != null) {
            words.forEach(word -> include.add(parseAction(word.asString(""))));
        }
        return new ApplyOptions(include, number(json, "rate"), number(json, "canary"), number(json, "stop_after"));
    }

    private static int number(JsonBody json, String member) {
        JsonNode value = json.value(member);
        if (value == null || value.isNull()) {
            return 0;
        }
        if (!value.isIntegralNumber() || value.asLong(-1) < 0 || value.asLong(-1) > 1_000_000) {
            throw RunActionRoutes.invalidRequest(member + " must be a whole number from 0 to 1000000");
        }
        return value.asInt();
    }

    private HttpResponse stop(HttpRequest request) {
        JsonBody json = JsonBody.parse(request, Set.of("reason"));
        StoreCommand.ChangeAuthor by = new StoreCommand.ChangeAuthor(semel.newId(), request.principal().tokenId(), json.text("reason"));
        return JsonViews.ok(view(semel.replays().stop(request.principal().workspace(), id(request), by)));
    }

    /** Streams the progress on every change until the plan is verified. */
    private HttpResponse events(HttpRequest request, LiveUpdateStreams streams) {
        ReplayPlanOperation.ReplayPlan plan = find(request);
        return streams.watch(streams.parseLength(request), "progress", () -> {
            ObjectNode now = latestView(plan);
            return now == null
                    ? null
                    : new LiveUpdateStreams.ResourceSnapshot(now, now.path("progress").path("verified").asBoolean());
        });
    }

    private @Nullable ObjectNode latestView(ReplayPlanOperation.ReplayPlan plan) {
        if (watched.size() > MAX_WATCHED) {
            watched.clear();
        }
        CachedPlanView seen = watched.compute(
                plan.id(),
                (id, before) ->
                        before != null && semel.nanos() - before.at() < LOOK_NANOS ? before : loadView(plan.ws(), id));
        return seen == null ? null : seen.view();
    }

    private @Nullable CachedPlanView loadView(int ws, RunId id) {
        ReplayPlanOperation.ReplayPlan now = semel.replays().findPlan(ws, id);
        return now == null ? null : new CachedPlanView(semel.nanos(), view(now));
    }
}
