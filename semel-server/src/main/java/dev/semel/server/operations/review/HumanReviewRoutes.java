package dev.semel.server.operations.review;

import dev.semel.definition.WorkflowCatalogEntry;
import dev.semel.error.ErrorCode;
import dev.semel.error.SemelException;
import dev.semel.json.StrictJsonCodec;
import dev.semel.runtime.HumanReviewDecisionRecorder;
import dev.semel.runtime.RunHandle;
import dev.semel.runtime.SemelRuntime;
import dev.semel.server.http.ServerHttpRequest;
import dev.semel.server.http.ServerHttpResponse;
import dev.semel.server.http.TokenScope;
import dev.semel.server.operations.ActionRequest;
import dev.semel.server.operations.ActionResult;
import dev.semel.server.operations.ApiRouter;
import dev.semel.server.operations.AuditNote;
import dev.semel.server.operations.IdempotentInboundRequestExecutor;
import dev.semel.server.operations.InboundJsonRequestBody;
import dev.semel.server.query.ApiErrors;
import dev.semel.server.query.ApiListFilterParser;
import dev.semel.server.query.HumanReviewJsonRenderer;
import dev.semel.server.query.InboundEventJsonRenderer;
import dev.semel.server.query.PagingParameters;
import dev.semel.server.query.RunJsonRenderer;
import dev.semel.server.query.StoreReader;
import dev.semel.store.HumanReviewStoreWriteCommand;
import dev.semel.store.StoreWriteCommand;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

/** Serves `/v1/reviews`: effects in doubt, changed messages, approvals and held runs. */
public final class HumanReviewRoutes {
    /** The maximum that the list counts as open. */
    public static final int MAX_COUNTED = 100;

    private static final int MAX_PER_REQUEST = 200;
    private static final Set<String> WORDS = Set.of("decision", "result", "note", "version");

    private final SemelRuntime semel;
    private final IdempotentInboundRequestExecutor actions;
    private final HumanReviewJsonRenderer views;

    public HumanReviewRoutes(SemelRuntime semel, IdempotentInboundRequestExecutor actions) {
        this.semel = semel;
        this.actions = actions;
        this.views = new HumanReviewJsonRenderer(semel);
    }

    public void addTo(ApiRouter router) {
        router.get("/v1/reviews", TokenScope.READ, this::list)
                .post("/v1/reviews/decide", TokenScope.REVIEW, this::decideMany)
                .get("/v1/reviews/{review_id}", TokenScope.READ, this::get)
                .post("/v1/reviews/{review_id}/decide", TokenScope.REVIEW, this::decide)
                .post("/v1/reviews/{review_id}/check", TokenScope.REVIEW, this::check);
    }

    private ServerHttpResponse list(ServerHttpRequest request) {
        HumanReviewFilter wanted = HumanReviewFilter.parse(ApiListFilterParser.read(request));
        PagingParameters paging = PagingParameters.parse(request);
        int ws = request.principal().workspace();
        HumanReviewStoreWriteCommand.ReviewCursor after = paging.after() == null ? null : place(paging.after());
        HumanReviewStoreWriteCommand.ReviewPage page =
                wanted.decided() ? decided(ws, after, paging.limit()) : open(ws, wanted, after, paging);
        List<HumanReviewJsonRenderer.ReviewContext> cases = StoreReader.read(
                semel,
                reads -> page.found().stream()
                        .map(row -> HumanReviewJsonRenderer.loadForList(reads, row))
                        .toList());
        ObjectNode out = RunJsonRenderer.newObject();
        cases.stream().map(one -> views.listItem(one)).forEach(out.putArray("items")::add);
        out.put("open", count(ws));
        out.put("next", page.next() == null ? null : cursor(page.next()));
        return RunJsonRenderer.ok(out);
    }

    /** Counts the open reviews, up to the maximum. */
    private int count(int ws) {
        var all = new HumanReviewStoreWriteCommand.OpenReviewFilter(
                ws, null, null, null, HumanReviewStoreWriteCommand.ReviewCursor.FRONT, MAX_COUNTED);
        return StoreReader.read(semel, reads -> reads.reviews().open(all))
                .found()
                .size();
    }

    private HumanReviewStoreWriteCommand.ReviewPage decided(
            int ws, HumanReviewStoreWriteCommand.@Nullable ReviewCursor after, int limit) {
        List<HumanReviewStoreWriteCommand.ReviewRow> rows =
                StoreReader.read(semel, reads -> reads.reviews().decided(ws, after, limit));
        boolean more = rows.size() == limit;
        return new HumanReviewStoreWriteCommand.ReviewPage(
                rows, more ? HumanReviewStoreWriteCommand.ReviewCursor.decided(rows.getLast()) : null);
    }

