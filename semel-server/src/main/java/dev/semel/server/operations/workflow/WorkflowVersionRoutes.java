package dev.semel.server.operations.workflow;

import dev.semel.definition.WorkflowCatalogEntry;
import dev.semel.error.ErrorCode;
import dev.semel.error.SemelException;
import dev.semel.run.RunState;
import dev.semel.runtime.SemelRuntime;
import dev.semel.server.files.definition.LineDiff;
import dev.semel.server.files.definition.WorkflowDefinition;
import dev.semel.server.files.definition.WorkflowDefinitionChange;
import dev.semel.server.http.ServerHttpRequest;
import dev.semel.server.http.ServerHttpResponse;
import dev.semel.server.operations.ActionRequest;
import dev.semel.server.operations.IdempotentInboundRequestExecutor;
import dev.semel.server.operations.InboundJsonRequestBody;
import dev.semel.server.operations.PublishedYamlWorkflow;
import dev.semel.server.query.ApiErrors;
import dev.semel.server.query.PagingParameters;
import dev.semel.server.query.RunJsonRenderer;
import dev.semel.server.query.StoreReader;
import dev.semel.store.DatabaseRows;
import dev.semel.store.StoreWriteCommand;
import dev.semel.store.WorkflowVersionRollout;
import java.util.List;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/** Serves the versions of a workflow: list, text, diff, promotion of a candidate and rollback. */
public record WorkflowVersionRoutes(SemelRuntime semel, IdempotentInboundRequestExecutor actions) {
    /** Enough runs to judge a candidate, and few enough to count on every request. */
    private static final int RUNS_COUNTED = 10_000;

    private static final int MAX_REASON = 500;

    public ServerHttpResponse list(ServerHttpRequest request) {
        DatabaseRows.WorkflowRow workflow = workflow(request);
        PagingParameters paging = PagingParameters.parse(request);
        int before = paging.after() == null ? Integer.MAX_VALUE : number("after", paging.after());
        return RunJsonRenderer.pageResponse(
                StoreReader.read(semel, reads -> reads.versions(workflow.workflowId(), before, paging.limit())),
                paging.limit(),
                row -> version(row, workflow.rollout()),
                row -> String.valueOf(row.version()));
    }

    public ServerHttpResponse get(ServerHttpRequest request) {
        DatabaseRows.WorkflowRow workflow = workflow(request);
        DatabaseRows.VersionRow row = find(workflow, number("version", request.parameter("version")));
        return RunJsonRenderer.ok(version(row, workflow.rollout()).put("definition", row.body()));
    }

    private static ObjectNode version(DatabaseRows.VersionRow row, WorkflowVersionRollout rollout) {
        boolean candidate = row.version() == rollout.candidate();
        boolean current = row.version() == rollout.version();
        return RunJsonRenderer.newObject()
                .put("version", row.version())
                .put("role", candidate ? "candidate" : current ? "current" : "past")
                .put("percentage", candidate ? rollout.percentage() : current ? 100 - rollout.percentage() : 0)
                .put("published_at", RunJsonRenderer.formatTime(row.publishedAt()))
                .put("actor_id", row.by());
    }

    /** Compares the current version with its candidate; without a candidate, the previous with the current one. */
    public ServerHttpResponse diff(ServerHttpRequest request) {
        DatabaseRows.WorkflowRow workflow = workflow(request);
        WorkflowVersionRollout rollout = workflow.rollout();
        String to = request.query("to");
        String from = request.query("from");
        int usual = rollout.candidate() != 0 ? rollout.candidate() : rollout.version();
        int after = to == null ? usual : number("to", to);
        int before = from != null
                ? number("from", from)
                : after == rollout.candidate() ? rollout.version() : Math.max(1, after - 1);
        DatabaseRows.VersionRow old = find(workflow, before);
        DatabaseRows.VersionRow fresh = find(workflow, after);
        ObjectNode out = RunJsonRenderer.newObject()
                .put("workflow", workflow.name())
                .put("from", before)
                .put("to", after);
        out.put("unified", LineDiff.unified(old.body(), fresh.body()));
        addNotes(
                out.putArray("notes"),
                PublishedYamlWorkflow.definitionOf(semel.version(workflow.workflowId(), before)),
                PublishedYamlWorkflow.definitionOf(semel.version(workflow.workflowId(), after)));
        return RunJsonRenderer.ok(out);
    }

    /** Explains what changed keys and effects mean for unfinished runs. */
    static void addNotes(ArrayNode notes, WorkflowDefinition before, WorkflowDefinition after) {
        WorkflowDefinitionChange.between(before, after)
                .forEach(change -> notes.addObject()
                        .put("field", change.field())
                        .put("from", change.from())
                        .put("to", change.to())
                        .put("impact", change.consequence()));
    }

    public ServerHttpResponse promote(ServerHttpRequest request) {
        WorkflowCatalogEntry entry =
                StoreReader.workflow(semel, request.principal().workspace(), request.parameter("id"));
        int wanted = version(body(request));
        String id = entry.published().workflowId();
        return ApiErrors.orThrow(
                        actions.runOnce(
                                request,
                                new ActionRequest("workflow.promote", id, String.valueOf(wanted)),
                                new StoreWriteCommand.PromoteCandidate(
                                        request.principal().workspace(),
                                        id,
                                        wanted,
                                        request.principal().tokenId()),
                                row -> row == null || (wanted != 0 && row.version() != wanted)
                                        ? null
                                        : rolloutResult(row)),
                        () -> new SemelException(
                                ErrorCode.PRECONDITION_FAILED,
                                "Version " + wanted + " of workflow \""
                                        + entry.published().name()
                                        + "\" is not the candidate version. Nothing was promoted.",
                                "Read the candidate version at GET /v1/workflows/"
                                        + entry.published().name() + "."))
                .toResponse();
    }

