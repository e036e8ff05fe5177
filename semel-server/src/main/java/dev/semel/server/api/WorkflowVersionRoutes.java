package dev.semel.server.api;

import dev.semel.runtime.SemelRuntime;
import dev.semel.error.ErrorCode;
import dev.semel.error.SemelException;
import dev.semel.json.StrictJson;
import dev.semel.workflow.RunState;
import dev.semel.server.definition.DefinitionChange;
import dev.semel.server.definition.WorkflowDefinition;
import dev.semel.server.definition.LineDiff;
import dev.semel.server.http.HttpResponse;
import dev.semel.server.http.HttpRequest;
import dev.semel.store.StoreCommand;
import dev.semel.store.Rollout;
import dev.semel.store.StoredRows;
import dev.semel.definition.CurrentWorkflow;
import java.util.List;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/** Serves the versions of a workflow: list, text, diff, promotion of a candidate and rollback. */
final class WorkflowVersionRoutes {
    /** Enough runs to judge a candidate, and few enough to count on every request. */
    private static final int RUNS_COUNTED = 10_000;

    private static final int MAX_REASON = 500;

    private final SemelRuntime semel;
    private final TriggerRoutes triggers;
    private final IdempotentActions actions;

    WorkflowVersionRoutes(SemelRuntime semel, TriggerRoutes triggers, IdempotentActions actions) {
        this.semel = semel;
        this.triggers = triggers;
        this.actions = actions;
    }

    TriggerRoutes triggers() {
        return triggers;
    }

    HttpResponse list(HttpRequest request) {
        StoredRows.WorkflowRow workflow = workflow(request);
        PagingParameters paging = PagingParameters.parse(request);
        int before = paging.after() == null ? Integer.MAX_VALUE : number("after", paging.after());
        List<StoredRows.VersionRow> rows = semel.view(reads -> reads.versions(workflow.workflowId(), before, paging.limit()));
        return JsonViews.pageResponse(
                rows == null ? List.of() : rows,
                paging.limit(),
                row -> version(row, workflow.rollout()),
                row -> String.valueOf(row.version()));
    }

    HttpResponse get(HttpRequest request) {
        StoredRows.WorkflowRow workflow = workflow(request);
        StoredRows.VersionRow row = find(workflow, number("version", request.parameter("version")));
        return JsonViews.ok(version(row, workflow.rollout()).put("definition", row.body()));
    }

    private static ObjectNode version(StoredRows.VersionRow row, Rollout rollout) {
        boolean candidate = row.version() == rollout.candidate();
        boolean current = row.version() == rollout.version();
        return JsonViews.newObject()
                .put("version", row.version())
                .put("role", candidate ? "candidate" : current ? "current" : "past")
                .put("share", candidate ? rollout.percentage() : current ? 100 - rollout.percentage() : 0)
                .put("published_at", JsonViews.formatTime(row.publishedAt()))
                .put("actor_id", row.by());
    }

    /**
     * Compares the current version with its candidate; without a candidate, the previous version with the current one.
     */
    HttpResponse diff(HttpRequest request) {
        StoredRows.WorkflowRow workflow = workflow(request);
        Rollout rollout = workflow.rollout();
        String to = request.query("to");
        String from = request.query("from");
        int usual = rollout.candidate() != 0 ? rollout.candidate() : rollout.version();
        int after = to == null ? usual : number("to", to);
        int before = from != null
                ? number("from", from)
                : after == rollout.candidate() ? rollout.version() : Math.max(1, after - 1);
        StoredRows.VersionRow old = find(workflow, before);
        StoredRows.VersionRow fresh = find(workflow, after);
        ObjectNode out = JsonViews.newObject()
                .put("workflow", workflow.name())
                .put("from", before)
                .put("to", after);
        out.put("unified", LineDiff.unified(old.body(), fresh.body()));
        addNotes(
                out.putArray("notes"),
                FileWorkflow.definitionOf(semel.version(workflow.workflowId(), before)),
                FileWorkflow.definitionOf(semel.version(workflow.workflowId(), after)));
        return JsonViews.ok(out);
    }

    /** Explains what changed keys and effects mean for unfinished runs. */
    static void addNotes(ArrayNode notes, WorkflowDefinition before, WorkflowDefinition after) {
        DefinitionChange.between(before, after)
                .forEach(change -> notes.addObject()
                        .put("field", change.field())
                        .put("from", change.from())
                        .put("to", change.to())
                        .put("means", change.consequence()));
    }

    HttpResponse promote(HttpRequest request) {
        CurrentWorkflow entry = triggers.findWorkflow(request.principal(), request.parameter("id"));
        int wanted = version(body(request));
        String id = entry.published().workflowId();
        IdempotentActions.ActionResult done = actions.runOnce(
                request,
                new IdempotentActions.ActionRequest("workflow.promote", id, String.valueOf(wanted)),
                new StoreCommand.PromoteCandidate(
                        request.principal().workspace(),
                        id,
                        wanted,
                        request.principal().tokenId()),
                row -> row == null || (wanted != 0 && row.version() != wanted) ? null : rolloutResult(row));
        if (done == null) {
            throw new SemelException(
                    ErrorCode.PRECONDITION_FAILED,
                    "Version " + wanted + " of workflow \"" + entry.published().name()
                            + "\" is not the candidate. Nothing was promoted.",
                    "Read the candidate version at GET /v1/workflows/" + entry.published().name() + ".");
        }
        return done.toResponse();
    }

