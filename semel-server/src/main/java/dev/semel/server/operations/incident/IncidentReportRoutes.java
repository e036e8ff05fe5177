package dev.semel.server.operations.incident;

import dev.semel.error.SemelException;
import dev.semel.json.StrictJsonCodec;
import dev.semel.runtime.SemelRuntime;
import dev.semel.server.http.ServerHttpRequest;
import dev.semel.server.http.ServerHttpResponse;
import dev.semel.server.http.TokenScope;
import dev.semel.server.operations.ActionRequest;
import dev.semel.server.operations.ApiRouter;
import dev.semel.server.operations.InboundJsonRequestBody;
import dev.semel.server.operations.access.AuditFilter;
import dev.semel.server.operations.setting.WorkspaceSettingUpdater;
import dev.semel.server.query.ApiErrors;
import dev.semel.server.query.PagingParameters;
import dev.semel.server.query.RunJsonRenderer;
import dev.semel.server.query.StoreReader;
import dev.semel.server.settings.IncidentReport;
import dev.semel.server.settings.WorkspaceSettingNameValidator;
import dev.semel.server.settings.WorkspaceSettingRepository;
import dev.semel.store.DatabaseRows;
import java.nio.charset.StandardCharsets;
import java.util.Set;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/** Serves incident reports: drafts them from stored facts, and stores the users' edits as versions. */
public record IncidentReportRoutes(
        SemelRuntime semel, WorkspaceSettingRepository<IncidentReport> repository, WorkspaceSettingUpdater actions) {
    private static final String ALL = "/v1/incidents";
    private static final String ONE = ALL + "/{incident_id}";
    private static final String MARKDOWN = "text/markdown; charset=utf-8";
    private static final String SUFFIX = ".md";
    private static final int LARGEST = 256 << 10;
    private static final int ID_FROM = "run_".length() + 10;

    public void addTo(ApiRouter router) {
        router.post(ALL, TokenScope.OPERATE, this::draft)
                .get(ALL, TokenScope.READ, this::list)
                .get(ONE, TokenScope.READ, this::get)
                .change("PUT", ONE, TokenScope.OPERATE, this::put, LARGEST);
    }

    /** Collects the facts of the period and drafts answers to the five questions. */
    ServerHttpResponse draft(ServerHttpRequest request) {
        InboundJsonRequestBody body =
                InboundJsonRequestBody.parse(request, Set.of("title", "since", "until", "workflow"));
        long now = StoreReader.now(semel);
        long since = parseTime(body, "since", now);
        long until = body.text("until").isEmpty() ? now : parseTime(body, "until", now);
        if (until <= since) {
            throw invalid("`until` must be later than `since`");
        }
        String workflow = body.text("workflow");
        String workflowId =
                StoreReader.workflowId(semel, request.principal().workspace(), workflow.isEmpty() ? null : workflow);
        int workspace = request.principal().workspace();
        ObjectNode facts = new IncidentReportDataCollector(
                        semel, new IncidentReportDataCollector.IncidentPeriod(workspace, workflowId, since, until))
                .collect();
        ObjectNode document = RunJsonRenderer.newObject()
                .put(
                        "title",
                        body.text("title").isBlank()
                                ? "Incident of " + RunJsonRenderer.formatTime(since)
                                : body.text("title"))
                .put("since", RunJsonRenderer.formatTime(since))
                .put("until", RunJsonRenderer.formatTime(until));
        if (!workflow.isEmpty()) {
            document.put("workflow", workflow);
        }
        document.set("facts", facts);
        IncidentReportMarkdownWriter.draftAnswers(facts).forEach(document.putObject("answers")::put);
        repository.parse(document);
        String id = "inc_" + semel.newId().text().substring(ID_FROM);
        return actions.put(
                request,
                new ActionRequest("incident.draft", ActionRequest.canonical(body.body())),
                repository.preparePut(new WorkspaceSettingRepository.SettingDraft(
                        workspace, id, document, 0, request.principal().tokenId())),
                IncidentReportRoutes::toJson);
    }

    private static long parseTime(InboundJsonRequestBody body, String name, long now) {
        String text = body.text(name);
        if (text.isEmpty()) {
            throw invalid("`since` is required: an age like 2h, or a time like 2026-11-15T08:40:00Z");
        }
        return AuditFilter.parseTime(name, text, now);
    }

    private static SemelException invalid(String rule) {
        return ApiErrors.invalidInput(
                "The server cannot draft the incident report: " + rule + ". Nothing was stored.",
                "Send {\"title\": …, \"since\": TIME, \"until\": TIME}.");
    }

    private static ObjectNode toJson(DatabaseRows.SettingRow row) {
        ObjectNode out = head(row);
        if (StrictJsonCodec.parse(row.body()) instanceof ObjectNode document) {
            out.setAll(document);
        }
        return out;
    }

    private static ObjectNode head(DatabaseRows.SettingRow row) {
        return RunJsonRenderer.newObject()
                .put("incident_id", row.name())
                .put("version", row.version())
                .put("changed_at", RunJsonRenderer.formatTime(row.changedAt()))
                .put("changed_by", row.changedBy());
    }

    ServerHttpResponse list(ServerHttpRequest request) {
        PagingParameters paging = PagingParameters.parse(request);
        int workspace = request.principal().workspace();
        return RunJsonRenderer.pageResponse(
                repository.page(workspace, paging.afterText(), paging.limit()),
                paging.limit(),
                row -> listed(workspace, row),
                row -> PagingParameters.encode(row.name()));
    }

    /** Lists omit long documents. An item needs only the title and the period. */
    private ObjectNode listed(int workspace, DatabaseRows.SettingRow row) {
        ObjectNode out = head(row);
        WorkspaceSettingRepository.StoredSetting<IncidentReport> stored = repository.find(workspace, row.name());
        if (stored != null) {
            IncidentReport incident = stored.value();
            out.put("title", incident.title()).put("since", incident.since()).put("until", incident.until());
        }
        return out;
    }

    /** Returns Markdown if the id ends with `.md` or `Accept` asks for it, JSON otherwise. */
    ServerHttpResponse get(ServerHttpRequest request) {
        String requested = request.parameter("incident_id");
        boolean page = requested.endsWith(SUFFIX)
                || String.valueOf(request.header("Accept")).contains("text/markdown");
        String id =
                requested.endsWith(SUFFIX) ? requested.substring(0, requested.length() - SUFFIX.length()) : requested;
        DatabaseRows.SettingRow row = row(request, id);
        if (!page) {
            return WorkspaceSettingUpdater.withEtag(RunJsonRenderer.ok(toJson(row)), row.version());
        }
        IncidentReport incident = repository.parse(StrictJsonCodec.parse(row.body()));
        return ServerHttpResponse.of(
                200,
                MARKDOWN,
                IncidentReportMarkdownWriter.markdown(incident, row.version()).getBytes(StandardCharsets.UTF_8));
    }

    private DatabaseRows.SettingRow row(ServerHttpRequest request, String id) {
        return ApiErrors.orNotFound(
                WorkspaceSettingNameValidator.isValid(id)
                        ? repository.findRow(request.principal().workspace(), id)
                        : null,
                "This workspace has no incident report with this id. Nothing was changed.",
                "List the incident reports with GET /v1/incidents.");
    }

    /** Changes the title and the given answers. The collected facts stay as they are. */
    ServerHttpResponse put(ServerHttpRequest request) {
        InboundJsonRequestBody body = InboundJsonRequestBody.parse(request, Set.of("title", "answers"));
        DatabaseRows.SettingRow before = row(request, request.parameter("incident_id"));
        ObjectNode document = (ObjectNode) StrictJsonCodec.parse(before.body());
        if (!body.text("title").isBlank()) {
            document.put("title", body.text("title"));
        }
        JsonNode answers = body.value("answers");
        if (answers instanceof ObjectNode given) {
            ((ObjectNode) document.path("answers")).setAll(given);
        }
        repository.parse(document);
        Integer expected = WorkspaceSettingUpdater.expectedVersion(request);
        return actions.put(
                request,
                new ActionRequest(
                        "incident.put", before.name(), ActionRequest.canonical(body.body()), String.valueOf(expected)),
                repository.preparePut(new WorkspaceSettingRepository.SettingDraft(
                        before.ws(),
                        before.name(),
                        document,
                        expected == null ? Integer.valueOf(before.version()) : expected,
                        request.principal().tokenId())),
                IncidentReportRoutes::toJson);
    }
}
