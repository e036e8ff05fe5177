package dev.semel.server.operations.idempotency;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonProperty;
import dev.semel.admission.RunDeduplicationKey;
import dev.semel.admission.TriggerAdmissionRules;
import dev.semel.admission.TriggerAdmissionRules.KeyStatus;
import dev.semel.error.ErrorCode;
import dev.semel.error.SemelException;
import dev.semel.idempotency.IdempotencyKey;
import dev.semel.runtime.IdempotencyKeyReleaser;
import dev.semel.runtime.SemelRuntime;
import dev.semel.server.http.ServerHttpRequest;
import dev.semel.server.http.ServerHttpResponse;
import dev.semel.server.http.TokenScope;
import dev.semel.server.operations.ActionRequest;
import dev.semel.server.operations.ActionResult;
import dev.semel.server.operations.ApiRouter;
import dev.semel.server.operations.CommandDeclaration;
import dev.semel.server.operations.IdempotentInboundRequestExecutor;
import dev.semel.server.operations.InboundJsonRequestBody;
import dev.semel.server.operations.Operation;
import dev.semel.server.operations.OperationRouter;
import dev.semel.server.operations.Parameter;
import dev.semel.server.operations.WorkspaceIdAndSecretCache;
import dev.semel.server.query.ApiErrors;
import dev.semel.server.query.PagingParameters;
import dev.semel.server.query.RunJsonRenderer;
import dev.semel.server.query.StoreReader;
import dev.semel.server.query.view.Described;
import dev.semel.server.query.view.KeySimulationView;
import dev.semel.server.query.view.KeyView;
import dev.semel.server.query.view.Page;
import dev.semel.server.query.view.StoreTime;
import dev.semel.store.DatabaseRows;
import dev.semel.store.StoreWrite;
import dev.semel.store.StoreWriteCommand;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/** Serves idempotency keys (`/v1/keys`): list, history, simulation, longer window and release. */
public final class IdempotencyKeyRoutes {
    private static final int LONGEST_REASON = 500;
    private static final int MAX_SCANNED = 20_000;
    private static final int PAGE_SIZE = 500;
    private static final long LONGEST_WINDOW = Duration.ofDays(365).toNanos() / 1_000;

    private final SemelRuntime semel;
    private final RunJsonRenderer views;
    private final IdempotentInboundRequestExecutor actions;
    private final IdempotentTriggerSimulator simulation;
    private final IdempotencyKeyHistoryRenderer history;

    public IdempotencyKeyRoutes(
            SemelRuntime semel,
            RunJsonRenderer views,
            IdempotentInboundRequestExecutor actions,
            WorkspaceIdAndSecretCache spaces) {
        this.semel = semel;
        this.views = views;
        this.actions = actions;
        this.simulation = new IdempotentTriggerSimulator(semel, spaces);
        this.history = new IdempotencyKeyHistoryRenderer(semel, simulation);
    }

    private static final Parameter WORKFLOW =
            Parameter.text("workflow", "Only the record of this workflow, if several workflows have the key.");

    static final Operation<Page<KeyView>> LIST = Operation.get("listKeys", "/v1/keys", TokenScope.READ)
            .tag("Keys")
            .summary("List keys")
            .parameters(
                    Parameter.text("prefix", "Only keys with this prefix."),
                    Parameter.text(
                            "workflow", "Only keys of this workflow. A page that is not full can have a next cursor."))
            .paged()
            .problem(404, "NotFound")
            .command(CommandDeclaration.of("key list", "Lists keys in alphabetical order, each with its run.")
                    .optionalArgument("PREFIX", "prefix", "Only keys that begin with this text.")
                    .option("--workflow", "W", "workflow", "Only keys of this workflow.")
                    .examples("semel key list evt_", "semel key list --workflow payment_receipt")
                    .whenEmpty("no key matches. See the requests: semel request list")
                    .text("KEY", "idempotency_key")
                    .text("STATUS", "status")
                    .text("WORKFLOW", "operation_name")
                    .text("RUN", "run_id")
                    .text("RUN STATUS", "run_status")
                    .text("REPLAYED", "replays")
                    .text("CONFLICTS", "conflicts")
                    .time("FIRST SEEN", "created_at")
                    .suggest("semel key show", "idempotency_key"))
            .returnsPage(KeyView.class, "Sorted by key.");

    static final Operation<KeyView.KeyDetailView> GET = Operation.get("getKey", "/v1/keys/{key}", TokenScope.READ)
            .tag("Keys")
            .summary("Get a key record")
            .description("With its run, window, effects and history.")
            .parameters(Parameter.KEY, WORKFLOW)
            .returns(KeyView.KeyDetailView.class, "The newest record; the others are in `others`.");

