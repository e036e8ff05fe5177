package dev.semel.server.api;

import dev.semel.Reviews;
import dev.semel.Run;
import dev.semel.Semel;
import dev.semel.error.ErrorCode;
import dev.semel.error.SemelException;
import dev.semel.json.Json;
import dev.semel.server.http.Answer;
import dev.semel.server.http.Request;
import dev.semel.server.http.Router;
import dev.semel.server.http.Scope;
import dev.semel.store.Edit;
import dev.semel.store.Review;
import dev.semel.workflow.Current;
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
    static final int COUNTED = 100;

    private static final int MAX_PER_REQUEST = 200;
    private static final Set<String> WORDS = Set.of("decision", "result", "note", "version");

    private final Semel semel;
    private final Deeds actions;
    private final ReviewViews views;

    ReviewRoutes(Semel semel, Deeds actions) {
        this.semel = semel;
        this.actions = actions;
        this.views = new ReviewViews(semel);
    }

    void addTo(Router router) {
        router.add("GET", "/v1/reviews", Scope.READ, this::list)
                .add(Api.changing("POST", "/v1/reviews/decide", Scope.REVIEW, this::decideMany))
                .add("GET", "/v1/reviews/{review_id}", Scope.READ, this::get)
                .add(Api.changing("POST", "/v1/reviews/{review_id}/decide", Scope.REVIEW, this::decide))
                .add(Api.changing("POST", "/v1/reviews/{review_id}/check", Scope.REVIEW, this::check));
    }

    private Answer list(Request request) {
        ReviewFilter wanted = ReviewFilter.parse(request.query("q"));
        Paging paging = Paging.of(request);
        int ws = request.principal().workspace();
        Review.Place after = paging.after() == null ? null : place(paging.after());
        Review.Page page = wanted.decided() ? decided(ws, after, paging.limit()) : open(ws, wanted, after, paging);
        List<ReviewViews.Case> cases = Objects.requireNonNull(semel.view(reads ->
                page.found().stream().map(row -> ReviewViews.listed(reads, row)).toList()));
        ObjectNode out = Views.object();
        ArrayNode items = out.putArray("items");
        cases.forEach(one -> items.add(views.item(one)));
        out.put("open", count(ws));
        out.put("next", page.next() == null ? null : cursor(page.next()));
        return Views.ok(out);
    }

    /** Counts the open reviews, up to the maximum. */
    private int count(int ws) {
        var all = new Review.Filter(ws, null, null, null, Review.Place.FRONT, COUNTED);
        return Objects.requireNonNull(semel.view(reads -> reads.reviews().open(all)))
                .found()
                .size();
    }

    private Review.Page decided(int ws, Review.@Nullable Place after, int limit) {
        List<Review.Row> rows =
                Objects.requireNonNull(semel.view(reads -> reads.reviews().decided(ws, after, limit)));
        boolean more = rows.size() == limit;
        return new Review.Page(rows, more ? Review.Place.decided(rows.getLast()) : null);
    }

    private Review.Page open(int ws, ReviewFilter wanted, Review.@Nullable Place after, Paging paging) {
        String workflowId = null;
        if (wanted.workflow() != null) {
            Current found = semel.workflow(ws, wanted.workflow());
            if (found == null) {
                return new Review.Page(List.of(), null);
            }
            workflowId = found.published().workflowId();
        }
        Review.Filter filter = new Review.Filter(
                ws, wanted.kind(), workflowId, wanted.to(), after == null ? Review.Place.FRONT : after, paging.limit());
        return Objects.requireNonNull(semel.view(reads -> reads.reviews().open(filter)));
    }

    private Answer get(Request request) {
        return Views.ok(views.whole(find(request)));
    }

    private ReviewViews.Case find(Request request) {
        int ws = request.principal().workspace();
        String id = request.parameter("review_id");
        return find(ws, id);
    }

    private ReviewViews.Case find(int ws, String id) {
        ReviewViews.Case found = semel.view(reads -> {
            Review.Row row = reads.reviews().one(ws, id);
            return row == null ? null : ReviewViews.whole(reads, row);
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
    private record Say(String decision, @Nullable JsonNode result, String note, int version, JsonNode body) {
        static Say of(Said json) {
            return new Say(
                    json.text("decision"), json.value("result"), json.text("note"), versionIn(json), json.body());
        }
    }

    /** The review version in the body; 0 if there is none. */
    static int versionIn(Said json) {
        JsonNode version = json.value("version");
        if (version != null && (!version.isInt() || version.intValue() < 1)) {
            throw RunActs.refused("version must be a whole number from 1");
        }
        return version == null ? 0 : version.intValue();
    }

    private Answer decide(Request request) {
        Say body = Say.of(Said.in(request, WORDS));
        Deeds.Done done = decide(request, find(request), body);
        return done.answer();
    }

    private Deeds.Done decide(Request request, ReviewViews.Case one, Say body) {
        Review.Row row = one.row();
        Deciders.check(request.principal(), row);
        Set<String> words = Reviews.words(row.kind());
        if (!words.contains(body.decision())) {
            throw RunActs.refused("decision must be one of "
                    + String.join(", ", new TreeSet<>(words)) + " for this review");
        }
        if (body.result() != null && !body.decision().equals("happened")) {
            throw RunActs.refused("result is allowed only with the decision happened");
        }
        Reviews.Who who = new Reviews.Who(request.principal().tokenId(), body.note());
        Run.Ruling change =
                semel.reviews().ruling(row, new Reviews.Verdict(body.decision(), body.result(), body.version()), who);
        Deeds.Deed actionRequest = new Deeds.Deed("review.decide " + row.id(), Json.write(body.body()));
        // If there is nothing to change, the server still looks for a stored response.
        @SuppressWarnings("unchecked") // the code only checks whether the change was made
        Edit<Object> edit = (Edit<Object>) (change == null ? new Edit.Wake(List.of()) : change.edit());
        Deeds.Done done = actions.once(
                request,
                actionRequest,
                edit,
                outcome -> outcome instanceof Review.Ruled.Done(Review.Row decided) ? decided(one, decided) : null);
        if (done == null) {
            throw conflict(find(row.ws(), row.id()), body.version());
        }
        if (change != null && !done.replayed()) {
            semel.reviews().told(change);
        }
        return done;
    }

    private static ObjectNode decided(ReviewViews.Case one, Review.Row row) {
        String run = one.run() == null ? row.run().text() : one.run().runIdText();
        ObjectNode out = Views.object();
        out.put("review_id", row.id()).put("run_id", run).put("version", row.version());
        out.putObject("decided")
                .put("decision", row.decision())
                .put("by", row.decidedBy())
                .put("at", Views.time(row.decidedAt()))
                .put("note", row.note());
        return out;
    }

    private static SemelException conflict(ReviewViews.Case one, int wanted) {
        Review.Row row = one.row();
        if (!row.isOpen()) {
            String by = row.decidedBy().isEmpty() ? "" : " by " + row.decidedBy();
            return rejection(
                    row,
                    "Review " + row.id() + " is already decided: " + row.decision() + by + " at "
                            + Views.time(row.decidedAt()) + ". Your decision was not recorded and nothing was sent.",
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

    private static SemelException rejection(Review.Row row, String detail, String fix) {
        SemelException rejection = new SemelException(ErrorCode.REVIEW_DECIDED, detail, fix)
                .with("review_id", row.id())
                .with("version", row.version());
        return row.isOpen()
                ? rejection
                : rejection.with("decision", row.decision())
                        .with("decided_by", row.decidedBy())
                        .with("decided_at", String.valueOf(Views.time(row.decidedAt())));
    }

    /**
     * A review that is decided together with others.
     *
     * @param version the version to decide; for a plain id or a filter, the version that was found
     */
    private record Meant(ReviewViews.Case one, int version) {
        static Meant found(ReviewViews.Case one) {
            return new Meant(one, one.row().version());
        }
    }

    /** Decides several reviews of one kind, by ids or by a filter; each has its own result. */
    private Answer decideMany(Request request) {
        Said json = Said.in(request, Set.of("ids", "q", "decision", "result", "note"));
        List<Meant> all = selectOnce(request, json, select(request, json));
        if (all.stream().map(selected -> selected.one().row().kind()).distinct().count() > 1) {
            throw RunActs.refused("all selected reviews must have the same kind");
        }
        Say body = Say.of(json);
        ObjectNode out = Views.object();
        ArrayNode items = out.putArray("items");
        int decided = 0;
        for (Meant selected : all) {
            ObjectNode item = Views.object();
            try {
                Say each = new Say(body.decision(), body.result(), body.note(), selected.version(), body.body());
                item.put("status_code", 200);
                item.setAll((ObjectNode) decide(request, selected.one(), each).body());
                decided++;
            } catch (SemelException e) {
                item.removeAll();
                item.setAll(EventViews.problem(e, request.id()));
                item.put("review_id", selected.one().row().id());
            }
            items.add(item);
        }
        return Views.ok(out.put("decided", decided));
    }

    /**
     * Selects the reviews once per key. A repeat decides the same reviews, never new ones that match the filter by
     * then: no user has seen those.
     */
    private List<Meant> selectOnce(Request request, Said json, List<Meant> found) {
        Deeds.Deed actionRequest = new Deeds.Deed("reviews.decide", Json.write(json.body()));
        Deeds.Done first = actions.once(request, actionRequest, new Edit.Wake(List.of()), _ -> {
            ObjectNode out = Views.object();
            ArrayNode ids = out.putArray("ids");
            found.forEach(one -> ids.add(one.one().row().id() + "@" + one.version()));
            return out;
        });
        if (first == null || !first.replayed()) {
            return found;
        }
        int ws = request.principal().workspace();
        List<Meant> then = new ArrayList<>();
        first.body().required("ids").forEach(id -> then.add(select(ws, id.asString())));
        return then;
    }

    private List<Meant> select(Request request, Said json) {
        int ws = request.principal().workspace();
        JsonNode ids = json.value("ids");
        String q = json.text("q");
        if ((ids == null) == q.isEmpty()) {
            throw RunActs.refused("either ids or q is required, not both");
        }
        if (ids == null) {
            ReviewFilter wanted = ReviewFilter.parse(q);
            if (wanted.decided() || wanted.kind() == null) {
                throw RunActs.refused("q must contain kind:… and can select only open reviews");
            }
            List<Review.Row> rows =
                    open(ws, wanted, null, new Paging(MAX_PER_REQUEST, null)).found();
            return rows.stream().map(row -> Meant.found(find(ws, row.id()))).toList();
        }
        if (!ids.isArray() || ids.isEmpty() || ids.size() > MAX_PER_REQUEST) {
            throw RunActs.refused("ids must be a list of 1 to " + MAX_PER_REQUEST + " ids");
        }
        List<Meant> all = new ArrayList<>();
        ids.forEach(id -> all.add(select(ws, id.asString(""))));
        return all;
    }

    /** `rev_…@2` selects version 2; `rev_…` selects the version that is found. */
    private Meant select(int ws, String text) {
        int at = text.indexOf('@');
        if (at < 0) {
            return Meant.found(find(ws, text));
        }
        String version = text.substring(at + 1);
        if (!version.matches("[1-9][0-9]{0,8}")) {
            throw RunActs.refused("the version after @ in an id must be a whole number from 1");
        }
        return new Meant(find(ws, text.substring(0, at)), Integer.parseInt(version));
    }

    /** The run queries the provider again; the timeline shows the result. */
    private Answer check(Request request) {
        ReviewViews.Case one = find(request);
        Deciders.check(request.principal(), one.row());
        boolean hasLookup = one.effect() != null && one.effect().facts().protection().equals("lookup");
        if (!hasLookup) {
            throw RunActs.refused("only an effect with protection lookup can be checked");
        }
        if (!one.isAsked()) {
            throw conflict(one, 0);
        }
        actions.note(request, new Deeds.Entry("review.check", one.row().id(), ""));
        semel.reviews().lookAgain(one.row().run());
        return Views.ok(views.whole(find(request)).put("checking", true));
    }

    private static String cursor(Review.Place place) {
        ArrayNode parts = JsonNodeFactory.instance.arrayNode();
        parts.add(place.at()).add(place.asked()).add(place.id());
        return Base64.getUrlEncoder()
                .withoutPadding()
                .encodeToString(Json.write(parts).getBytes(StandardCharsets.UTF_8));
    }

    private static Review.Place place(String cursor) {
        try {
            JsonNode parts = Json.parse(Base64.getUrlDecoder().decode(cursor));
            if (parts.isArray()
                    && parts.size() == 3
                    && parts.get(2).asString("").indexOf(0) < 0) {
                return new Review.Place(
                        parts.get(0).asLong(0),
                        parts.get(1).asLong(0),
                        parts.get(2).asString(""));
            }
        } catch (IllegalArgumentException | SemelException e) {
            throw Paging.refused("after must be the next value of an earlier response");
        }
        throw Paging.refused("after must be the next value of an earlier response");
    }
}