    private HumanReviewStoreWriteCommand.ReviewPage open(
            int ws,
            HumanReviewFilter wanted,
            HumanReviewStoreWriteCommand.@Nullable ReviewCursor after,
            PagingParameters paging) {
        String workflowId = null;
        if (wanted.workflow() != null) {
            WorkflowCatalogEntry found = semel.workflow(ws, wanted.workflow());
            if (found == null) {
                return new HumanReviewStoreWriteCommand.ReviewPage(List.of(), null);
            }
            workflowId = found.published().workflowId();
        }
        HumanReviewStoreWriteCommand.OpenReviewFilter filter = new HumanReviewStoreWriteCommand.OpenReviewFilter(
                ws,
                wanted.kind(),
                workflowId,
                wanted.to(),
                after == null ? HumanReviewStoreWriteCommand.ReviewCursor.FRONT : after,
                paging.limit());
        return StoreReader.read(semel, reads -> reads.reviews().open(filter));
    }

    private ServerHttpResponse get(ServerHttpRequest request) {
        return RunJsonRenderer.ok(views.withEvidence(find(request)));
    }

    private HumanReviewJsonRenderer.ReviewContext find(ServerHttpRequest request) {
        int ws = request.principal().workspace();
        String id = request.parameter("review_id");
        return find(ws, id);
    }

    private HumanReviewJsonRenderer.ReviewContext find(int ws, String id) {
        return ApiErrors.orNotFound(
                semel.view(reads -> {
                    HumanReviewStoreWriteCommand.ReviewRow row = reads.reviews().review(ws, id);
                    return row == null ? null : HumanReviewJsonRenderer.withEvidence(reads, row);
                }),
                "No review with this id exists in this workspace. Nothing was decided.",
                "Check the id (rev_…). GET /v1/reviews lists the reviews.");
    }

    private record DecisionBody(String decision, @Nullable JsonNode result, String note, int version, JsonNode body) {
        static DecisionBody of(InboundJsonRequestBody json) {
            return new DecisionBody(
                    json.text("decision"), json.value("result"), json.text("note"), versionOf(json), json.body());
        }
    }

    /** The review version in the body; 0 if there is none. */
    public static int versionOf(InboundJsonRequestBody json) {
        JsonNode version = json.value("version");
        if (version != null && (!version.isInt() || version.intValue() < 1)) {
            throw ApiErrors.invalidRequest("version must be a whole number, 1 or greater");
        }
        return version == null ? 0 : version.intValue();
    }

    private ServerHttpResponse decide(ServerHttpRequest request) {
        DecisionBody body = DecisionBody.of(InboundJsonRequestBody.parse(request, WORDS));
        ActionResult done = decide(request, find(request), body);
        return done.toResponse();
    }

    private ActionResult decide(
            ServerHttpRequest request, HumanReviewJsonRenderer.ReviewContext one, DecisionBody body) {
        HumanReviewStoreWriteCommand.ReviewRow row = one.row();
        HumanReviewPermissionCheck.requireMayDecide(request.principal(), row);
        Set<String> words = HumanReviewDecisionRecorder.allowedDecisions(row.kind());
        if (!words.contains(body.decision())) {
            throw ApiErrors.invalidRequest(
                    "decision must be one of " + String.join(", ", new TreeSet<>(words)) + " for this review");
        }
        if (body.result() != null && !body.decision().equals("happened")) {
            throw ApiErrors.invalidRequest("`result` is allowed only with the decision `happened`");
        }
        HumanReviewDecisionRecorder.DecidedBy who =
                new HumanReviewDecisionRecorder.DecidedBy(request.principal().tokenId(), body.note());
        RunHandle.RunChange change = semel.reviews()
                .decisionChange(
                        row,
                        new HumanReviewDecisionRecorder.DecisionRequest(body.decision(), body.result(), body.version()),
                        who);
        ActionRequest actionRequest =
                new ActionRequest("review.decide " + row.id(), StrictJsonCodec.write(body.body()));
        // If there is nothing to change, the server still looks for a stored response.
        @SuppressWarnings("unchecked") // the code only checks whether the change was made
        StoreWriteCommand<Object> edit = (StoreWriteCommand<Object>)
                (change == null ? new StoreWriteCommand.WakeRuns(List.of()) : change.edit());
        ActionResult done = ApiErrors.orThrow(
                actions.runOnce(
                        request,
                        actionRequest,
                        edit,
                        outcome -> outcome
                                        instanceof
                                        HumanReviewStoreWriteCommand.DecideReviewResult.Done(
                                                HumanReviewStoreWriteCommand.ReviewRow decided)
                                ? decided(one, decided)
                                : null),
                () -> conflict(find(row.ws(), row.id()), body.version()));
        if (change != null && !done.replayed()) {
            semel.reviews().wakeAfter(change);
        }
        return done;
    }