    /** The body of a simulation. */
    record KeySimulationRequest(
            @Described("A time such as 2026-03-01T09:00:00Z.") @JsonInclude(JsonInclude.Include.NON_NULL) @Nullable
            String at,

            @Described("A duration from now, such as 30h.") @JsonInclude(JsonInclude.Include.NON_NULL) @Nullable
            String after,

            @Described("The data of the simulated request. Default: the data of the first request.")
            @JsonInclude(JsonInclude.Include.NON_NULL)
            @Nullable
            ObjectNode data,

            @Described("The workflow of the simulated request.") @JsonInclude(JsonInclude.Include.NON_NULL) @Nullable
            String workflow,

            @JsonInclude(JsonInclude.Include.NON_NULL) @Nullable
            Boolean strict) {}

    static final Operation<KeySimulationView> SIMULATE = Operation.post(
                    "simulateKey", "/v1/keys/{key}/simulate", TokenScope.READ)
            .tag("Keys")
            .summary("Simulate a request with a key; changes nothing")
            .description("Predicts the response to a trigger with this key and data.")
            .parameters(Parameter.KEY, WORKFLOW)
            .request(KeySimulationRequest.class, false, "The simulated request. Default: the same request, now.")
            .cpuBound()
            .returns(KeySimulationView.class, "The predicted admission.");

    /** The body of an extension. */
    record KeyExtensionRequest(
            @Described("A time such as 2026-03-01T09:00:00Z.") @JsonInclude(JsonInclude.Include.NON_NULL) @Nullable
            String until,

            @Described("A duration from now, such as 48h.")
            @JsonProperty("for")
            @JsonInclude(JsonInclude.Include.NON_NULL)
            @Nullable
            String duration,

            @Described("1 to 500 characters, for the audit log.")
            String reason) {}

    static final Operation<KeyView.KeyExtensionView> EXTEND = Operation.post(
                    "extendKey", "/v1/keys/{key}/extend", TokenScope.OPERATE)
            .tag("Keys")
            .summary("Extend the window of a key")
            .description("A window never becomes shorter.")
            .parameters(Parameter.KEY, WORKFLOW)
            .request(KeyExtensionRequest.class, true, "Either `until` or `for`.")
            .storesResponse()
            .returns(KeyView.KeyExtensionView.class, "The key does not expire before this time.");

    public static final List<Operation<?>> OPERATIONS = List.of(LIST, GET, SIMULATE, EXTEND);

    public void addTo(OperationRouter operations, ApiRouter router) {
        operations
                .add(LIST, this::list)
                .add(GET, this::get)
                .add(SIMULATE, simulation::simulate)
                .addResponse(EXTEND, this::extend);
        router.post("/v1/keys/{key}/release", TokenScope.OPERATE, this::release);
    }

    private Page<KeyView> list(ServerHttpRequest request) {
        PagingParameters paging = PagingParameters.parse(request);
        String prefix = Objects.requireNonNullElse(request.query("prefix"), "");
        RunDeduplicationKey after =
                paging.after() == null ? null : decode(request.principal().workspace(), paging.after());
        String workflow = request.query("workflow");
        if (workflow != null) {
            return ofWorkflow(request, workflow, new Behind(prefix, after), paging.limit());
        }
        List<DatabaseRows.KeyRow> rows = StoreReader.read(
                semel, reads -> reads.keys(request.principal().workspace(), prefix, after, paging.limit()));
        long now = StoreReader.now(semel);
        return Page.of(rows, paging.limit(), held -> views.keyView(held, now), held -> encode(held.key()));
    }

    private record Behind(String prefix, @Nullable RunDeduplicationKey after) {}

    /** Keys are sorted by text: this scans a limited number and filters by workflow. The cursor continues the scan. */
    private Page<KeyView> ofWorkflow(ServerHttpRequest request, String workflow, Behind from, int limit) {
        int workspace = request.principal().workspace();
        var entry = StoreReader.workflow(semel, workspace, workflow);
        List<KeyView> items = new ArrayList<>();
        long now = StoreReader.now(semel);
        RunDeduplicationKey after = from.after();
        boolean more = true;
        for (int scanned = 0; more && scanned < MAX_SCANNED && items.size() < limit; scanned += PAGE_SIZE) {
            RunDeduplicationKey behind = after;
            List<DatabaseRows.KeyRow> page =
                    StoreReader.read(semel, reads -> reads.keys(workspace, from.prefix(), behind, PAGE_SIZE));
            more = page.size() == PAGE_SIZE;
            for (DatabaseRows.KeyRow held : page) {
                after = held.key();
                if (held.keyRecord().workflowId().equals(entry.published().workflowId())) {
                    items.add(views.keyView(held, now));
                }
                if (items.size() == limit) {
                    more = true;
                    break;
                }
            }
        }
        return new Page<>(items, more && after != null ? encode(after) : null);
    }

