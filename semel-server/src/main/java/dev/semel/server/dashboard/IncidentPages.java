package dev.semel.server.dashboard;

import dev.semel.server.http.HttpResponse;
import dev.semel.server.http.InternalApiClient;
import dev.semel.server.http.Router;
import dev.semel.server.http.TokenScope;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

/** The pages of incident reports: draft from a period, edit the answers, export as Markdown. */
public final class IncidentPages {
    private static final String SUFFIX = ".md";
    private static final List<ReportQuestion> QUESTIONS = List.of(
            new ReportQuestion("trigger", "What exactly triggered it?"),
            new ReportQuestion(
                    "cause", "Was it source data, mapping, permissions, timing, the platform, or a missing check?"),
            new ReportQuestion("safe", "Did it fail safely, or did something happen that should not have?"),
            new ReportQuestion("visible", "Was it visible in logs, or did a user find it?"),
            new ReportQuestion("add", "Which rule, test, monitor or approval should be added?"));

    private IncidentPages() {}

    /** One of the five questions: its API name and its text. */
    public record ReportQuestion(String name, String text) {}

    static void addTo(Router router, DashboardGuard guard) {
        router.add("GET", "/incidents", TokenScope.OPEN, guard.page(visit -> list(visit, 200, ApiJson.EMPTY)))
                .add("POST", "/incidents", TokenScope.OPEN, guard.form(IncidentPages::draft))
                .add("GET", "/incidents/{incident_id}", TokenScope.OPEN, guard.page(IncidentPages::one))
                .add("POST", "/incidents/{incident_id}", TokenScope.OPEN, guard.form(IncidentPages::save));
    }

    private static HttpResponse list(PageVisit visit, int status, ApiJson problem) throws Exception {
        TableView grid = TableView.titled("Incident reports")
                .link("Title", doc -> doc.text("title"), doc -> doc.link("incidents", "incident_id"))
                .code("Incident", "incident_id")
                .time("Since", "since")
                .time("Until", "until")
                .text("By", "changed_by")
                .whenEmpty(
                        "No incident reports yet. Create a draft from recorded facts below, or with:",
                        "semel incident create --since 2026-11-15T08:40:00Z --until 2026-11-15T09:31:00Z --title \"mail"
                                + " outage\"")
                .withRows(visit.get("/v1/incidents", ListPages.cursorQuery(visit)));
        return visit.show(
                status,
                new PageRenderer.PageContent(
                        "incidents",
                        "Incidents",
                        "Incidents",
                        Map.of(
                                "grid",
                                grid,
                                "problem",
                                problem,
                                "mayDraft",
                                visit.isAllowed("POST", "/v1/incidents"))));
    }

    private static HttpResponse draft(PageVisit visit, SubmittedForm form) throws Exception {
        ObjectNode body = JsonNodeFactory.instance.objectNode();
        for (String member : List.of("title", "since", "until", "workflow")) {
            if (!form.text(member).isBlank()) {
                body.put(member, form.text(member).strip());
            }
        }
        try {
            ApiJson made = visit.send("POST", "/v1/incidents", body, form.text("key"));
            return PageRenderer.redirect(made.link("incidents", "incident_id") + "?did=draft");
        } catch (ApiRejectionException e) {
            return list(visit, e.status(), e.problem());
        }
    }

    private static HttpResponse one(PageVisit visit) throws Exception {
        String id = visit.pathParameter("incident_id");
        String path = InternalApiClient.path("v1", "incidents", id);
        if (id.endsWith(SUFFIX)) {
            HttpResponse page = visit.getRaw(path);
            return HttpResponse.of(200, "text/markdown; charset=utf-8", page.body())
                    .with(
                            "Content-Disposition",
                            "attachment; filename=\"" + id.replaceAll("[^A-Za-z0-9_.-]", "_") + "\"")
                    .with("Cache-Control", "no-store");
        }
        ApiJson incident = visit.get(path);
        return page(visit, 200, incident, new FormContent(incident.text("title"), answers(incident), ApiJson.EMPTY));
    }

    /** The content of the form: stored values, or typed values that the API rejected. */
    private record FormContent(String title, Map<String, String> answers, ApiJson problem) {}

    private static HttpResponse page(PageVisit visit, int status, ApiJson incident, FormContent wrote) {
        Map<String, Object> parts = new HashMap<>(Map.of(
                "incident", incident,
                "questions", QUESTIONS,
                "title", wrote.title(),
                "answers", wrote.answers(),
                "problem", wrote.problem()));
        parts.put(
                "mayChange",
                visit.isAllowed("PUT", InternalApiClient.path("v1", "incidents", incident.text("incident_id"))));
        return visit.show(status, new PageRenderer.PageContent("incident", incident.text("title"), "Incidents", parts));
    }

    private static HttpResponse save(PageVisit visit, SubmittedForm form) throws Exception {
        String path = InternalApiClient.path("v1", "incidents", visit.pathParameter("incident_id"));
        ObjectNode body = JsonNodeFactory.instance
                .objectNode()
                .put("title", form.text("title").strip());
        ObjectNode edited = body.putObject("answers");
        Map<String, String> changed = new LinkedHashMap<>();
        for (ReportQuestion one : QUESTIONS) {
            String answer = lines(form.text(one.name()));
            if (!answer.equals(lines(form.text("was_" + one.name())))) {
                edited.put(one.name(), answer);
                changed.put(one.name(), answer);
            }
        }
        String version = form.text("version");
        try {
            visit.save(
                    path, body, form.text("key"), version.matches("[1-9][0-9]{0,8}") ? Integer.parseInt(version) : 0);
        } catch (ApiRejectionException e) {
            // The form shows the typed answers again, together with the current stored answers.
            ApiJson now = visit.get(path);
            Map<String, String> answers = answers(now);
            answers.putAll(changed);
            return page(visit, e.status(), now, new FormContent(form.text("title"), answers, e.problem()));
        }
        return PageRenderer.redirect(
                InternalApiClient.path("incidents", visit.pathParameter("incident_id")) + "?did=saved");
    }

    private static Map<String, String> answers(ApiJson incident) {
        Map<String, String> answers = new LinkedHashMap<>();
        QUESTIONS.forEach(one -> answers.put(one.name(), incident.at("answers").text(one.name())));
        return answers;
    }

    /** Browsers send line ends as CR LF. */
    private static String lines(String text) {
        return text.replace("\r\n", "\n").strip();
    }
}
