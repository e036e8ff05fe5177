package dev.semel.server.api;

import dev.semel.runtime.SemelRuntime;
import dev.semel.error.ErrorCode;
import dev.semel.error.SemelException;
import dev.semel.json.StrictJson;
import dev.semel.admission.CanonicalJson;
import dev.semel.server.http.HttpResponse;
import dev.semel.server.http.HttpRequest;
import dev.semel.server.http.Router;
import dev.semel.server.http.TokenScope;
import dev.semel.server.settings.IncidentReport;
import dev.semel.server.settings.SettingNames;
import dev.semel.server.settings.SettingRepository;
import dev.semel.store.StoredRows;
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

    private final SemelRuntime semel;
    private final SettingRepository<IncidentReport> shelf;
    private final SettingActions actions;
    private final TriggerRoutes triggers;

    IncidentRoutes(SemelRuntime semel, SettingRepository<IncidentReport> shelf, SettingActions actions, TriggerRoutes triggers) {
        this.semel = semel;
        this.shelf = shelf;
        this.actions = actions;
        this.triggers = triggers;
    }

    void addTo(Router router) {
        router.add(ApiRoutes.mutationRoute("POST", ALL, TokenScope.OPERATE, this::draft))
                .add("GET", ALL, TokenScope.READ, this::list)
                .add("GET", ONE, TokenScope.READ, this::get)
                .add(ApiRoutes.mutationRoute("PUT", ONE, TokenScope.OPERATE, this::put).withMaxBody(LARGEST));
    }

    /** Collects the facts of the period and drafts answers to the five questions. */
    HttpResponse draft(HttpRequest request) {
        JsonBody body = JsonBody.parse(request, Set.of("title", "since", "until", "workflow"));
        long now = now();
        long since = parseTime(body, "since", now);
        long until = body.text("until").isEmpty() ? now : parseTime(body, "until", now);
        if (until <= since) {
            throw invalid("until must be after since");
        }
        String workflow = body.text("workflow");
        String workflowId = workflow.isEmpty()
                ? null
                : triggers.findWorkflow(request.principal(), workflow).published().workflowId();
        int workspace = request.principal().workspace();
        ObjectNode facts =
                new IncidentFactCollector(semel, new IncidentFactCollector.IncidentPeriod(workspace, workflowId, since, until)).collect();
        ObjectNode document = JsonViews.newObject()
                .put("title", body.text("title").isBlank() ? "Incident of " + JsonViews.formatTime(since) : body.text("title"))
                .put("since", JsonViews.formatTime(since))
                .put("until", JsonViews.formatTime(until));
        if (!workflow.isEmpty()) {
            document.put("workflow", workflow);
        }
        document.set("facts", facts);
        IncidentReportText.draftAnswers(facts).forEach(document.putObject("answers")::put);
        shelf.parse(document);
        String id = "inc_" + semel.newId().text().substring(ID_FROM);
        return actions.put(
                request,
                new IdempotentActions.ActionRequest("incident.draft", canonical(body.body())),
                shelf.preparePut(new SettingRepository.SettingDraft(
                        workspace, id, document, 0, request.principal().tokenId())),
                IncidentRoutes::toJson);
    }

    private static long parseTime(JsonBody body, String name, long now) {
        String text = body.text(name);
        if (text.isEmpty()) {
            throw invalid("since is required: an age like 2h, or a time like 2026-11-15T08:40:00Z");
        }
        return AuditFilter.parseTime(name, text, now);
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

    private static ObjectNode toJson(StoredRows.SettingRow row) {
        ObjectNode out = head(row);
        if (StrictJson.parse(row.body()) instanceof ObjectNode document) {
            out.setAll(document);
        }
        return out;
    }

    private static ObjectNode head(StoredRows.SettingRow row) {
        return JsonViews.newObject()
                .put("incident_id", row.name())
                .put("version", row.version())
                .put("changed_at", JsonViews.formatTime(row.changedAt()))
                .put("changed_by", row.changedBy());
    }

    HttpResponse list(HttpRequest request) {
        PagingParameters paging = PagingParameters.parse(request);
        int workspace = request.principal().workspace();
        return JsonViews.pageResponse(
                shelf.page(workspace, SettingActions.nameAfter(paging), paging.limit()),
                paging.limit(),
                row -> listed(workspace, row),
                row -> SettingActions.nameCursor(row.name()));
    }

    /** Lists omit long documents. An item needs only the title and the period. */
    private ObjectNode listed(int workspace, StoredRows.SettingRow row) {
        ObjectNode out = head(row);
        SettingRepository.StoredSetting<IncidentReport> stored = shelf.find(workspace, row.name());
        if (stored != null) {
            IncidentReport incident = stored.value();
            out.put("title", incident.title()).put("since", incident.since()).put("until", incident.until());
        }
        return out;
    }

    /** Returns Markdown if the id ends with `.md` or `Accept` asks for it, JSON otherwise. */
    HttpResponse get(HttpRequest request) {
        String requested = request.parameter("incident_id");
        boolean page = requested.endsWith(SUFFIX)
                || String.valueOf(request.header("Accept")).contains("text/markdown");
        String id =
                requested.endsWith(SUFFIX) ? requested.substring(0, requested.length() - SUFFIX.length()) : requested;
        StoredRows.SettingRow row = row(request, id);
        if (!page) {
            return SettingActions.withEtag(JsonViews.ok(toJson(row)), row.version());
        }
        IncidentReport incident = shelf.parse(StrictJson.parse(row.body()));
        return HttpResponse.of(
                200, MARKDOWN, IncidentReportText.markdown(incident, row.version()).getBytes(StandardCharsets.UTF_8));
    }

    private StoredRows.SettingRow row(HttpRequest request, String id) {
        StoredRows.SettingRow row = SettingNames.isValid(id) ? shelf.findRow(request.principal().workspace(), id) : null;
        if (row == null) {
            throw new SemelException(
                    ErrorCode.NOT_FOUND,
                    "This workspace has no incident report with this id. Nothing was changed.",
                    "List the incident reports with GET /v1/incidents.");
        }
        return row;
    }

    /** Changes the title and the given answers. The collected facts stay as they are. */
    HttpResponse put(HttpRequest request) {
        JsonBody body = JsonBody.parse(request, Set.of("title", "answers"));
        StoredRows.SettingRow before = row(request, request.parameter("incident_id"));
        ObjectNode document = (ObjectNode) StrictJson.parse(before.body());
        if (!body.text("title").isBlank()) {
            document.put("title", body.text("title"));
        }
        JsonNode answers = body.value("answers");
        if (answers instanceof ObjectNode given) {
            ((ObjectNode) document.path("answers")).setAll(given);
        }
        shelf.parse(document);
        Integer expected = SettingActions.expectedVersion(request);
        return actions.put(
                request,
                new IdempotentActions.ActionRequest("incident.put", before.name(), canonical(body.body()), String.valueOf(expected)),
                shelf.preparePut(new SettingRepository.SettingDraft(
                        before.ws(),
                        before.name(),
                        document,
                        expected == null ? Integer.valueOf(before.version()) : expected,
                        request.principal().tokenId())),
                IncidentRoutes::toJson);
    }
}
