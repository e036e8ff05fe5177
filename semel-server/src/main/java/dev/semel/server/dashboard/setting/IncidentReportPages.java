package dev.semel.server.dashboard.setting;

import dev.semel.server.dashboard.login.DashboardRouter;
import dev.semel.server.dashboard.page.ApiErrorResponseException;
import dev.semel.server.dashboard.page.DashboardListTableModel;
import dev.semel.server.dashboard.page.DashboardPageRequest;
import dev.semel.server.dashboard.page.DashboardTemplateJsonAccessor;
import dev.semel.server.dashboard.page.PageRenderer;
import dev.semel.server.dashboard.page.SubmittedForm;
import dev.semel.server.dashboard.page.UrlQuery;
import dev.semel.server.http.InProcessApiClient;
import dev.semel.server.http.ServerHttpResponse;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import tools.jackson.databind.node.ObjectNode;

/** The pages of incident reports: draft from a period, edit the answers, export as Markdown. */
public final class IncidentReportPages {
    private static final String SUFFIX = ".md";
    private static final List<ReportQuestion> QUESTIONS = List.of(
            new ReportQuestion("trigger", "What exactly triggered it?"),
            new ReportQuestion(
                    "cause",
                    "Was the cause source data, mapping, permissions, timing, the platform, or a missing check?"),
            new ReportQuestion("safe", "Did the system fail safely, or did something happen that should not have?"),
            new ReportQuestion("visible", "Was the failure visible in logs, or did a user find it?"),
            new ReportQuestion("add", "Which rule, test, monitor or approval should be added?"));

    private IncidentReportPages() {}

    public record ReportQuestion(String name, String text) {}

    public static void addTo(DashboardRouter routes) {
        routes.page("/incidents", visit -> list(visit, 200, DashboardTemplateJsonAccessor.EMPTY))
                .form("/incidents", IncidentReportPages::draft)
                .page("/incidents/{incident_id}", IncidentReportPages::one)
                .form("/incidents/{incident_id}", IncidentReportPages::save);
    }

    private static ServerHttpResponse list(
            DashboardPageRequest visit, int status, DashboardTemplateJsonAccessor problem) throws Exception {
        DashboardListTableModel grid = DashboardListTableModel.titled("Incident reports")
                .link("Title", doc -> doc.text("title"), doc -> doc.link("incidents", "incident_id"))
                .code("Incident", "incident_id")
                .time("Since", "since")
                .time("Until", "until")
                .text("By", "changed_by")
                .whenEmpty(
                        "No incident reports yet. To create a draft from recorded facts, use the form below or this"
                                + " command:",
                        "semel incident create --since 2026-11-15T08:40:00Z --until 2026-11-15T09:31:00Z --title \"mail"
                                + " outage\"")
                .withRows(visit.get("/v1/incidents", visit.cursor()));
        return visit.page("incidents", "Incidents", "Incidents")
                .with("grid", grid)
                .with("problem", problem)
                .with("mayDraft", visit.isAllowed("POST", "/v1/incidents"))
                .show(status);
    }

    private static ServerHttpResponse draft(DashboardPageRequest visit, SubmittedForm form) throws Exception {
        ObjectNode body = DashboardTemplateJsonAccessor.newObject();
        for (String member : List.of("title", "since", "until", "workflow")) {
            if (!form.text(member).isBlank()) {
                body.put(member, form.text(member).strip());
            }
        }
        try {
            DashboardTemplateJsonAccessor made = visit.send("POST", form, body, "incidents");
            return PageRenderer.redirect(made.link("incidents", "incident_id") + "?did=draft");
        } catch (ApiErrorResponseException e) {
            return list(visit, e.status(), e.problem());
        }
    }

    private static ServerHttpResponse one(DashboardPageRequest visit) throws Exception {
        String id = visit.pathParameter("incident_id");
        String path = InProcessApiClient.path("v1", "incidents", id);
        if (id.endsWith(SUFFIX)) {
            ServerHttpResponse page = visit.getRaw(path, UrlQuery.EMPTY);
            return ServerHttpResponse.of(200, "text/markdown; charset=utf-8", page.body())
                    .with(
                            "Content-Disposition",
                            "attachment; filename=\"" + id.replaceAll("[^A-Za-z0-9_.-]", "_") + "\"")
                    .with("Cache-Control", "no-store");
        }
        DashboardTemplateJsonAccessor incident = visit.get(path);
        return page(
                visit,
                200,
                incident,
                new FormContent(incident.text("title"), answers(incident), DashboardTemplateJsonAccessor.EMPTY));
    }

    /** The content of the form: stored values, or typed values that the API rejected. */
    private record FormContent(String title, Map<String, String> answers, DashboardTemplateJsonAccessor problem) {}

    private static ServerHttpResponse page(
            DashboardPageRequest visit, int status, DashboardTemplateJsonAccessor incident, FormContent wrote) {
        return visit.page("incident", incident.text("title"), "Incidents")
                .with("incident", incident)
                .with("questions", QUESTIONS)
                .with("title", wrote.title())
                .with("answers", wrote.answers())
                .with("problem", wrote.problem())
                .with(
                        "mayChange",
                        visit.isAllowed(
                                "PUT", InProcessApiClient.path("v1", "incidents", incident.text("incident_id"))))
                .show(status);
    }

    private static ServerHttpResponse save(DashboardPageRequest visit, SubmittedForm form) throws Exception {
        String path = InProcessApiClient.path("v1", "incidents", visit.pathParameter("incident_id"));
        ObjectNode body = DashboardTemplateJsonAccessor.newObject()
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
        try {
            visit.save(path, body, form);
        } catch (ApiErrorResponseException e) {
            // The form shows the typed answers again, together with the current stored answers.
            DashboardTemplateJsonAccessor now = visit.get(path);
            Map<String, String> answers = answers(now);
            answers.putAll(changed);
            return page(visit, e.status(), now, new FormContent(form.text("title"), answers, e.problem()));
        }
        return visit.redirect("saved", "incidents", visit.pathParameter("incident_id"));
    }

    private static Map<String, String> answers(DashboardTemplateJsonAccessor incident) {
        Map<String, String> answers = new LinkedHashMap<>();
        QUESTIONS.forEach(one -> answers.put(one.name(), incident.at("answers").text(one.name())));
        return answers;
    }

    /** Browsers send line ends as CR LF. */
    private static String lines(String text) {
        return text.replace("\r\n", "\n").strip();
    }
}