    public ServerHttpResponse rollback(ServerHttpRequest request) {
        WorkflowCatalogEntry entry =
                StoreReader.workflow(semel, request.principal().workspace(), request.parameter("id"));
        JsonNode body = body(request);
        int wanted = version(body);
        String reason = reason(body.path("reason"));
        String id = entry.published().workflowId();
        return ApiErrors.orThrow(
                        actions.runOnce(
                                request,
                                new ActionRequest("workflow.rollback", id, String.valueOf(wanted), reason),
                                new StoreWriteCommand.RollBackVersion(
                                        request.principal().workspace(),
                                        id,
                                        wanted,
                                        request.principal().tokenId(),
                                        reason),
                                // Without a version the request ends a candidate; a success response would hide that
                                // there was none.
                                row -> row == null || (wanted == 0 && !row.changed()) ? null : rolloutResult(row)),
                        () -> wanted == 0 ? noCandidate(entry.published().name()) : noVersion(wanted))
                .toResponse();
    }

    private static SemelException noCandidate(String workflow) {
        return ApiErrors.invalidInput(
                "Workflow \"" + workflow + "\" has no candidate version, and the request names no version."
                        + " Nothing was changed.",
                "To roll back to an earlier version, send its number, for example {\"version\": 3}. Repeating the"
                        + " request changes nothing.");
    }

    private static SemelException noVersion(int version) {
        return ApiErrors.notFound(
                "This workflow has no version " + version + ". Nothing was changed.",
                "GET /v1/workflows/{id}/versions lists its versions.");
    }

    static ObjectNode rolloutResult(DatabaseRows.WorkflowRow row) {
        ObjectNode out = RunJsonRenderer.newObject()
                .put("workflow_id", row.workflowId())
                .put("workflow", row.name())
                .put("version", row.version())
                .put("changed", row.changed());
        WorkflowVersionRollout rollout = row.rollout();
        if (rollout.candidate() == 0) {
            return out.putNull("candidate");
        }
        out.putObject("candidate").put("version", rollout.candidate()).put("percentage", rollout.percentage());
        return out;
    }

    /** The rollout percentage of each version and the states of its newest runs. */
    ArrayNode rolloutJson(DatabaseRows.WorkflowRow workflow) {
        WorkflowVersionRollout rollout = workflow.rollout();
        List<DatabaseRows.RunCount> counts =
                StoreReader.read(semel, reads -> reads.countRuns(workflow.ws(), workflow.workflowId(), RUNS_COUNTED));
        ArrayNode out = RunJsonRenderer.newObject().putArray("rollout");
        out.add(share(rollout.version(), 100 - rollout.percentage(), counts).put("role", "current"));
        if (rollout.candidate() != 0) {
            out.add(share(rollout.candidate(), rollout.percentage(), counts).put("role", "candidate"));
        }
        return out;
    }

    private static ObjectNode share(int version, int share, List<DatabaseRows.RunCount> counts) {
        ObjectNode out = RunJsonRenderer.newObject().put("version", version).put("percentage", share);
        out.putObject("runs")
                .put("completed", sum(counts, version, RunState.COMPLETED))
                .put("failed", sum(counts, version, RunState.FAILED))
                .put("cancelled", sum(counts, version, RunState.CANCELLED))
                .put("unfinished", sum(counts, version, null));
        return out;
    }

    private static long sum(List<DatabaseRows.RunCount> counts, int version, @Nullable RunState state) {
        return counts.stream()
                .filter(one -> one.version() == version)
                .filter(one -> state == null ? !one.state().hasEnded() : one.state() == state)
                .mapToLong(DatabaseRows.RunCount::runs)
                .sum();
    }

    DatabaseRows.WorkflowRow workflow(ServerHttpRequest request) {
        return ApiErrors.orThrow(
                find(request.principal().workspace(), request.parameter("id")), ApiErrors::unknownWorkflow);
    }

    DatabaseRows.@Nullable WorkflowRow find(int workspace, String name) {
        return semel.view(reads -> reads.workflow(workspace, name));
    }

    private DatabaseRows.VersionRow find(DatabaseRows.WorkflowRow workflow, int version) {
        return ApiErrors.orThrow(
                semel.view(reads -> reads.version(workflow.workflowId(), version)), () -> noVersion(version));
    }

    private static JsonNode body(ServerHttpRequest request) {
        if (request.body().length == 0) {
            return RunJsonRenderer.newObject();
        }
        return InboundJsonRequestBody.parseAny(request);
    }

    /** The member `version` of a body; 0 if there is none. */
    private static int version(JsonNode body) {
        JsonNode version = body.path("version");
        if (version.isMissingNode() || version.isNull()) {
            return 0;
        }
        if (!version.isInt() || version.intValue() < 1) {
            throw ApiErrors.invalidTrigger("/version", "version must be a number from 1");
        }
        return version.intValue();
    }

    private static String reason(JsonNode reason) {
        String text = reason.isString() ? reason.stringValue() : "";
        boolean fits = reason.isMissingNode() || reason.isString();
        if (!fits || text.length() > MAX_REASON || text.indexOf(0) >= 0) {
            throw ApiErrors.invalidTrigger("/reason", "reason must be text of at most " + MAX_REASON + " characters");
        }
        return text;
    }

    private static int number(String name, String text) {
        if (text.length() <= 9 && !text.isEmpty() && text.chars().allMatch(c -> c >= '0' && c <= '9')) {
            int value = Integer.parseInt(text);
            if (value >= 1) {
                return value;
            }
        }
        throw ApiErrors.invalidQuery(name + " must be the number of a version");
    }
}