    private KeyView.KeyDetailView get(ServerHttpRequest request) {
        List<DatabaseRows.KeyRow> found = find(request);
        long now = StoreReader.now(semel);
        List<KeyView> all = found.stream().map(held -> views.keyView(held, now)).toList();
        return history.detail(found.getFirst(), all.getFirst(), all.subList(1, all.size()), now);
    }

    /** With a `run_id` or an `Idempotency-Key` a repeat is safe: it does not release the key from a newer run. */
    ServerHttpResponse release(ServerHttpRequest request) {
        JsonNode body = InboundJsonRequestBody.parseAny(request);
        String reason = reason(body.path("reason"));
        String runId = body.path("run_id").isString() ? body.path("run_id").stringValue() : null;
        List<DatabaseRows.KeyRow> found = find(request);
        long now = StoreReader.now(semel);
        List<DatabaseRows.KeyRow> toRelease = found.stream()
                .filter(held -> runId == null || runId.equals(held.keyRecord().runIdText()))
                .filter(held -> isInUse(held, now))
                .toList();
        ObjectNode response = releaseJson(found.getFirst());
        boolean dry = "true".equals(request.query("dry_run"));
        if (dry) {
            String newest = found.getFirst().keyRecord().runIdText();
            response.put("released", false)
                    .put("dry_run", true)
                    .put(
                            "summary",
                            toRelease.isEmpty()
                                    ? "Nothing was released. The key is not active, so a release changes nothing."
                                    : "Nothing was released. After a release, the next request with this key starts a"
                                            + " new run in addition to " + newest + ".");
        }
        history.addDuplicateRisks(response, toRelease, now);
        if (dry) {
            return RunJsonRenderer.ok(response);
        }
        ActionRequest action = new ActionRequest(
                "key.release",
                request.parameter("key"),
                String.valueOf(request.query("workflow")),
                ActionRequest.canonical(body));
        ActionResult done = actions.runOnce(
                request,
                action,
                IdempotencyKeyReleaser.of(
                        toRelease,
                        new StoreWriteCommand.ChangeAuthor(
                                semel.newId(), request.principal().tokenId(), reason)),
                released -> response.put("released", Boolean.TRUE.equals(released)));
        if (done == null) {
            throw new IllegalStateException("a release always has a response");
        }
        return done.toResponse();
    }

    private static boolean isInUse(DatabaseRows.KeyRow held, long now) {
        KeyStatus status = TriggerAdmissionRules.statusOf(held.keyRecord(), now);
        return status == KeyStatus.LIVE || status == KeyStatus.FAILED;
    }

    private static ObjectNode releaseJson(DatabaseRows.KeyRow newest) {
        String named = newest.keyRecord().runIdText();
        ObjectNode out = RunJsonRenderer.newObject();
        out.put("idempotency_key", RunJsonRenderer.keyText(newest));
        out.put("released", false);
        out.put("run_id", named);
        return out.put("summary", "The next request with this key starts a new run in addition to " + named + ".");
    }

    /** Extends the window of a key that is in use. The window never gets shorter. */
    ServerHttpResponse extend(ServerHttpRequest request) {
        InboundJsonRequestBody input = InboundJsonRequestBody.parse(request, Set.of("until", "for", "reason"));
        String reason = reason(input.body().path("reason"));
        if (input.text("until").isEmpty() == input.text("for").isEmpty()) {
            throw ApiErrors.invalidRequest("send either `until` (a time) or `for` (a duration from now)");
        }
        List<DatabaseRows.KeyRow> found = find(request);
        long now = StoreReader.now(semel);
        DatabaseRows.KeyRow held = found.getFirst();
        long until = input.text("until").isEmpty()
                ? now + IdempotentTriggerSimulator.TimeParser.parseDuration(input.text("for"))
                : IdempotentTriggerSimulator.TimeParser.parseTime(input.text("until"));
        if (until > now + LONGEST_WINDOW) {
            throw ApiErrors.invalidRequest("the window of a key can end at most 365 days from now");
        }
        StoreWriteCommand.ChangeAuthor by = new StoreWriteCommand.ChangeAuthor(
                semel.newId(), request.principal().tokenId(), reason);
        ActionRequest action = new ActionRequest(
                "key.extend",
                request.parameter("key"),
                String.valueOf(request.query("workflow")),
                ActionRequest.canonical(input.body()));
        return ApiErrors.orNotFound(
                        actions.runOnce(
                                request,
                                action,
                                new StoreWriteCommand.ExtendKey(
                                        held.key(), held.keyRecord().run(), until, by),
                                extended -> Boolean.TRUE.equals(extended) ? extended(held, until) : null),
                        "This key no longer belongs to a run, because its window has ended or a user released the key."
                                + " The window was not changed.",
                        "The next request with this key starts a new run. The earlier run cannot get the key back.")
                .toResponse();
    }

