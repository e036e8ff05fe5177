package dev.semel.server.dashboard;

import dev.semel.json.StrictJson;
import dev.semel.server.http.HttpResponse;
import dev.semel.server.http.InternalApiClient;
import dev.semel.server.http.Router;
import dev.semel.server.http.TokenScope;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

/** The review inbox: the list of open questions, one question with its evidence, and the decision form. */
public final class ReviewPages {
    private static final List<ReviewTab> TABS = List.of(
            new ReviewTab("", "All"),
            new ReviewTab("in_doubt", "In doubt"),
            new ReviewTab("changed", "Changed"),
            new ReviewTab("approval", "Approvals"),
            new ReviewTab("held", "Held"),
            new ReviewTab("decided", "Decided"));

    private ReviewPages() {}

    /** A tab of the inbox: its URL value and its title. */
    public record ReviewTab(String value, String title) {}

    static void addTo(Router router, DashboardGuard guard) {
        String one = "/reviews/{review_id}";
        router.add("GET", "/reviews", TokenScope.OPEN, guard.page(visit -> list(visit, FormRejection.NONE)))
                .add("POST", "/reviews/decide", TokenScope.OPEN, guard.form(ReviewPages::decideMany))
                .add("GET", one, TokenScope.OPEN, guard.page(visit -> one(visit, FormRejection.NONE)))
                .add("POST", one + "/decide", TokenScope.OPEN, guard.form(ReviewPages::decide))
                .add("POST", one + "/check", TokenScope.OPEN, guard.form(ReviewPages::check));
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
            case "continue" -> "Continue the run";
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
            case "held" -> List.of("continue", "stop");
            default -> List.of();
        };
    }

    private static HttpResponse list(PageVisit visit, FormRejection rejection) throws Exception {
        String tab = visit.queryParameter("tab");
        List<String> words = new ArrayList<>();
        if (tab.equals("decided")) {
            words.add("state:decided");
        } else {
            word(words, "kind", tab);
            word(words, "workflow", visit.queryParameter("workflow"));
            word(words, "to", visit.queryParameter("to"));
        }
        String query = "q=" + InternalApiClient.encode(String.join(" ", words));
        ApiJson page = visit.get(
                "/v1/reviews",
                visit.queryParameter("after").isEmpty()
                        ? query
                        : query + "&after=" + InternalApiClient.encode(visit.queryParameter("after")));
        Map<String, Object> parts = new HashMap<>(Map.of(
                "tabs",
                TABS,
                "tab",
                tab,
                "page",
                page,
                "workflow",
                visit.queryParameter("workflow"),
                "to",
                visit.queryParameter("to"),
                "next",
                next(visit, page)));
        parts.put("mayDecide", visit.isAllowed("POST", "/v1/reviews/decide"));
        parts.put("rejection", rejection);
        return visit.show(rejection.status(), new PageRenderer.PageContent("reviews", "Reviews", "Reviews", parts));
    }

    private static void word(List<String> words, String name, String value) {
        if (!value.isBlank()) {
            words.add(name + ":" + value.strip());
        }
    }

    private static String next(PageVisit visit, ApiJson page) {
        if (!page.has("next")) {
            return "";
        }
        StringBuilder next = new StringBuilder("?after=" + InternalApiClient.encode(page.text("next")));
        for (String name : List.of("tab", "workflow", "to")) {
            if (!visit.queryParameter(name).isEmpty()) {
                next.append('&').append(name).append('=').append(InternalApiClient.encode(visit.queryParameter(name)));
            }
        }
        return next.toString();
    }

    private static HttpResponse one(PageVisit visit, FormRejection rejection) throws Exception {
        String path = InternalApiClient.path("v1", "reviews", visit.pathParameter("review_id"));
        ApiJson review = visit.get(path);
        boolean open = review.text("status").equals("open");
        Map<String, Object> parts = new HashMap<>(Map.of(
                "review",
                review,
                "rejection",
                rejection,
                "otherReviews",
                otherReviews(visit, review),
                "mayDecide",
                open && visit.isAllowed("POST", path + "/decide"),
                "mayCheck",
                open && review.text("protection").equals("lookup") && visit.isAllowed("POST", path + "/check")));
        return visit.show(
                rejection.status(), new PageRenderer.PageContent("review", review.text("title"), "Reviews", parts));
    }

    /** Other open reviews of the same run, which the user can often decide together. */
    private static List<ApiJson> otherReviews(PageVisit visit, ApiJson review) throws Exception {
        String q = "kind:" + review.text("kind") + " workflow:" + review.text("workflow");
        return visit.getOrEmpty("/v1/reviews", "q=" + InternalApiClient.encode(q)).items().stream()
                .filter(other -> other.text("run_id").equals(review.text("run_id"))
                        && !other.text("review_id").equals(review.text("review_id")))
                .toList();
    }

    /** Records a decision. If another user decided first, or the question changed, shows the current review. */
    private static HttpResponse decide(PageVisit visit, SubmittedForm form) throws Exception {
        return visit.submit(
                "decide",
                form,
                () -> {
                    ObjectNode body = decisionBody(form);
                    putQuestionVersion(form, body);
                    visit.send(
                            "POST",
                            InternalApiClient.path("v1", "reviews", visit.pathParameter("review_id"), "decide"),
                            body,
                            form.text("key"));
                    return PageRenderer.redirect(
                            InternalApiClient.path("reviews", visit.pathParameter("review_id")) + "?did=decide");
                },
                rejection -> one(visit, rejection));
    }

    /** Adds the question version that the page showed, so that a changed question is not decided unseen. */
    static void putQuestionVersion(SubmittedForm form, ObjectNode body) {
        if (form.text("version").matches("[1-9][0-9]{0,8}")) {
            body.put("version", Integer.parseInt(form.text("version")));
        }
    }

    private static ObjectNode decisionBody(SubmittedForm form) {
        ObjectNode body = JsonNodeFactory.instance
                .objectNode()
                .put("decision", form.text("decision"))
                .put("note", form.text("note"));
        if (form.text("decision").equals("happened") && !form.text("data").isBlank()) {
            body.set("result", StrictJson.parse(form.text("data").strip()));
        }
        return body;
    }

    /** Decides several reviews. Each has its own result, which the page lists. */
    private static HttpResponse decideMany(PageVisit visit, SubmittedForm form) throws Exception {
        return visit.submit("together", form, () -> decided(visit, form), rejection -> list(visit, rejection));
    }

    private static HttpResponse decided(PageVisit visit, SubmittedForm form) throws Exception {
        ObjectNode body = decisionBody(form);
        ArrayNode ids = body.putArray("ids");
        form.values("ids").forEach(ids::add);
        ApiJson answer = visit.send("POST", "/v1/reviews/decide", body, form.text("key"));
        TableView grid = TableView.titled(answer.count("decided") + " of " + ids.size() + " reviews decided")
                .link("Review", "review_id", "reviews")
                .status("Result", doc -> doc.at("decided").has("decision") ? "decided" : "rejected")
                .text("Decision", doc -> label(doc.at("decided").text("decision")))
                .text("Reason", doc -> doc.text("detail"))
                .link("Run", "run_id", "runs")
                .withRows(answer.items());
        return visit.show("list", "Decisions", "Reviews", Map.of("grid", grid));
    }

    private static HttpResponse check(PageVisit visit, SubmittedForm form) throws Exception {
        String path = InternalApiClient.path("v1", "reviews", visit.pathParameter("review_id"), "check");
        visit.send("POST", path, JsonNodeFactory.instance.objectNode(), form.text("key"));
        return PageRenderer.redirect(
                InternalApiClient.path("reviews", visit.pathParameter("review_id")) + "?did=check");
    }
}