    private static ObjectNode decided(
            HumanReviewJsonRenderer.ReviewContext one, HumanReviewStoreWriteCommand.ReviewRow row) {
        String run = one.run() == null ? row.run().text() : one.run().runIdText();
        ObjectNode out = RunJsonRenderer.newObject();
        out.put("review_id", row.id()).put("run_id", run).put("version", row.version());
        out.putObject("decided")
                .put("decision", row.decision())
                .put("by", row.decidedBy())
                .put("at", RunJsonRenderer.formatTime(row.decidedAt()))
                .put("note", row.note());
        return out;
    }

    private static SemelException conflict(HumanReviewJsonRenderer.ReviewContext one, int wanted) {
        HumanReviewStoreWriteCommand.ReviewRow row = one.row();
        if (!row.isOpen()) {
            String by = row.decidedBy().isEmpty() ? "" : " by " + row.decidedBy();
            return rejection(
                    row,
                    "Review " + row.id() + " is already decided: " + row.decision() + by + " at "
                            + RunJsonRenderer.formatTime(row.decidedAt())
                            + ". Your decision was not recorded and nothing was sent.",
                    "A decision cannot be changed. Check the run to see how it continued.");
        }
        if (wanted != 0 && wanted != row.version()) {
            return rejection(
                    row,
                    "Review " + row.id() + " now has version " + row.version() + ", not " + wanted
                            + ". Your decision was not recorded and nothing was sent.",
                    "Read the review again, because the question has changed. Then decide with its new version.");
        }
        return rejection(
                row,
                "Review " + row.id() + " is no longer open: its run has ended or continued. Your decision was not"
                        + " recorded and nothing was sent.",
                "Check the state of the run.");
    }

    private static SemelException rejection(HumanReviewStoreWriteCommand.ReviewRow row, String detail, String fix) {
        SemelException rejection = new SemelException(ErrorCode.REVIEW_DECIDED, detail, fix)
                .with("review_id", row.id())
                .with("version", row.version());
        return row.isOpen()
                ? rejection
                : rejection
                        .with("decision", row.decision())
                        .with("decided_by", row.decidedBy())
                        .with("decided_at", String.valueOf(RunJsonRenderer.formatTime(row.decidedAt())));
    }

    /** @param version the version to decide; for a plain id or a filter, the version that was found */
    private record SelectedReview(HumanReviewJsonRenderer.ReviewContext review, int version) {
        static SelectedReview withFoundVersion(HumanReviewJsonRenderer.ReviewContext one) {
            return new SelectedReview(one, one.row().version());
        }
    }

    /** Decides several reviews of one kind, by ids or by a filter; each has its own result. */
    private ServerHttpResponse decideMany(ServerHttpRequest request) {
        InboundJsonRequestBody json =
                InboundJsonRequestBody.parse(request, Set.of("ids", "q", "decision", "result", "note"));
        List<SelectedReview> all = selectOnce(request, json, select(request, json));
        if (all.stream()
                        .map(selected -> selected.review().row().kind())
                        .distinct()
                        .count()
                > 1) {
            throw ApiErrors.invalidRequest("all selected reviews must have the same kind");
        }
        DecisionBody body = DecisionBody.of(json);
        ObjectNode out = RunJsonRenderer.newObject();
        ArrayNode items = out.putArray("items");
        int decided = 0;
        for (SelectedReview selected : all) {
            ObjectNode item = RunJsonRenderer.newObject();
            try {
                DecisionBody each =
                        new DecisionBody(body.decision(), body.result(), body.note(), selected.version(), body.body());
                item.put("status_code", 200);
                item.setAll(
                        (ObjectNode) decide(request, selected.review(), each).body());
                decided++;
            } catch (SemelException e) {
                item.removeAll();
                item.setAll(InboundEventJsonRenderer.problemItem(e, request.id()));
                item.put("review_id", selected.review().row().id());
            }
            items.add(item);
        }
        return RunJsonRenderer.ok(out.put("decided", decided));
    }

