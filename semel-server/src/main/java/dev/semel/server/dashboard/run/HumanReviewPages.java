package dev.semel.server.dashboard.run;

import dev.semel.json.StrictJsonCodec;
import dev.semel.server.dashboard.login.DashboardRouter;
import dev.semel.server.dashboard.page.DashboardListTableModel;
import dev.semel.server.dashboard.page.DashboardPageRequest;
import dev.semel.server.dashboard.page.DashboardTemplateJsonAccessor;
import dev.semel.server.dashboard.page.RejectedDashboardForm;
import dev.semel.server.dashboard.page.SubmittedForm;
import dev.semel.server.dashboard.page.UrlQuery;
import dev.semel.server.dashboard.setting.ScheduleEventWorkerAuditPages;
import dev.semel.server.http.InProcessApiClient;
import dev.semel.server.http.ServerHttpResponse;
import java.util.ArrayList;
import java.util.List;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/** The review inbox: the list of open questions, one question with its evidence, and the decision form. */
public final class HumanReviewPages {
    private static final List<ReviewTab> TABS = List.of(
            new ReviewTab("", "All"),
            new ReviewTab("in_doubt", "In doubt"),
            new ReviewTab("changed", "Changed"),
            new ReviewTab("approval", "Approvals"),
            new ReviewTab("held", "Held"),
            new ReviewTab("decided", "Decided"));

    private HumanReviewPages() {}

    public record ReviewTab(String value, String title) {}

    public static void addTo(DashboardRouter routes) {
        String one = "/reviews/{review_id}";
        routes.page("/reviews", visit -> list(visit, RejectedDashboardForm.NONE))
                .form("/reviews/decide", HumanReviewPages::decideMany)
                .page(one, visit -> one(visit, RejectedDashboardForm.NONE))
                .form(one + "/decide", HumanReviewPages::decide)
                .form(one + "/check", HumanReviewPages::check);
    }

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

    private static ServerHttpResponse list(DashboardPageRequest visit, RejectedDashboardForm rejection)
            throws Exception {
        String tab = visit.queryParameter("tab");
        List<String> words = new ArrayList<>();
        if (tab.equals("decided")) {
            words.add("state:decided");
        } else {
            word(words, "kind", tab);
            word(words, "workflow", visit.queryParameter("workflow"));
            word(words, "to", visit.queryParameter("to"));
        }
        DashboardTemplateJsonAccessor page =
                visit.get("/v1/reviews", ScheduleEventWorkerAuditPages.filterQuery(visit, String.join(" ", words)));
        return visit.page("reviews", "Reviews", "Reviews")
                .with("tabs", TABS)
                .with("tab", tab)
                .with("page", page)
                .with("workflow", visit.queryParameter("workflow"))
                .with("to", visit.queryParameter("to"))
                .with("next", next(visit, page))
                .with("mayDecide", visit.isAllowed("POST", "/v1/reviews/decide"))
                .with("rejection", rejection)
                .show(rejection.status());
    }

    private static void word(List<String> words, String name, String value) {
        if (!value.isBlank()) {
            words.add(name + ":" + value.strip());
        }
    }

    private static String next(DashboardPageRequest visit, DashboardTemplateJsonAccessor page) {
        if (!page.has("next")) {
            return "";
        }
        UrlQuery next = UrlQuery.of("after", page.text("next"));
        for (String name : List.of("tab", "workflow", "to")) {
            next = next.and(name, visit.queryParameter(name));
        }
        return next.suffix();
    }

    private static ServerHttpResponse one(DashboardPageRequest visit, RejectedDashboardForm rejection)
            throws Exception {
        String path = InProcessApiClient.path("v1", "reviews", visit.pathParameter("review_id"));
        DashboardTemplateJsonAccessor review = visit.get(path);
        boolean open = review.text("status").equals("open");
        return visit.page("review", review.text("title"), "Reviews")
                .with("review", review)
                .with("rejection", rejection)
                .with("otherReviews", otherReviews(visit, review))
                .with("mayDecide", open && visit.isAllowed("POST", path + "/decide"))
                .with(
                        "mayCheck",
                        open && review.text("protection").equals("lookup") && visit.isAllowed("POST", path + "/check"))
                .show(rejection.status());
    }

    /** Other open reviews of the same run, which the user can often decide together. */
    private static List<DashboardTemplateJsonAccessor> otherReviews(
            DashboardPageRequest visit, DashboardTemplateJsonAccessor review) throws Exception {
        String q = "kind:" + review.text("kind") + " workflow:" + review.text("workflow");
        return visit.getOrEmpty("/v1/reviews", UrlQuery.of("q", q)).items().stream()
                .filter(other -> other.text("run_id").equals(review.text("run_id"))
                        && !other.text("review_id").equals(review.text("review_id")))
                .toList();
    }

    /** Records a decision. If another user decided first, or the question changed, shows the current review. */
    private static ServerHttpResponse decide(DashboardPageRequest visit, SubmittedForm form) throws Exception {
        return visit.submit(
                "decide",
                form,
                () -> {
                    ObjectNode body = decisionBody(form);
                    putQuestionVersion(form, body);
                    visit.send("POST", form, body, "reviews", visit.pathParameter("review_id"), "decide");
                    return visit.redirect("decide", "reviews", visit.pathParameter("review_id"));
                },
                rejection -> one(visit, rejection));
    }

    /** Adds the question version that the page showed, so that a changed question is not decided unseen. */
    static void putQuestionVersion(SubmittedForm form, ObjectNode body) {
        if (form.version() > 0) {
            body.put("version", form.version());
        }
    }

    private static ObjectNode decisionBody(SubmittedForm form) {
        ObjectNode body = DashboardTemplateJsonAccessor.newObject()
                .put("decision", form.text("decision"))
                .put("note", form.text("note"));
        if (form.text("decision").equals("happened") && !form.text("data").isBlank()) {
            body.set("result", StrictJsonCodec.parse(form.text("data").strip()));
        }
        return body;
    }

    /** Decides several reviews. Each has its own result, which the page lists. */
    private static ServerHttpResponse decideMany(DashboardPageRequest visit, SubmittedForm form) throws Exception {
        return visit.submit("together", form, () -> decided(visit, form), rejection -> list(visit, rejection));
    }

    private static ServerHttpResponse decided(DashboardPageRequest visit, SubmittedForm form) throws Exception {
        ObjectNode body = decisionBody(form);
        ArrayNode ids = body.putArray("ids");
        form.values("ids").forEach(ids::add);
        DashboardTemplateJsonAccessor answer = visit.send("POST", "/v1/reviews/decide", body, form.text("key"));
        DashboardListTableModel grid = DashboardListTableModel.titled(
                        answer.count("decided") + " of " + ids.size() + " reviews decided")
                .link("Review", "review_id", "reviews")
                .status("Result", doc -> doc.at("decided").has("decision") ? "decided" : "rejected")
                .text("Decision", doc -> label(doc.at("decided").text("decision")))
                .text("Reason", doc -> doc.text("detail"))
                .link("Run", "run_id", "runs")
                .withRows(answer.items());
        return visit.page("list", "Decisions", "Reviews").with("grid", grid).show();
    }

    private static ServerHttpResponse check(DashboardPageRequest visit, SubmittedForm form) throws Exception {
        visit.send(
                "POST",
                form,
                DashboardTemplateJsonAccessor.newObject(),
                "reviews",
                visit.pathParameter("review_id"),
                "check");
        return visit.redirect("check", "reviews", visit.pathParameter("review_id"));
    }
}
