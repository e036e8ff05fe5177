package dev.semel.server.api;

import dev.semel.runtime.Reviews;
import dev.semel.runtime.RunHandle;
import dev.semel.runtime.SemelRuntime;
import dev.semel.error.ErrorCode;
import dev.semel.error.SemelException;
import dev.semel.json.StrictJson;
import dev.semel.server.http.HttpResponse;
import dev.semel.server.http.HttpRequest;
import dev.semel.server.http.Router;
import dev.semel.server.http.TokenScope;
import dev.semel.store.StoreCommand;
import dev.semel.store.ReviewOperation;
import dev.semel.definition.CurrentWorkflow;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

/**
 * Serves `/v1/reviews`: lists and decides reviews, that is effects in doubt, changed messages, approvals and held
 * runs.
 */
final class ReviewRoutes {
    /** The maximum that the list counts as open. */
    static final int MAX_COUNTED = 100;

    private static final int MAX_PER_REQUEST = 200;
    private static final Set<String> WORDS = Set.of("decision", "result", "note", "version");

    private final SemelRuntime semel;
    private final IdempotentActions actions;
    private final ReviewViews views;

    ReviewRoutes(SemelRuntime semel, IdempotentActions actions) {
        this.semel = semel;
        this.actions = actions;
        this.views = new ReviewViews(semel);
    }

    void addTo(Router router) {
        router.add("GET", "/v1/reviews", TokenScope.READ, this::list)
                .add(ApiRoutes.mutationRoute("POST", "/v1/reviews/decide", TokenScope.REVIEW, this::decideMany))
                .add("GET", "/v1/reviews/{review_id}", TokenScope.READ, this::get)
                .add(ApiRoutes.mutationRoute("POST", "/v1/reviews/{review_id}/decide", TokenScope.REVIEW, this::decide))
                .add(ApiRoutes.mutationRoute("POST", "/v1/reviews/{review_id}/check", TokenScope.REVIEW, this::check));
    }

    private HttpResponse list(HttpRequest request) {
        ReviewFilter wanted = ReviewFilter.parse(request.query("q"));
        PagingParameters paging = PagingParameters.parse(request);
        int ws = request.principal().workspace();
        ReviewOperation.ReviewCursor after = paging.after() == null ? null : place(paging.after());
        ReviewOperation.ReviewPage page = wanted.decided() ? decided(ws, after, paging.limit()) : open(ws, wanted, after, paging);
        List<ReviewViews.ReviewContext> cases = Objects.requireNonNull(semel.view(reads ->
                page.found().stream().map(row -> ReviewViews.loadForList(reads, row)).toList()));
        ObjectNode out = JsonViews.newObject();
        ArrayNode items = out.putArray("items");
        cases.forEach(one -> items.add(views.listItem(one)));
        out.put("open", count(ws));
        out.put("next", page.next() == null ? null : cursor(page.next()));
        return JsonViews.ok(out);
    }

    /** Counts the open reviews, up to the maximum. */
    private int count(int ws) {
        var all = new ReviewOperation.OpenReviewFilter(ws, null, null, null, ReviewOperation.ReviewCursor.FRONT, MAX_COUNTED);
        return Objects.requireNonNull(semel.view(reads -> reads.reviews().open(all)))
                .found()
                .size();
    }

    private ReviewOperation.ReviewPage decided(int ws, ReviewOperation.@Nullable ReviewCursor after, int limit) {
        List<ReviewOperation.ReviewRow> rows =
                Objects.requireNonNull(semel.view(reads -> reads.reviews().decided(ws, after, limit)));
        boolean more = rows.size() == limit;
        return new ReviewOperation.ReviewPage(rows, more ? ReviewOperation.ReviewCursor.decided(rows.getLast()) : null);
    }

