package dev.semel.server.api;

import dev.semel.Replays;
import dev.semel.Semel;
import dev.semel.error.ErrorCode;
import dev.semel.error.SemelException;
import dev.semel.json.Json;
import dev.semel.replay.Action;
import dev.semel.replay.Manner;
import dev.semel.replay.Notify;
import dev.semel.replay.Order;
import dev.semel.run.RunId;
import dev.semel.server.http.Answer;
import dev.semel.server.http.Request;
import dev.semel.server.http.Router;
import dev.semel.server.http.Scope;
import dev.semel.store.Edit;
import dev.semel.store.Plans;
import dev.semel.store.Reads;
import dev.semel.store.Replay;
import dev.semel.store.Rows;
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

    private final Semel semel;
    private final Views views;
    private final Triggers triggers;
    private final Deeds actions;
    /** The latest view of each watched plan: all streams of one plan share one query per second. */
    private final ConcurrentHashMap<RunId, Watched> watched = new ConcurrentHashMap<>();

    private record Watched(long at, ObjectNode view) {}

    private final ConcurrentHashMap<RunId, Counted> counted = new ConcurrentHashMap<>();

    /** The item counts of a plan, cached for a short time. */
    private record Counted(Replay.State state, long until, List<Plans.Count> counts) {}

    ReplayRoutes(Semel semel, Views views, Triggers triggers, Deeds actions) {
        this.semel = semel;
        this.views = views;
        this.triggers = triggers;
        this.actions = actions;
    }

    void addTo(Router router, Tail streams) {
        String one = "/v1/replays/{replay_id}";
        router.add(Api.changing("POST", "/v1/replays", Scope.OPERATE, this::plan))
                .add("GET", "/v1/replays", Scope.READ, this::list)
                .add("GET", one, Scope.READ, this::get)
                .add("GET", one + "/items", Scope.READ, this::items)
                .add("GET", one + "/events", Scope.READ, request -> events(request, streams))
                .add(Api.changing("POST", one + "/approve", Scope.OPERATE, this::approve))
                .add(Api.changing("POST", one + "/apply", Scope.OPERATE, this::apply))
                .add(Api.changing("POST", one + "/stop", Scope.OPERATE, this::stop));
    }

    private Answer plan(Request request) {
        Said json = Said.in(request, MEMBERS);
        Replays.Asked asked = replayRequest(request, json);
        Deeds.Deed actionRequest = new Deeds.Deed("replay.plan", Json.write(json.body()));
        Deeds.Done laid = actions.once(
                request,
                actionRequest,
                semel.replays().laying(asked),
                plan -> plan == null ? null : Views.object().put("replay_id", plan.text()));
        String id = Objects.requireNonNull(laid).body().required("replay_id").asString();
        Replay.Plan made = semel.replays().make(Objects.requireNonNull(Replay.parse(id)), asked);
        Answer answer = Views.ok(view(made));
        return laid.replayed() ? Deeds.replayed(answer) : answer;
    }

    private Replays.Asked replayRequest(Request request, Said json) {
        List<String> runs = textList("runs", json.value("runs"));
        String q = json.text("q");
        if (runs.isEmpty() == q.isBlank()) {
            throw RunActs.refused("either runs (a list of run ids) or q (a filter such as status:failed) is required");
        }
        String version = json.text("version");
        if (!Set.of("", "as_it_was", "as_it_is").contains(version)) {
            throw RunActs.refused("version must be as_it_was or as_it_is");
        }
        JsonNode input = json.value("input");
        if (input != null && runs.size() != 1) {
            throw RunActs.refused("an edited input requires exactly one run");
        }
        String what = runs.isEmpty() ? q.strip() : runs.size() == 1 ? runs.getFirst() : runs.size() + " runs";
        Order order = new Order(
                what,
                json.text("from"),
                version.equals("as_it_is"),
                textList("redo", json.value("redo")),
                flag(json, "confirm_redo"),
                flag(json, "late_signals"),
                notificationMode(json.text("notify")));
        if (input != null) {
            Rows.Run run = views.find(request.principal(), runs.getFirst());
            int by = semel.replays().version(run.ws(), runs.getFirst(), order);
            FileWorkflow.check(semel.version(run.workflowId(), by), input);
        }
        Replays.Which which =
                runs.isEmpty() ? new Replays.Which.All(filter(request, q)) : new Replays.Which.These(runs);
        return new Replays.Asked(
                request.principal().workspace(),
                request.principal().tokenId(),
                which,
                order,
                input == null ? null : Json.write(input),
                flag(json, "approval"),
                manner(json));
    }

    private static Notify notificationMode(String word) {
        if (!Set.of("", "missing", "none", "again").contains(word)) {
            throw RunActs.refused("notify must be missing, none or again");
        }
        return word.isEmpty() ? Notify.MISSING : Notify.of(word);
    }

    private static boolean flag(Said json, String member) {
        JsonNode value = json.value(member);
        return value != null && value.asBoolean();
    }

    private static List<String> textList(String member, @Nullable JsonNode given) {
        List<String> texts = new ArrayList<>();
        if (given != null) {
            if (!given.isArray() || given.size() > MAX_NAMED) {
                throw RunActs.refused(member + " must be a list of at most " + MAX_NAMED + " names");
            }
            for (JsonNode one : given) {
                texts.add(one.asString());
            }
        }
        return texts;
    }

    private Reads.RunFilter filter(Request request, String q) {
        Runs.Filter filter = Runs.Filter.parse(q);
        String workflow = filter.workflow() == null
                ? null
                : triggers.workflow(request.principal(), filter.workflow())
                        .published()
                        .workflowId();
        long since = filter.since(Objects.requireNonNull(semel.view(reads -> reads.now())));
        return new Reads.RunFilter(
                request.principal().workspace(),
                workflow,
                filter.state(),
                filter.key(),
                filter.replayed(),
                since,
                null,
                1,
                since == 0 ? null : RunId.madeSince(since));
    }

    private Answer list(Request request) {
        Paging paging = Paging.of(request);
        return Views.page(
                semel.replays().page(request.principal().workspace(), paging.afterId(), paging.limit()),
                paging.limit(),
                ReplayViews::head,
                plan -> Paging.cursor(plan.id()));
    }

    private Answer get(Request request) {
        return Views.ok(view(find(request)));
    }

    private ObjectNode view(Replay.Plan plan) {
        return ReplayViews.plan(plan, counts(plan));
    }

    /**
     * Counting reads all items, so the result is cached for ten times the duration of the query, at most five seconds.
     */
    private List<Plans.Count> counts(Replay.Plan plan) {
        Counted known = counted.get(plan.id());
        long begun = semel.nanos();
        if (known != null && known.state() == plan.state() && begun - known.until() < 0) {
            return known.counts();
        }
        List<Plans.Count> counts = semel.replays().progress(plan.id());
        if (counted.size() > MAX_WATCHED) {
            counted.clear();
        }
        long ended = semel.nanos();
        long until = ended + Math.min(COUNTED_NANOS, 10 * (ended - begun));
        counted.put(plan.id(), new Counted(plan.state(), until, counts));
        return counts;
    }

    private Replay.Plan find(Request request) {
        Replay.Plan plan = semel.replays().find(request.principal().workspace(), id(request));
        if (plan == null) {
            throw unknownPlan();
        }
        return plan;
    }

    private static RunId id(Request request) {
        RunId id = Replay.parse(request.parameter("replay_id"));
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

    private Answer items(Request request) {
        Paging paging = Paging.of(request);
        Replay.Plan plan = find(request);
        String action = request.query("action");
        String worst = request.query("worst");
        if (action != null && worst != null) {
            throw Paging.refused("send either action (any step) or worst (the most dangerous step), not both");
        }
        Plans.Wanted wanted =
                new Plans.Wanted(plan.id(), action == null ? 0 : action(action).bit(), fate(request.query("fate")));
        return Views.page(
                worst == null
                        ? semel.replays().items(wanted, paging.afterId(), paging.limit())
                        : worst(wanted, worst, paging),
                paging.limit(),
                ReplayViews::item,
                item -> Paging.cursor(item.run()));
    }

    /** Lists runs by their most dangerous step, or blocked runs. The server scans the plan page by page for it. */
    private List<Replay.Item> worst(Plans.Wanted wanted, String word, Paging paging) {
        Action action = word.equals("blocked") ? null : action(word);
        Plans.Wanted narrowed = new Plans.Wanted(wanted.plan(), action == null ? 0 : action.bit(), wanted.fate());
        int place = action == null ? 0 : action.ordinal() + 1;
        List<Replay.Item> found = new ArrayList<>();
        RunId after = paging.afterId();
        boolean more = true;
        while (more && found.size() < paging.limit()) {
            List<Replay.Item> page = semel.replays().items(narrowed, after, READ_AT_ONCE);
            page.stream()
                    .filter(item -> item.worst() == place)
                    .limit(paging.limit() - found.size())
                    .forEach(found::add);
            more = page.size() == READ_AT_ONCE;
            after = page.isEmpty() ? after : page.getLast().run();
        }
        return found;
    }

    static Action action(String word) {
        for (Action action : Action.values()) {
            if (action.word().equals(word)) {
                return action;
            }
        }
        throw Paging.refused("action must be one of reuse, run_again, send, resend, check, ask, unprotected, silent");
    }

    private static Replay.@Nullable Fate fate(@Nullable String word) {
        for (Replay.Fate fate : Replay.Fate.values()) {
            if (fate.word().equals(word)) {
                return fate;
            }
        }
        if (word != null) {
            throw Paging.refused("fate must be one of planned, applied, outdated, refused, left_out");
        }
        return null;
    }

    private Answer approve(Request request) {
        Said.in(request, Set.of());
        Replay.Plan plan = find(request);
        if (plan.approvedBy() == null
                && !new SecondPerson(semel)
                        .isOther(plan.ws(), plan.madeBy(), request.principal().tokenId())) {
            throw new SemelException(
                    ErrorCode.FORBIDDEN,
                    "Plan " + plan.text() + " was created by you or with one of your tokens. It was not approved.",
                    "Another user must approve it, in the dashboard or with a token that you did not create.");
        }
        return Views.ok(view(semel.replays()
                .approve(
                        request.principal().workspace(),
                        id(request),
                        request.principal().tokenId())));
    }

    /** A repeat returns the progress; a plan is applied once. */
    private Answer apply(Request request) {
        Said json = Said.in(request, Set.of("include", "rate", "canary", "stop_after"));
        return Views.ok(view(semel.replays()
                .apply(
                        request.principal().workspace(),
                        id(request),
                        json.body().isEmpty() ? null : manner(json),
                        request.principal().tokenId())));
    }

    /** Parses the options of applying. Options that are stored with the plan are part of what a user approves. */
    private static Manner manner(Said json) {
        List<Action> include = new ArrayList<>();
        JsonNode words = json.value("include");
        if (words != null) {
            words.forEach(word -> include.add(action(word.asString(""))));
        }
        return new Manner(include, number(json, "rate"), number(json, "canary"), number(json, "stop_after"));
    }

    private static int number(Said json, String member) {
        JsonNode value = json.value(member);
        if (value == null || value.isNull()) {
            return 0;
        }
        if (!value.isIntegralNumber() || value.asLong(-1) < 0 || value.asLong(-1) > 1_000_000) {
            throw RunActs.refused(member + " must be a whole number from 0 to 1000000");
        }
        return value.asInt();
    }

    private Answer stop(Request request) {
        Said json = Said.in(request, Set.of("reason"));
        Edit.By by = new Edit.By(semel.newId(), request.principal().tokenId(), json.text("reason"));
        return Views.ok(view(semel.replays().stop(request.principal().workspace(), id(request), by)));
    }

    /** Streams the progress on every change until the plan is verified. */
    private Answer events(Request request, Tail streams) {
        Replay.Plan plan = find(request);
        return streams.watch(streams.length(request), "progress", () -> {
            ObjectNode now = latestView(plan);
            return now == null
                    ? null
                    : new Tail.Seen(now, now.path("progress").path("verified").asBoolean());
        });
    }

    private @Nullable ObjectNode latestView(Replay.Plan plan) {
        if (watched.size() > MAX_WATCHED) {
            watched.clear();
        }
        Watched seen = watched.compute(
                plan.id(),
                (id, before) ->
                        before != null && semel.nanos() - before.at() < LOOK_NANOS ? before : loadView(plan.ws(), id));
        return seen == null ? null : seen.view();
    }

    private @Nullable Watched loadView(int ws, RunId id) {
        Replay.Plan now = semel.replays().find(ws, id);
        return now == null ? null : new Watched(semel.nanos(), view(now));
    }
}
