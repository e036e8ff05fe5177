package dev.semel.server.api;

import dev.semel.Semel;
import dev.semel.error.ErrorCode;
import dev.semel.error.SemelException;
import dev.semel.json.Json;
import dev.semel.run.RunState;
import dev.semel.server.definition.Change;
import dev.semel.server.definition.Definition;
import dev.semel.server.definition.LineDiff;
import dev.semel.server.http.Answer;
import dev.semel.server.http.Request;
import dev.semel.store.Edit;
import dev.semel.store.Rollout;
import dev.semel.store.Rows;
import dev.semel.workflow.Current;
import java.util.List;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/** Serves the versions of a workflow: list, text, diff, promotion of a candidate and rollback. */
final class Rollouts {
    /** Enough runs to judge a candidate, and few enough to count on every request. */
    private static final int RUNS_COUNTED = 10_000;

    private static final int MAX_REASON = 500;

    private final Semel semel;
    private final Triggers triggers;
    private final Deeds actions;

    Rollouts(Semel semel, Triggers triggers, Deeds actions) {
        this.semel = semel;
        this.triggers = triggers;
        this.actions = actions;
    }

    Triggers triggers() {
        return triggers;
    }

    Answer list(Request request) {
        Rows.Workflow workflow = workflow(request);
        Paging paging = Paging.of(request);
        int before = paging.after() == null ? Integer.MAX_VALUE : number("after", paging.after());
        List<Rows.Version> rows = semel.view(reads -> reads.versions(workflow.workflowId(), before, paging.limit()));
        return Views.page(
                rows == null ? List.of() : rows,
                paging.limit(),
                row -> version(row, workflow.rollout()),
                row -> String.valueOf(row.version()));
    }

    Answer get(Request request) {
        Rows.Workflow workflow = workflow(request);
        Rows.Version row = find(workflow, number("version", request.parameter("version")));
        return Views.ok(version(row, workflow.rollout()).put("definition", row.body()));
    }

    private static ObjectNode version(Rows.Version row, Rollout rollout) {
        boolean candidate = row.version() == rollout.candidate();
        boolean current = row.version() == rollout.version();
        return Views.object()
                .put("version", row.version())
                .put("role", candidate ? "candidate" : current ? "current" : "past")
                .put("share", candidate ? rollout.share() : current ? 100 - rollout.share() : 0)
                .put("published_at", Views.time(row.publishedAt()))
                .put("actor_id", row.by());
    }

    /**
     * Compares the current version with its candidate; without a candidate, the previous version with the current one.
     */
    Answer diff(Request request) {
        Rows.Workflow workflow = workflow(request);
        Rollout rollout = workflow.rollout();
        String to = request.query("to");
        String from = request.query("from");
        int usual = rollout.candidate() != 0 ? rollout.candidate() : rollout.version();
        int after = to == null ? usual : number("to", to);
        int before = from != null
                ? number("from", from)
                : after == rollout.candidate() ? rollout.version() : Math.max(1, after - 1);
        Rows.Version old = find(workflow, before);
        Rows.Version fresh = find(workflow, after);
        ObjectNode out = Views.object()
                .put("workflow", workflow.name())
                .put("from", before)
                .put("to", after);
        out.put("unified", LineDiff.unified(old.body(), fresh.body()));
        notes(
                out.putArray("notes"),
                FileWorkflow.of(semel.version(workflow.workflowId(), before)),
                FileWorkflow.of(semel.version(workflow.workflowId(), after)));
        return Views.ok(out);
    }

    /** Explains what changed keys and effects mean for unfinished runs. */
    static void notes(ArrayNode notes, Definition before, Definition after) {
        Change.between(before, after)
                .forEach(change -> notes.addObject()
                        .put("field", change.field())
                        .put("from", change.from())
                        .put("to", change.to())
                        .put("means", change.means()));
    }