    private ReviewOperation.ReviewPage open(int ws, ReviewFilter wanted, ReviewOperation.@Nullable ReviewCursor after, PagingParameters paging) {
        String workflowId = null;
        if (wanted.workflow() != null) {
            CurrentWorkflow found = semel.workflow(ws, wanted.workflow());
            if (found == null) {
                return new ReviewOperation.ReviewPage(List.of(), null);
            }
            workflowId = found.published().workflowId();
        }
        ReviewOperation.OpenReviewFilter filter = new ReviewOperation.OpenReviewFilter(
                ws, wanted.kind(), workflowId, wanted.to(), after == null ? ReviewOperation.ReviewCursor.FRONT : after, paging.limit());
        return Objects.requireNonNull(semel.view(reads -> reads.reviews().open(filter)));
    }

    private HttpResponse get(HttpRequest request) {
        return JsonViews.ok(views.withEvidence(find(request)));
    }

    private ReviewViews.ReviewContext find(HttpRequest request) {
        int ws = request.principal().workspace();
        String id = request.parameter("review_id");
        return find(ws, id);
    }

    private ReviewViews.ReviewContext find(int ws, String id) {
        ReviewViews.ReviewContext found = semel.view(reads -> {
            ReviewOperation.ReviewRow row = reads.reviews().review(ws, id);
            return row == null ? null : ReviewViews.withEvidence(reads, row);
        });
        if (found == null) {
            throw new SemelException(
                    ErrorCode.NOT_FOUND,
                    "No review with this id exists in this workspace. Nothing was decided.",
                    "Check the id (rev_…). GET /v1/reviews lists the reviews.");
        }
        return found;
    }

    /** The parsed body of a decision. */
    private record DecisionBody(String decision, @Nullable JsonNode result, String note, int version, JsonNode body) {
        static DecisionBody of(JsonBody json) {
            return new DecisionBody(
                    json.text("decision"), json.value("result"), json.text("note"), versionOf(json), json.body());
        }
    }

    /** The review version in the body; 0 if there is none. */
    static int versionOf(JsonBody json) {
        JsonNode version = json.value("version");
        if (version != null && (!version.isInt() || version.intValue() < 1)) {
            throw RunActionRoutes.invalidRequest("version must be a whole number from 1");
        }
        return version == null ? 0 : version.intValue();
    }

    private HttpResponse decide(HttpRequest request) {
        DecisionBody body = DecisionBody.of(JsonBody.parse(request, WORDS));
        IdempotentActions.ActionResult done = decide(request, find(request), body);
        return done.toResponse();
    }

    private IdempotentActions.ActionResult decide(HttpRequest request, ReviewViews.ReviewContext one, DecisionBody body) {
        ReviewOperation.ReviewRow row = one.row();
        ReviewPermissions.requireMayDecide(request.principal(), row);
        Set<String> words = Reviews.allowedDecisions(row.kind());
        if (!words.contains(body.decision())) {
            throw RunActionRoutes.invalidRequest("decision must be one of "
                    + String.join(", ", new TreeSet<>(words)) + " for this review");
        }
        if (body.result() != null && !body.decision().equals("happened")) {
            throw RunActionRoutes.invalidRequest("result is allowed only with the decision happened");
        }
        Reviews.DecidedBy who = new Reviews.DecidedBy(request.principal().tokenId(), body.note());
        RunHandle.RunChange change =
                semel.reviews().decisionChange(row, new Reviews.DecisionRequest(body.decision(), body.result(), body.version()), who);
        IdempotentActions.ActionRequest actionRequest = new IdempotentActions.ActionRequest("review.decide " + row.id(), StrictJson.write(body.body()));
        // If there is nothing to change, the server still looks for a stored response.
        @SuppressWarnings("unchecked") // the code only checks whether the change was made
        StoreCommand<Object> edit = (StoreCommand<Object>) (change == null ? new StoreCommand.WakeRuns(List.of()) : change.edit());
        IdempotentActions.ActionResult done = actions.runOnce(
                request,
                actionRequest,
                edit,
                outcome -> outcome instanceof ReviewOperation.DecideReviewResult.Done(ReviewOperation.ReviewRow decided) ? decided(one, decided) : null);
        if (done == null) {
            throw conflict(find(row.ws(), row.id()), body.version());
        }
        if (change != null && !done.replayed()) {
            semel.reviews().wakeAfter(change);
        }
        return done;
    }

