package dev.semel.server.pages;

import dev.semel.json.Json;
import dev.semel.server.http.Answer;
import dev.semel.server.http.Inside;
import dev.semel.server.http.Router;
import dev.semel.server.http.Scope;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

/** The review inbox: the list of open questions, one question with its evidence, and the decision form. */
public final class ReviewPages {
    private static final List<Tab> TABS = List.of(
            new Tab("", "All"),
            new Tab("in_doubt", "In doubt"),
            new Tab("changed", "Changed"),
            new Tab("approval", "Approvals"),
            new Tab("held", "Held"),
            new Tab("decided", "Decided"));

    private ReviewPages() {}

    /** A tab of the inbox: its URL value and its title. */
    public record Tab(String word, String title) {}

    static void addTo(Router router, Door guard) {
        String one = "/reviews/{review_id}";
        router.add("GET", "/reviews", Scope.OPEN, guard.page(visit -> list(visit, Again.NOT)))
                .add("POST", "/reviews/decide", Scope.OPEN, guard.deed(ReviewPages::decideMany))
                .add("GET", one, Scope.OPEN, guard.page(visit -> one(visit, Again.NOT)))
                .add("POST", one + "/decide", Scope.OPEN, guard.deed(ReviewPages::decide))
                .add("POST", one + "/check", Scope.OPEN, guard.deed(ReviewPages::check));
    }

    /** The label of a decision. */
    public static String label(String decision) {
        return switch (decision) {
            case "happened" -> "It happened";
            case "did_not_happen" -> "It did not happen";
            case "send" -> "Send it";
            case "suppress" -> "Suppress it";
            case "approve" -> "Approve";
            case "reject" -> "Reject";
            case "go_on" -> "Continue the run";
            case "stop" -> "Stop the run";
            default -> decision;
        };
    }

    /** The decisions for a kind of review; the one that ends the run comes last. */
    public static List<String> decisions(String kind) {
        return switch (kind) {
            case "in_doubt" -> List.of("happened", "did_not_happen", "stop");
            case "changed" -> List.of("send", "suppress", "stop");
            case "approval" -> List.of("approve", "reject", "stop");
            case "held" -> List.of("go_on", "stop");
            default -> List.of();
        };
    }

    private static Answer list(Visit visit, Again rejection) throws Exception {
        String tab = visit.asked("tab");
        List<String> words = new ArrayList<>();
        if (tab.equals("decided")) {
            words.add("state:decided");
        } else {
            word(words, "kind", tab);
            word(words, "workflow", visit.asked("workflow"));
            word(words, "to", visit.asked("to"));
        }
        String query = "q=" + Inside.encoded(String.join(" ", words));
        Doc page = visit.get(
                "/v1/reviews",
                visit.asked("after").isEmpty() ? query : query + "&after=" + Inside.encoded(visit.asked("after")));
        Map<String, Object> parts = new HashMap<>(Map.of(
                "tabs",
                TABS,
                "tab",
                tab,
                "page",
                page,
                "workflow",
                visit.asked("workflow"),
                "to",
                visit.asked("to"),
                "next",
                next(visit, page)));
        parts.put("mayDecide", visit.may("POST", "/v1/reviews/decide"));
        parts.put("rejection", rejection);
        return visit.show(rejection.status(), new Look.Sheet("reviews", "Reviews", "Reviews", parts));
    }

    private static void word(List<String> words, String name, String value) {
        if (!value.isBlank()) {
            words.add(name + ":" + value.strip());
        }
    }

    private static String next(Visit visit, Doc page) {
        if (!page.has("next")) {
            return "";
        }
        StringBuilder next = new StringBuilder("?after=" + Inside.encoded(page.text("next")));
        for (String name : List.of("tab", "workflow", "to")) {
            if (!visit.asked(name).isEmpty()) {
                next.append('&').append(name).append('=').append(Inside.encoded(visit.asked(name)));
            }
        }
        return next.toString();
    }