    Answer promote(Request request) {
        Current entry = triggers.workflow(request.principal(), request.parameter("id"));
        int wanted = version(body(request));
        String id = entry.published().workflowId();
        Deeds.Done done = actions.once(
                request,
                new Deeds.Deed("workflow.promote", id, String.valueOf(wanted)),
                new Edit.Promote(
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
        return done.answer();
    }

    Answer rollback(Request request) {
        Current entry = triggers.workflow(request.principal(), request.parameter("id"));
        JsonNode body = body(request);
        int wanted = version(body);
        String reason = reason(body.path("reason"));
        String id = entry.published().workflowId();
        Deeds.Done done = actions.once(
                request,
                new Deeds.Deed("workflow.rollback", id, String.valueOf(wanted), reason),
                new Edit.Rollback(
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
        return done.answer();
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

    private static ObjectNode rolloutResult(Rows.Workflow row) {
        ObjectNode out = Views.object()
                .put("workflow_id", row.workflowId())
                .put("workflow", row.name())
                .put("version", row.version())
                .put("changed", row.changed());
        return candidate(out, row.rollout());
    }

    static ObjectNode candidate(ObjectNode out, Rollout rollout) {
        if (rollout.candidate() == 0) {
            return out.putNull("candidate");
        }
        out.putObject("candidate").put("version", rollout.candidate()).put("share", rollout.share());
        return out;
    }

    /** The rollout percentage of each version and the states of its newest runs. */
    ArrayNode shares(Rows.Workflow workflow) {
        Rollout rollout = workflow.rollout();
        List<Rows.Tally> tally = semel.view(reads -> reads.tally(workflow.ws(), workflow.workflowId(), RUNS_COUNTED));
        List<Rows.Tally> counts = tally == null ? List.of() : tally;
        ArrayNode out = Views.object().putArray("rollout");
        out.add(share(rollout.version(), 100 - rollout.share(), counts).put("role", "current"));
        if (rollout.candidate() != 0) {
            out.add(share(rollout.candidate(), rollout.share(), counts).put("role", "candidate"));
        }
        return out;
    }

    private static ObjectNode share(int version, int share, List<Rows.Tally> counts) {
        ObjectNode out = Views.object().put("version", version).put("share", share);
        out.putObject("runs")
                .put("completed", sum(counts, version, RunState.COMPLETED))
                .put("failed", sum(counts, version, RunState.FAILED))
                .put("cancelled", sum(counts, version, RunState.CANCELLED))
                .put("unfinished", sum(counts, version, null));
        return out;
    }

    private static long sum(List<Rows.Tally> counts, int version, @Nullable RunState state) {
        return counts.stream()
                .filter(one -> one.version() == version)
                .filter(one -> state == null ? !one.state().ended() : one.state() == state)
                .mapToLong(Rows.Tally::runs)
                .sum();
    }

    Rows.Workflow workflow(Request request) {
        Rows.Workflow row = find(request.principal().workspace(), request.parameter("id"));
        if (row == null) {
            throw Triggers.unknownWorkflow();
        }
        return row;
    }

    Rows.@Nullable Workflow find(int workspace, String name) {
        return semel.view(reads -> reads.workflow(workspace, name));
    }

    private Rows.Version find(Rows.Workflow workflow, int version) {
        Rows.Version row = semel.view(reads -> reads.version(workflow.workflowId(), version));
        if (row == null) {
            throw noVersion(version);
        }
        return row;
    }

    private static JsonNode body(Request request) {
        if (request.body().length == 0) {
            return Views.object();
        }
        MediaTypes.requireJson(request);
        return Json.parse(request.body());
    }

    /** The member `version` of a body; 0 if there is none. */
    private static int version(JsonNode body) {
        JsonNode version = body.path("version");
        if (version.isMissingNode() || version.isNull()) {
            return 0;
        }
        if (!version.isInt() || version.intValue() < 1) {
            throw Ask.invalid("/version", "version must be a number from 1");
        }
        return version.intValue();
    }

    private static String reason(JsonNode reason) {
        String text = reason.isString() ? reason.stringValue() : "";
        boolean fits = reason.isMissingNode() || reason.isString();
        if (!fits || text.length() > MAX_REASON || text.indexOf(0) >= 0) {
            throw Ask.invalid("/reason", "reason must be text of at most " + MAX_REASON + " characters");
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
        throw Paging.refused(name + " must be the number of a version");
    }
}