    private static ObjectNode decided(ReviewViews.ReviewContext one, ReviewOperation.ReviewRow row) {
        String run = one.run() == null ? row.run().text() : one.run().runIdText();
        ObjectNode out = JsonViews.newObject();
        out.put("review_id", row.id()).put("run_id", run).put("version", row.version());
        out.putObject("decided")
                .put("decision", row.decision())
                .put("by", row.decidedBy())
                .put("at", JsonViews.formatTime(row.decidedAt()))
                .put("note", row.note());
        return out;
    }

    private static SemelException conflict(ReviewViews.ReviewContext one, int wanted) {
        ReviewOperation.ReviewRow row = one.row();
        if (!row.isOpen()) {
            String by = row.decidedBy().isEmpty() ? "" : " by " + row.decidedBy();
            return rejection(
                    row,
                    "Review " + row.id() + " is already decided: " + row.decision() + by + " at "
                            + JsonViews.formatTime(row.decidedAt()) + ". Your decision was not recorded and nothing was sent.",
                    "Read the run. A decision cannot be changed.");
        }
        if (wanted != 0 && wanted != row.version()) {
            return rejection(
                    row,
                    "Review " + row.id() + " now has version " + row.version() + ", not " + wanted
                            + ". Your decision was not recorded and nothing was sent.",
                    "Read the review again, because the question has changed. Then decide with its version.");
        }
        return rejection(
                row,
                "Review " + row.id() + " is no longer open: its run has ended or continued. Your decision was not"
                        + " recorded and nothing was sent.",
                "Read the run.");
    }

    private static SemelException rejection(ReviewOperation.ReviewRow row, String detail, String fix) {
        SemelException rejection = new SemelException(ErrorCode.REVIEW_DECIDED, detail, fix)
                .with("review_id", row.id())
                .with("version", row.version());
        return row.isOpen()
                ? rejection
                : rejection.with("decision", row.decision())
                        .with("decided_by", row.decidedBy())
                        .with("decided_at", String.valueOf(JsonViews.formatTime(row.decidedAt())));
    }

    /**
     * A review that is decided together with others.
     *
     * @param version the version to decide; for a plain id or a filter, the version that was found
     */
    private record SelectedReview(ReviewViews.ReviewContext review, int version) {
        static SelectedReview withFoundVersion(ReviewViews.ReviewContext one) {
            return new SelectedReview(one, one.row().version());
        }
    }

    /** Decides several reviews of one kind, by ids or by a filter; each has its own result. */
    private HttpResponse decideMany(HttpRequest request) {
        JsonBody json = JsonBody.parse(request, Set.of("ids", "q", "decision", "result", "note"));
        List<SelectedReview> all = selectOnce(request, json, select(request, json));
        if (all.stream().map(selected -> selected.review().row().kind()).distinct().count() > 1) {
            throw RunActionRoutes.invalidRequest("all selected reviews must have the same kind");
        }
        DecisionBody body = DecisionBody.of(json);
        ObjectNode out = JsonViews.newObject();
        ArrayNode items = out.putArray("items");
        int decided = 0;
        for (SelectedReview selected : all) {
            ObjectNode item = JsonViews.newObject();
            try {
                DecisionBody each = new DecisionBody(body.decision(), body.result(), body.note(), selected.version(), body.body());
                item.put("status_code", 200);
                item.setAll((ObjectNode) decide(request, selected.review(), each).body());
                decided++;
            } catch (SemelException e) {
                item.removeAll();
                item.setAll(EventViews.problemItem(e, request.id()));
                item.put("review_id", selected.review().row().id());
            }
            items.add(item);
        }
        return JsonViews.ok(out.put("decided", decided));
    }