    private static ObjectNode extended(DatabaseRows.KeyRow held, long until) {
        return EXTEND.toJson(new KeyView.KeyExtensionView(
                RunJsonRenderer.keyText(held),
                held.keyRecord().runIdText(),
                true,
                StoreTime.instant(Math.max(until, held.keyRecord().expiresAt()))));
    }

    private static String reason(JsonNode reason) {
        boolean fits = reason.isString()
                && !reason.stringValue().isBlank()
                && reason.stringValue().length() <= LONGEST_REASON
                && reason.stringValue().chars().noneMatch(c -> c == 0);
        if (!fits) {
            throw ApiErrors.invalidInput(
                    "Changing a key needs a reason of 1 to " + LONGEST_REASON + " characters. Nothing was changed.",
                    "Send {\"reason\": \"why the key is changed\"}. The audit log stores it.");
        }
        return reason.stringValue();
    }

    private List<DatabaseRows.KeyRow> find(ServerHttpRequest request) {
        String key = IdempotencyKey.of(request.parameter("key")).text();
        int workspace = request.principal().workspace();
        List<DatabaseRows.KeyRow> found =
                new ArrayList<>(StoreReader.read(semel, reads -> reads.keyRecords(workspace, key)));
        String workflow = request.query("workflow");
        if (workflow != null) {
            var entry = semel.workflow(workspace, workflow);
            found.removeIf(held -> entry == null
                    || !held.keyRecord().workflowId().equals(entry.published().workflowId()));
        }
        if (found.isEmpty()) {
            List<StoreWrite.DuplicateRequest> rejected =
                    StoreReader.read(semel, reads -> reads.rejectedRequests(workspace, key, null, 1));
            if (!rejected.isEmpty()) {
                throw onlyRejected(workspace, rejected.getFirst());
            }
            throw ApiErrors.notFound(
                    "This workspace has no record of this key: it was never used, or its retention ended. Nothing was"
                            + " changed.",
                    "A request with this key starts a new run. List the keys with GET /v1/keys.");
        }
        return found;
    }

    /** A request with this key was rejected, so the key holds no run; an equal request may be rejected again. */
    private SemelException onlyRejected(int workspace, StoreWrite.DuplicateRequest rejected) {
        DatabaseRows.RunRow run = semel.view(reads -> reads.run(workspace, rejected.run()));
        String runId = run == null ? rejected.run().text() : run.runIdText();
        String why = rejected.statusCode() == ErrorCode.DUPLICATE_PAYLOAD.status()
                ? "because run " + runId + " has the same payload under another key"
                : "because it named run " + runId + ", which belongs to another action";
        return ApiErrors.notFound(
                        "This key holds no run. At " + RunJsonRenderer.formatTime(rejected.at())
                                + " the server rejected a request with this key, " + why + ". Nothing was changed.",
                        "The server rejects an equal request again while run " + runId
                                + " holds its key. List the rejected requests with GET /v1/requests?q=key:KEY.")
                .with("run_id", runId);
    }

    private static String encode(RunDeduplicationKey name) {
        String text = name.kind().code() + " " + name.text();
        return PagingParameters.encode(text);
    }

    private static @Nullable RunDeduplicationKey decode(int workspace, String cursor) {
        try {
            String text = PagingParameters.decode(cursor);
            int space = text.indexOf(' ');
            RunDeduplicationKey.KeyKind kind =
                    RunDeduplicationKey.KeyKind.of(Integer.parseInt(text.substring(0, Math.max(0, space))));
            String name = text.substring(space + 1);
            if (name.indexOf(0) >= 0) {
                throw new IllegalArgumentException("NUL");
            }
            return new RunDeduplicationKey(workspace, kind, name);
        } catch (IllegalArgumentException e) {
            throw ApiErrors.invalidQuery("`after` is not a cursor from an earlier page");
        }
    }
}
