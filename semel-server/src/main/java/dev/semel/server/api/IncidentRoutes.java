package dev.semel.server.api;

import dev.semel.Semel;
import dev.semel.error.ErrorCode;
import dev.semel.error.SemelException;
import dev.semel.json.Json;
import dev.semel.key.CanonicalJson;
import dev.semel.server.http.Answer;
import dev.semel.server.http.Request;
import dev.semel.server.http.Router;
import dev.semel.server.http.Scope;
import dev.semel.server.settings.Incident;
import dev.semel.server.settings.Names;
import dev.semel.server.settings.Shelf;
import dev.semel.store.Rows;
import java.nio.charset.StandardCharsets;
import java.util.Set;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/** Serves incident reports: drafts them from stored facts, and stores the users' edits as versions. */
final class IncidentRoutes {
    private static final String ALL = "/v1/incidents";
    private static final String ONE = ALL + "/{incident_id}";
    private static final String MARKDOWN = "text/markdown; charset=utf-8";
    private static final String SUFFIX = ".md";
    private static final int LARGEST = 256 << 10;
    private static final int ID_FROM = "run_".length() + 10;

    private final Semel semel;
    private final Shelf<Incident> shelf;
    private final SettingDeeds actions;
    private final Triggers triggers;

    IncidentRoutes(Semel semel, Shelf<Incident> shelf, SettingDeeds actions, Triggers triggers) {
        this.semel = semel;
        this.shelf = shelf;
        this.actions = actions;
        this.triggers = triggers;
    }

    void addTo(Router router) {
        router.add(Api.changing("POST", ALL, Scope.OPERATE, this::draft))
                .add("GET", ALL, Scope.READ, this::list)
                .add("GET", ONE, Scope.READ, this::get)
                .add(Api.changing("PUT", ONE, Scope.OPERATE, this::put).withMaxBody(LARGEST));
    }

    /** Collects the facts of the period and drafts answers to the five questions. */
    Answer draft(Request request) {
        Said body = Said.in(request, Set.of("title", "since", "until", "workflow"));
        long now = now();
        long since = parseTime(body, "since", now);
        long until = body.text("until").isEmpty() ? now : parseTime(body, "until", now);
        if (until <= since) {
            throw invalid("until must be after since");
        }
        String workflow = body.text("workflow");
        String workflowId = workflow.isEmpty()
                ? null
                : triggers.workflow(request.principal(), workflow).published().workflowId();
        int workspace = request.principal().workspace();
        ObjectNode facts =
                new IncidentFacts(semel, new IncidentFacts.Span(workspace, workflowId, since, until)).gather();
        ObjectNode document = Views.object()
                .put("title", body.text("title").isBlank() ? "Incident of " + Views.time(since) : body.text("title"))
                .put("since", Views.time(since))
                .put("until", Views.time(until));
        if (!workflow.isEmpty()) {
            document.put("workflow", workflow);
        }
        document.set("facts", facts);
        IncidentText.drafts(facts).forEach(document.putObject("answers")::put);
        shelf.check(document);
        String id = "inc_" + semel.newId().text().substring(ID_FROM);
        return actions.put(
                request,
                new Deeds.Deed("incident.draft", canonical(body.body())),
                shelf.putting(new Shelf.Draft(
                        workspace, id, document, 0, request.principal().tokenId())),
                IncidentRoutes::toJson);
    }

    private static long parseTime(Said body, String name, long now) {
        String text = body.text(name);
        if (text.isEmpty()) {
            throw invalid("since is required: an age like 2h, or a time like 2026-11-15T08:40:00Z");
        }
        return AuditFilter.moment(name, text, now);
    }

    private static SemelException invalid(String rule) {
        return new SemelException(
                ErrorCode.INVALID_INPUT,
                "The server cannot draft the incident report: " + rule + ". Nothing was stored.",
                "Send {\"title\": …, \"since\": TIME, \"until\": TIME}.");
    }

    private static String canonical(JsonNode body) {
        return new String(CanonicalJson.bytes(body), StandardCharsets.UTF_8);
    }

    private long now() {
        Long now = semel.view(reads -> reads.now());
        return now == null ? 0 : now;
    }

    private static ObjectNode toJson(Rows.Setting row) {
        ObjectNode out = head(row);
        if (Json.parse(row.body()) instanceof ObjectNode document) {
            out.setAll(document);
        }
        return out;
    }

    private static ObjectNode head(Rows.Setting row) {
        return Views.object()
                .put("incident_id", row.name())
                .put("version", row.version())
                .put("changed_at", Views.time(row.changedAt()))
                .put("changed_by", row.changedBy());
    }

    Answer list(Request request) {
        Paging paging = Paging.of(request);
        int workspace = request.principal().workspace();
        return Views.page(
                shelf.page(workspace, SettingDeeds.after(paging), paging.limit()),
                paging.limit(),
                row -> listed(workspace, row),
                row -> SettingDeeds.cursor(row.name()));
    }

    /** Lists omit long documents. An item needs only the title and the period. */
    private ObjectNode listed(int workspace, Rows.Setting row) {
        ObjectNode out = head(row);
        Shelf.Kept<Incident> stored = shelf.find(workspace, row.name());
        if (stored != null) {
            Incident incident = stored.value();
            out.put("title", incident.title()).put("since", incident.since()).put("until", incident.until());
        }
        return out;
    }

    /** Returns Markdown if the id ends with `.md` or `Accept` asks for it, JSON otherwise. */
    Answer get(Request request) {
        String requested = request.parameter("incident_id");
        boolean page = requested.endsWith(SUFFIX)
                || String.valueOf(request.header("Accept")).contains("text/markdown");
        String id =
                requested.endsWith(SUFFIX) ? requested.substring(0, requested.length() - SUFFIX.length()) : requested;
        Rows.Setting row = row(request, id);
        if (!page) {
            return SettingDeeds.tagged(Views.ok(toJson(row)), row.version());
        }
        Incident incident = shelf.check(Json.parse(row.body()));
        return Answer.of(
                200, MARKDOWN, IncidentText.markdown(incident, row.version()).getBytes(StandardCharsets.UTF_8));
    }

    private Rows.Setting row(Request request, String id) {
        Rows.Setting row = Names.fits(id) ? shelf.row(request.principal().workspace(), id) : null;
        if (row == null) {
            throw new SemelException(
                    ErrorCode.NOT_FOUND,
                    "This workspace has no incident report with this id. Nothing was changed.",
                    "List the incident reports with GET /v1/incidents.");
        }
        return row;
    }

    /** Changes the title and the given answers. The collected facts stay as they are. */
    Answer put(Request request) {
        Said body = Said.in(request, Set.of("title", "answers"));
        Rows.Setting before = row(request, request.parameter("incident_id"));
        ObjectNode document = (ObjectNode) Json.parse(before.body());
        if (!body.text("title").isBlank()) {
            document.put("title", body.text("title"));
        }
        JsonNode answers = body.value("answers");
        if (answers instanceof ObjectNode given) {
            ((ObjectNode) document.path("answers")).setAll(given);
        }
        shelf.check(document);
        Integer expected = SettingDeeds.expected(request);
        return actions.put(
                request,
                new Deeds.Deed("incident.put", before.name(), canonical(body.body()), String.valueOf(expected)),
                shelf.putting(new Shelf.Draft(
                        before.ws(),
                        before.name(),
                        document,
                        expected == null ? Integer.valueOf(before.version()) : expected,
                        request.principal().tokenId())),
                IncidentRoutes::toJson);
    }
}