    /** Selects once per key. A repeat never decides new reviews that match the filter: no user has seen those. */
    private List<SelectedReview> selectOnce(
            ServerHttpRequest request, InboundJsonRequestBody json, List<SelectedReview> found) {
        ActionRequest actionRequest = new ActionRequest("reviews.decide", StrictJsonCodec.write(json.body()));
        ActionResult first = actions.runOnce(request, actionRequest, new StoreWriteCommand.WakeRuns(List.of()), _ -> {
            ObjectNode out = RunJsonRenderer.newObject();
            ArrayNode ids = out.putArray("ids");
            found.forEach(one -> ids.add(one.review().row().id() + "@" + one.version()));
            return out;
        });
        if (first == null || !first.replayed()) {
            return found;
        }
        int ws = request.principal().workspace();
        List<SelectedReview> then = new ArrayList<>();
        first.body().required("ids").forEach(id -> then.add(select(ws, id.asString())));
        return then;
    }

    private List<SelectedReview> select(ServerHttpRequest request, InboundJsonRequestBody json) {
        int ws = request.principal().workspace();
        JsonNode ids = json.value("ids");
        String q = json.text("q");
        if ((ids == null) == q.isEmpty()) {
            throw ApiErrors.invalidRequest("either `ids` or `q` is required, not both");
        }
        if (ids == null) {
            HumanReviewFilter wanted = HumanReviewFilter.parse(q);
            if (wanted.decided() || wanted.kind() == null) {
                throw ApiErrors.invalidRequest(
                        "q must contain a kind, such as kind:approval, and can select only open reviews");
            }
            List<HumanReviewStoreWriteCommand.ReviewRow> rows = open(
                            ws, wanted, null, new PagingParameters(MAX_PER_REQUEST, null))
                    .found();
            return rows.stream()
                    .map(row -> SelectedReview.withFoundVersion(find(ws, row.id())))
                    .toList();
        }
        if (!ids.isArray() || ids.isEmpty() || ids.size() > MAX_PER_REQUEST) {
            throw ApiErrors.invalidRequest("ids must be a list of 1 to " + MAX_PER_REQUEST + " ids");
        }
        List<SelectedReview> all = new ArrayList<>();
        ids.forEach(id -> all.add(select(ws, id.asString(""))));
        return all;
    }

    /** `rev_…@2` selects version 2; `rev_…` selects the version that is found. */
    private SelectedReview select(int ws, String text) {
        int at = text.indexOf('@');
        if (at < 0) {
            return SelectedReview.withFoundVersion(find(ws, text));
        }
        String version = text.substring(at + 1);
        if (!version.matches("[1-9][0-9]{0,8}")) {
            throw ApiErrors.invalidRequest("the version after @ in an id must be a whole number, 1 or greater");
        }
        return new SelectedReview(find(ws, text.substring(0, at)), Integer.parseInt(version));
    }

    /** The run queries the provider again; the timeline shows the result. */
    private ServerHttpResponse check(ServerHttpRequest request) {
        HumanReviewJsonRenderer.ReviewContext one = find(request);
        HumanReviewPermissionCheck.requireMayDecide(request.principal(), one.row());
        boolean hasLookup =
                one.effect() != null && one.effect().details().protection().equals("lookup");
        if (!hasLookup) {
            throw ApiErrors.invalidRequest("only an effect with the protection `lookup` can be checked");
        }
        if (!one.isOpen()) {
            throw conflict(one, 0);
        }
        actions.recordAudit(request, new AuditNote("review.check", one.row().id(), ""));
        semel.reviews().wake(one.row().run());
        return RunJsonRenderer.ok(views.withEvidence(find(request)).put("checking", true));
    }

    private static String cursor(HumanReviewStoreWriteCommand.ReviewCursor reviewCursor) {
        ArrayNode parts = JsonNodeFactory.instance.arrayNode();
        parts.add(reviewCursor.at()).add(reviewCursor.openedAt()).add(reviewCursor.id());
        return PagingParameters.encode(StrictJsonCodec.write(parts));
    }

    private static HumanReviewStoreWriteCommand.ReviewCursor place(String cursor) {
        try {
            JsonNode parts = StrictJsonCodec.parse(Base64.getUrlDecoder().decode(cursor));
            if (parts.isArray()
                    && parts.size() == 3
                    && parts.get(2).asString("").indexOf(0) < 0) {
                return new HumanReviewStoreWriteCommand.ReviewCursor(
                        parts.get(0).asLong(0),
                        parts.get(1).asLong(0),
                        parts.get(2).asString(""));
            }
        } catch (IllegalArgumentException | SemelException e) {
            throw ApiErrors.invalidQuery("`after` must be the `next` value of an earlier response");
        }
        throw ApiErrors.invalidQuery("`after` must be the `next` value of an earlier response");
    }
}
