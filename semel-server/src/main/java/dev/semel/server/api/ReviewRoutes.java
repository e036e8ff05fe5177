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

/** One inbox for everything that waits for a person: effects in doubt, changed messages, approvals, held runs. */
final class ReviewRoutes {
    /** So many are counted at most, for whoever only wants to know whether something waits. */
    static final int COUNTED = 100;

    private static final int MOST_AT_ONCE = 200;
    private static final Set<String> WORDS = Set.of("decision", "result", "note", "version");

    private final Semel semel;
    private final Deeds deeds;
    private final ReviewViews views;

    ReviewRoutes(Semel semel, Deeds deeds) {
        this.semel = semel;
        this.deeds = deeds;
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

    /** How many wait in all, as far as they are counted. */
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
                    "There is no review of that id in this workspace. Nothing was decided.",
                    "Check the id (rev_…); reviews are listed at GET /v1/reviews.");
        }
        return found;
    }

    /** What was said, checked as far as that goes without the question. */
    private record Say(String decision, @Nullable JsonNode result, String note, int version, JsonNode body) {
        static Say of(Said said) {
            return new Say(
                    said.text("decision"), said.value("result"), said.text("note"), versionIn(said), said.body());
        }
    }

    /** The version of the question that is meant; 0 where none is named. */
    static int versionIn(Said said) {
        JsonNode version = said.value("version");
        if (version != null && (!version.isInt() || version.intValue() < 1)) {
            throw RunActs.refused("version is a whole number from 1");
        }
        return version == null ? 0 : version.intValue();
    }

    private Answer decide(Request request) {
        Say say = Say.of(Said.in(request, WORDS));
        Deeds.Done done = decide(request, find(request), say);
        return done.answer();
    }

    private Deeds.Done decide(Request request, ReviewViews.Case one, Say say) {
        Review.Row row = one.row();
        Deciders.check(request.principal(), row);
        Set<String> words = Reviews.words(row.kind());
        if (!words.contains(say.decision())) {
            throw RunActs.refused("decision is one of " + String.join(", ", new TreeSet<>(words)) + " for this review");
        }
        if (say.result() != null && !say.decision().equals("happened")) {
            throw RunActs.refused("result goes with happened only");
        }
        Reviews.Who who = new Reviews.Who(request.principal().tokenId(), say.note());
        Run.Ruling ruling =
                semel.reviews().ruling(row, new Reviews.Verdict(say.decision(), say.result(), say.version()), who);
        Deeds.Deed deed = new Deeds.Deed("review.decide " + row.id(), Json.write(say.body()));
        // Where there is nothing to do, an answer that was kept is looked for all the same.
        @SuppressWarnings("unchecked") // whatever the change answers, it is only asked whether it was done
        Edit<Object> edit = (Edit<Object>) (ruling == null ? new Edit.Wake(List.of()) : ruling.edit());
        Deeds.Done done = deeds.once(
                request,
                deed,
                edit,
                outcome -> outcome instanceof Review.Ruled.Done(Review.Row decided) ? decided(one, decided) : null);
        if (done == null) {
            throw lost(find(row.ws(), row.id()), say.version());
        }
        if (ruling != null && !done.replayed()) {
            semel.reviews().told(ruling);
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

    private static SemelException lost(ReviewViews.Case one, int wanted) {
        Review.Row row = one.row();
        if (!row.isOpen()) {
            String by = row.decidedBy().isEmpty() ? "" : " by " + row.decidedBy();
            return refusal(
                    row,
                    "Review " + row.id() + " was decided before: " + row.decision() + by + " at "
                            + Views.time(row.decidedAt()) + ". Your decision was not recorded and nothing was sent.",
                    "Look at the run. What was decided cannot be decided again.");
        }
        if (wanted != 0 && wanted != row.version()) {
            return refusal(
                    row,
                    "Review " + row.id() + " is asked in version " + row.version() + " by now, not " + wanted
                            + ". Your decision was not recorded and nothing was sent.",
                    "Read it again; what is asked has changed. Then decide with its version.");
        }
        return refusal(
                row,
                "Review " + row.id() + " is not asked any more: its run has ended or goes on. Your decision was not"
                        + " recorded and nothing was sent.",
                "Look at the run.");
    }

    private static SemelException refusal(Review.Row row, String detail, String fix) {
        SemelException refusal = new SemelException(ErrorCode.REVIEW_DECIDED, detail, fix)
                .with("review_id", row.id())
                .with("version", row.version());
        return row.isOpen()
                ? refusal
                : refusal.with("decision", row.decision())
                        .with("decided_by", row.decidedBy())
                        .with("decided_at", String.valueOf(Views.time(row.decidedAt())));
    }

    /**
     * One of several that are decided together.
     *
     * @param version the one that is meant: of an id alone, and of a filter, it is the one that was found
     */
    private record Meant(ReviewViews.Case one, int version) {
        static Meant found(ReviewViews.Case one) {
            return new Meant(one, one.row().version());
        }
    }

    /** Many of one kind together, by their ids or by a filter; each has its own answer. */
    private Answer decideMany(Request request) {
        Said said = Said.in(request, Set.of("ids", "q", "decision", "result", "note"));
        List<Meant> all = settled(request, said, meant(request, said));
        if (all.stream().map(meant -> meant.one().row().kind()).distinct().count() > 1) {
            throw RunActs.refused("reviews that are decided together are of one kind");
        }
        Say say = Say.of(said);
        ObjectNode out = Views.object();
        ArrayNode items = out.putArray("items");
        int decided = 0;
        for (Meant meant : all) {
            ObjectNode item = Views.object();
            try {
                Say each = new Say(say.decision(), say.result(), say.note(), meant.version(), say.body());
                item.put("status_code", 200);
                item.setAll((ObjectNode) decide(request, meant.one(), each).body());
                decided++;
            } catch (SemelException e) {
                item.removeAll();
                item.setAll(EventViews.problem(e, request.id()));
                item.put("review_id", meant.one().row().id());
            }
            items.add(item);
        }
        return Views.ok(out.put("decided", decided));
    }

    /**
     * Which reviews are meant is found out once for a key. Whoever asks again means those, and none that a filter would find
     * by then: nobody has looked at them.
     */
    private List<Meant> settled(Request request, Said said, List<Meant> found) {
        Deeds.Deed deed = new Deeds.Deed("reviews.decide", Json.write(said.body()));
        Deeds.Done first = deeds.once(request, deed, new Edit.Wake(List.of()), _ -> {
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
        first.body().required("ids").forEach(id -> then.add(meant(ws, id.asString())));
        return then;
    }

    private List<Meant> meant(Request request, Said said) {
        int ws = request.principal().workspace();
        JsonNode ids = said.value("ids");
        String q = said.text("q");
        if ((ids == null) == q.isEmpty()) {
            throw RunActs.refused("either ids or q says which reviews are decided");
        }
        if (ids == null) {
            ReviewFilter wanted = ReviewFilter.parse(q);
            if (wanted.decided() || wanted.kind() == null) {
                throw RunActs.refused("q needs kind:… here, and finds open reviews only");
            }
            List<Review.Row> rows =
                    open(ws, wanted, null, new Paging(MOST_AT_ONCE, null)).found();
            return rows.stream().map(row -> Meant.found(find(ws, row.id()))).toList();
        }
        if (!ids.isArray() || ids.isEmpty() || ids.size() > MOST_AT_ONCE) {
            throw RunActs.refused("ids is a list of 1 to " + MOST_AT_ONCE + " ids");
        }
        List<Meant> all = new ArrayList<>();
        ids.forEach(id -> all.add(meant(ws, id.asString(""))));
        return all;
    }

    /** `rev_…@2` means version 2 and no other; `rev_…` the one that is found. */
    private Meant meant(int ws, String text) {
        int at = text.indexOf('@');
        if (at < 0) {
            return Meant.found(find(ws, text));
        }
        String version = text.substring(at + 1);
        if (!version.matches("[1-9][0-9]{0,8}")) {
            throw RunActs.refused("behind the @ of an id stands its version, a whole number from 1");
        }
        return new Meant(find(ws, text.substring(0, at)), Integer.parseInt(version));
    }

    /** The provider is asked again, by the run itself; what it answers is in the timeline. */
    private Answer check(Request request) {
        ReviewViews.Case one = find(request);
        Deciders.check(request.principal(), one.row());
        boolean asks = one.effect() != null && one.effect().facts().protection().equals("lookup");
        if (!asks) {
            throw RunActs.refused("only an effect whose protection is lookup can be looked up");
        }
        if (!one.isAsked()) {
            throw lost(one, 0);
        }
        deeds.note(request, new Deeds.Entry("review.check", one.row().id(), ""));
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
            throw Paging.refused("after is not a cursor that a list gave");
        }
        throw Paging.refused("after is not a cursor that a list gave");
    }
}
