package dev.semel.server.pages;

import dev.semel.server.http.Answer;
import dev.semel.server.http.Inside;
import dev.semel.server.http.Router;
import dev.semel.server.http.Scope;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

/** The pages of incident reports: draft from a period, edit the answers, export as Markdown. */
public final class IncidentPages {
    private static final String SUFFIX = ".md";
    private static final List<Question> QUESTIONS = List.of(
            new Question("trigger", "What exactly triggered it?"),
            new Question(
                    "cause", "Was it source data, mapping, permissions, timing, the platform, or a missing check?"),
            new Question("safe", "Did it fail safely, or did something happen that should not have?"),
            new Question("visible", "Was it visible in logs, or did a user find it?"),
            new Question("add", "Which rule, test, monitor or approval should be added?"));

    private IncidentPages() {}

    /** One of the five questions: its API name and its text. */
    public record Question(String word, String asks) {}

    static void addTo(Router router, Door guard) {
        router.add("GET", "/incidents", Scope.OPEN, guard.page(visit -> list(visit, 200, Doc.NOTHING)))
                .add("POST", "/incidents", Scope.OPEN, guard.deed(IncidentPages::draft))
                .add("GET", "/incidents/{incident_id}", Scope.OPEN, guard.page(IncidentPages::one))
                .add("POST", "/incidents/{incident_id}", Scope.OPEN, guard.deed(IncidentPages::save));
    }

    private static Answer list(Visit visit, int status, Doc problem) throws Exception {
        Grid grid = Grid.named("Incident reports")
                .link("Title", doc -> doc.text("title"), doc -> doc.link("incidents", "incident_id"))
                .code("Incident", "incident_id")
                .time("Since", "since")
                .time("Until", "until")
                .text("By", "changed_by")
                .whenEmpty(
                        "No incident reports yet. Create a draft from recorded facts below, or with:",
                        "semel incident new --since 2026-11-15T08:40:00Z --until 2026-11-15T09:31:00Z --title \"mail"
                                + " outage\"")
                .of(visit.get("/v1/incidents", ListPages.behind(visit)));
        return visit.show(
                status,
                new Look.Sheet(
                        "incidents",
                        "Incidents",
                        "Incidents",
                        Map.of("grid", grid, "problem", problem, "mayDraft", visit.may("POST", "/v1/incidents"))));
    }

    private static Answer draft(Visit visit, Form form) throws Exception {
        ObjectNode body = JsonNodeFactory.instance.objectNode();
        for (String member : List.of("title", "since", "until", "workflow")) {
            if (!form.text(member).isBlank()) {
                body.put(member, form.text(member).strip());
            }
        }
        try {
            Doc made = visit.send("POST", "/v1/incidents", body, form.text("key"));
            return Look.goTo(made.link("incidents", "incident_id") + "?did=draft");
        } catch (Refused e) {
            return list(visit, e.status(), e.problem());
        }
    }

    private static Answer one(Visit visit) throws Exception {
        String id = visit.part("incident_id");
        String path = Inside.path("v1", "incidents", id);
        if (id.endsWith(SUFFIX)) {
            Answer page = visit.raw(path);
            return Answer.of(200, "text/markdown; charset=utf-8", page.body())
                    .with(
                            "Content-Disposition",
                            "attachment; filename=\"" + id.replaceAll("[^A-Za-z0-9_.-]", "_") + "\"")
                    .with("Cache-Control", "no-store");
        }
        Doc incident = visit.get(path);
        return page(visit, 200, incident, new Wrote(incident.text("title"), answers(incident), Doc.NOTHING));
    }

    /** The content of the form: stored values, or typed values that the API rejected. */
    private record Wrote(String title, Map<String, String> answers, Doc problem) {}

    private static Answer page(Visit visit, int status, Doc incident, Wrote wrote) {
        Map<String, Object> parts = new HashMap<>(Map.of(
                "incident", incident,
                "questions", QUESTIONS,
                "title", wrote.title(),
                "answers", wrote.answers(),
                "problem", wrote.problem()));
        parts.put("mayChange", visit.may("PUT", Inside.path("v1", "incidents", incident.text("incident_id"))));
        return visit.show(status, new Look.Sheet("incident", incident.text("title"), "Incidents", parts));
    }

    private static Answer save(Visit visit, Form form) throws Exception {
        String path = Inside.path("v1", "incidents", visit.part("incident_id"));
        ObjectNode body = JsonNodeFactory.instance
                .objectNode()
                .put("title", form.text("title").strip());
        ObjectNode edited = body.putObject("answers");
        Map<String, String> changed = new LinkedHashMap<>();
        for (Question one : QUESTIONS) {
            String answer = lines(form.text(one.word()));
            if (!answer.equals(lines(form.text("was_" + one.word())))) {
                edited.put(one.word(), answer);
                changed.put(one.word(), answer);
            }
        }
        String version = form.text("version");
        try {
            visit.keep(
                    path, body, form.text("key"), version.matches("[1-9][0-9]{0,8}") ? Integer.parseInt(version) : 0);
        } catch (Refused e) {
            // The form shows the typed answers again, together with the current stored answers.
            Doc now = visit.get(path);
            Map<String, String> answers = answers(now);
            answers.putAll(changed);
            return page(visit, e.status(), now, new Wrote(form.text("title"), answers, e.problem()));
        }
        return Look.goTo(Inside.path("incidents", visit.part("incident_id")) + "?did=saved");
    }

    private static Map<String, String> answers(Doc incident) {
        Map<String, String> answers = new LinkedHashMap<>();
        QUESTIONS.forEach(one -> answers.put(one.word(), incident.at("answers").text(one.word())));
        return answers;
    }

    /** Browsers send line ends as CR LF. */
    private static String lines(String text) {
        return text.replace("\r\n", "\n").strip();
    }
}