    HttpResponse rollback(HttpRequest request) {
        CurrentWorkflow entry = triggers.findWorkflow(request.principal(), request.parameter("id"));
        JsonNode body = body(request);
        int wanted = version(body);
        String reason = reason(body.path("reason"));
        String id = entry.published().workflowId();
        IdempotentActions.ActionResult done = actions.runOnce(
                request,
                new IdempotentActions.ActionRequest("workflow.rollback", id, String.valueOf(wanted), reason),
                new StoreCommand.RollBackVersion(
                        request.principal().workspace(),
                        id,
                        wanted,
                        request.principal().tokenId(),
                        reason),
                // Without a version the request ends a candidate; a success response would hide that there was none.
                row -> row == null || (wanted == 0 && !row.changed()) ? null : rolloutResult(row));
        if (done == null) {
            throw wanted == 0 ? noCandidate(entry.published().name()) : noVersion(wanted);
        }
        return done.toResponse();
    }

    private static SemelException noCandidate(String workflow) {
        return new SemelException(
                ErrorCode.INVALID_INPUT,
                "Workflow \"" + workflow + "\" has no candidate to end, and the request has no version."
                        + " Nothing was changed.",
                "To roll back to an earlier version, send it: {\"version\": 3}. A repeat changes nothing.");
    }

    private static SemelException noVersion(int version) {
        return new SemelException(
                ErrorCode.NOT_FOUND,
                "This workflow has no version " + version + ". Nothing was changed.",
                "GET /v1/workflows/{id}/versions lists its versions.");
    }

    private static ObjectNode rolloutResult(StoredRows.WorkflowRow row) {
        ObjectNode out = JsonViews.newObject()
                .put("workflow_id", row.workflowId())
                .put("workflow", row.name())
                .put("version", row.version())
                .put("changed", row.changed());
        return addCandidate(out, row.rollout());
    }

    static ObjectNode addCandidate(ObjectNode out, Rollout rollout) {
        if (rollout.candidate() == 0) {
            return out.putNull("candidate");
        }
        out.putObject("candidate").put("version", rollout.candidate()).put("share", rollout.percentage());
        return out;
    }

    /** The rollout percentage of each version and the states of its newest runs. */
    ArrayNode rolloutJson(StoredRows.WorkflowRow workflow) {
        Rollout rollout = workflow.rollout();
        List<StoredRows.RunCount> tally = semel.view(reads -> reads.countRuns(workflow.ws(), workflow.workflowId(), RUNS_COUNTED));
        List<StoredRows.RunCount> counts = tally == null ? List.of() : tally;
        ArrayNode out = JsonViews.newObject().putArray("rollout");
        out.add(share(rollout.version(), 100 - rollout.percentage(), counts).put("role", "current"));
        if (rollout.candidate() != 0) {
            out.add(share(rollout.candidate(), rollout.percentage(), counts).put("role", "candidate"));
        }
        return out;
    }

    private static ObjectNode share(int version, int share, List<StoredRows.RunCount> counts) {
        ObjectNode out = JsonViews.newObject().put("version", version).put("share", share);
        out.putObject("runs")
                .put("completed", sum(counts, version, RunState.COMPLETED))
                .put("failed", sum(counts, version, RunState.FAILED))
                .put("cancelled", sum(counts, version, RunState.CANCELLED))
                .put("unfinished", sum(counts, version, null));
        return out;
    }

    private static long sum(List<StoredRows.RunCount> counts, int version, @Nullable RunState state) {
        return counts.stream()
                .filter(one -> one.version() == version)
                .filter(one -> state == null ? !one.state().hasEnded() : one.state() == state)
                .mapToLong(StoredRows.RunCount::runs)
                .sum();
    }

    StoredRows.WorkflowRow workflow(HttpRequest request) {
        StoredRows.WorkflowRow row = find(request.principal().workspace(), request.parameter("id"));
        if (row == null) {
            throw TriggerRoutes.unknownWorkflow();
        }
        return row;
    }

    StoredRows.@Nullable WorkflowRow find(int workspace, String name) {
        return semel.view(reads -> reads.workflow(workspace, name));
    }

    private StoredRows.VersionRow find(StoredRows.WorkflowRow workflow, int version) {
        StoredRows.VersionRow row = semel.view(reads -> reads.version(workflow.workflowId(), version));
        if (row == null) {
            throw noVersion(version);
        }
        return row;
    }

    private static JsonNode body(HttpRequest request) {
        if (request.body().length == 0) {
            return JsonViews.newObject();
        }
        ContentTypeCheck.requireJson(request);
        return StrictJson.parse(request.body());
    }

    /** The member `version` of a body; 0 if there is none. */
    private static int version(JsonNode body) {
        JsonNode version = body.path("version");
        if (version.isMissingNode() || version.isNull()) {
            return 0;
        }
        if (!version.isInt() || version.intValue() < 1) {
            throw TriggerRequestBody.invalidBody("/version", "version must be a number from 1");
        }
        return version.intValue();
    }

    private static String reason(JsonNode reason) {
        String text = reason.isString() ? reason.stringValue() : "";
        boolean fits = reason.isMissingNode() || reason.isString();
        if (!fits || text.length() > MAX_REASON || text.indexOf(0) >= 0) {
            throw TriggerRequestBody.invalidBody("/reason", "reason must be text of at most " + MAX_REASON + " characters");
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
        throw PagingParameters.invalidQuery(name + " must be the number of a version");
    }
}