    /**
     * Selects the reviews once per key. A repeat decides the same reviews, never new ones that match the filter by
     * then: no user has seen those.
     */
    private List<SelectedReview> selectOnce(HttpRequest request, JsonBody json, List<SelectedReview> found) {
        IdempotentActions.ActionRequest actionRequest = new IdempotentActions.ActionRequest("reviews.decide", StrictJson.write(json.body()));
        IdempotentActions.ActionResult first = actions.runOnce(request, actionRequest, new StoreCommand.WakeRuns(List.of()), _ -> {
            ObjectNode out = JsonViews.newObject();
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

    private List<SelectedReview> select(HttpRequest request, JsonBody json) {
        int ws = request.principal().workspace();
        JsonNode ids = json.value("ids");
        String q = json.text("q");
        if ((ids == null) == q.isEmpty()) {
            throw RunActionRoutes.invalidRequest("either ids or q is required, not both");
        }
        if (ids == null) {
            ReviewFilter wanted = ReviewFilter.parse(q);
            if (wanted.decided() || wanted.kind() == null) {
                throw RunActionRoutes.invalidRequest("q must contain kind:… and can select only open reviews");
            }
            List<ReviewOperation.ReviewRow> rows =
                    open(ws, wanted, null, new PagingParameters(MAX_PER_REQUEST, null)).found();
            return rows.stream().map(row -> SelectedReview.withFoundVersion(find(ws, row.id()))).toList();
        }
        if (!ids.isArray() || ids.isEmpty() || ids.size() > MAX_PER_REQUEST) {
            throw RunActionRoutes.invalidRequest("ids must be a list of 1 to " + MAX_PER_REQUEST + " ids");
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
            throw RunActionRoutes.invalidRequest("the version after @ in an id must be a whole number from 1");
        }
        return new SelectedReview(find(ws, text.substring(0, at)), Integer.parseInt(version));
    }

    /** The run queries the provider again; the timeline shows the result. */
    private HttpResponse check(HttpRequest request) {
        ReviewViews.ReviewContext one = find(request);
        ReviewPermissions.requireMayDecide(request.principal(), one.row());
        boolean hasLookup = one.effect() != null && one.effect().details().protection().equals("lookup");
        if (!hasLookup) {
            throw RunActionRoutes.invalidRequest("only an effect with protection lookup can be checked");
        }
        if (!one.isOpen()) {
            throw conflict(one, 0);
        }
        actions.recordAudit(request, new IdempotentActions.AuditNote("review.check", one.row().id(), ""));
        semel.reviews().wake(one.row().run());
        return JsonViews.ok(views.withEvidence(find(request)).put("checking", true));
    }

    private static String cursor(ReviewOperation.ReviewCursor place) {
        ArrayNode parts = JsonNodeFactory.instance.arrayNode();
        parts.add(place.at()).add(place.askedAt()).add(place.id());
        return Base64.getUrlEncoder()
                .withoutPadding()
                .encodeToString(StrictJson.write(parts).getBytes(StandardCharsets.UTF_8));
    }

    private static ReviewOperation.ReviewCursor place(String cursor) {
        try {
            JsonNode parts = StrictJson.parse(Base64.getUrlDecoder().decode(cursor));
            if (parts.isArray()
                    && parts.size() == 3
                    && parts.get(2).asString("").indexOf(0) < 0) {
                return new ReviewOperation.ReviewCursor(
                        parts.get(0).asLong(0),
                        parts.get(1).asLong(0),
                        parts.get(2).asString(""));
            }
        } catch (IllegalArgumentException | SemelException e) {
            throw PagingParameters.invalidQuery("after must be the next value of an earlier response");
        }
        throw PagingParameters.invalidQuery("after must be the next value of an earlier response");
    }
}