    private static Answer one(Visit visit, Again rejection) throws Exception {
        String path = Inside.path("v1", "reviews", visit.part("review_id"));
        Doc review = visit.get(path);
        boolean open = review.text("status").equals("open");
        Map<String, Object> parts = new HashMap<>(Map.of(
                "review",
                review,
                "rejection",
                rejection,
                "otherReviews",
                otherReviews(visit, review),
                "mayDecide",
                open && visit.may("POST", path + "/decide"),
                "mayCheck",
                open && review.text("protection").equals("lookup") && visit.may("POST", path + "/check")));
        return visit.show(rejection.status(), new Look.Sheet("review", review.text("title"), "Reviews", parts));
    }

    /** Other open reviews of the same run, which the user can often decide together. */
    private static List<Doc> otherReviews(Visit visit, Doc review) throws Exception {
        String q = "kind:" + review.text("kind") + " workflow:" + review.text("workflow");
        return visit.maybe("/v1/reviews", "q=" + Inside.encoded(q)).items().stream()
                .filter(other -> other.text("run_id").equals(review.text("run_id"))
                        && !other.text("review_id").equals(review.text("review_id")))
                .toList();
    }

    /** Records a decision. If another user decided first, or the question changed, shows the current review. */
    private static Answer decide(Visit visit, Form form) throws Exception {
        return visit.trying(
                "decide",
                form,
                () -> {
                    ObjectNode body = decisionBody(form);
                    meaning(form, body);
                    visit.send(
                            "POST",
                            Inside.path("v1", "reviews", visit.part("review_id"), "decide"),
                            body,
                            form.text("key"));
                    return Look.goTo(Inside.path("reviews", visit.part("review_id")) + "?did=decide");
                },
                rejection -> one(visit, rejection));
    }

    /** Adds the question version that the page showed, so that a changed question is not decided unseen. */
    static void meaning(Form form, ObjectNode body) {
        if (form.text("version").matches("[1-9][0-9]{0,8}")) {
            body.put("version", Integer.parseInt(form.text("version")));
        }
    }

    private static ObjectNode decisionBody(Form form) {
        ObjectNode body = JsonNodeFactory.instance
                .objectNode()
                .put("decision", form.text("decision"))
                .put("note", form.text("note"));
        if (form.text("decision").equals("happened") && !form.text("data").isBlank()) {
            body.set("result", Json.parse(form.text("data").strip()));
        }
        return body;
    }

    /** Decides several reviews. Each has its own result, which the page lists. */
    private static Answer decideMany(Visit visit, Form form) throws Exception {
        return visit.trying("together", form, () -> decided(visit, form), rejection -> list(visit, rejection));
    }

    private static Answer decided(Visit visit, Form form) throws Exception {
        ObjectNode body = decisionBody(form);
        ArrayNode ids = body.putArray("ids");
        form.all("ids").forEach(ids::add);
        Doc answer = visit.send("POST", "/v1/reviews/decide", body, form.text("key"));
        Grid grid = Grid.named(answer.count("decided") + " of " + ids.size() + " reviews decided")
                .link("Review", "review_id", "reviews")
                .status("Result", doc -> doc.at("decided").has("decision") ? "decided" : "rejected")
                .text("Decision", doc -> label(doc.at("decided").text("decision")))
                .text("Reason", doc -> doc.text("detail"))
                .link("Run", "run_id", "runs")
                .of(answer.items());
        return visit.show("list", "Decisions", "Reviews", Map.of("grid", grid));
    }

    private static Answer check(Visit visit, Form form) throws Exception {
        String path = Inside.path("v1", "reviews", visit.part("review_id"), "check");
        visit.send("POST", path, JsonNodeFactory.instance.objectNode(), form.text("key"));
        return Look.goTo(Inside.path("reviews", visit.part("review_id")) + "?did=check");
    }
}
