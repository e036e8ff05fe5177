package dev.semel.server.api;

import dev.semel.runtime.SemelRuntime;
import dev.semel.error.SemelException;
import dev.semel.journal.JournalEntry;
import dev.semel.journal.JournalCodec;
import dev.semel.json.StrictJson;
import dev.semel.run.StepPathFormat;
import dev.semel.server.definition.WorkflowDefinition;
import dev.semel.server.definition.DraftEdit;
import dev.semel.server.definition.EffectKeyPreview;
import dev.semel.server.definition.LineDiff;
import dev.semel.server.definition.StepOutline;
import dev.semel.server.definition.StepSnippets;
import dev.semel.server.definition.WorkflowNameFinder;
import dev.semel.server.http.HttpResponse;
import dev.semel.server.http.ProblemResponses;
import dev.semel.server.http.HttpRequest;
import dev.semel.server.http.Router;
import dev.semel.server.http.TokenScope;
import dev.semel.store.StoreQueries;
import dev.semel.store.StoredRows;
import dev.semel.definition.CurrentWorkflow;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * Serves `POST /v1/drafts`: edits and checks an unpublished workflow text and stores nothing. Edits keep comments,
 * order and quotes. The response has the steps, errors, explanations and differences to the published version.
 */
final class WorkflowDraftRoutes {
    private static final int LARGEST_BODY = 1024 * 1024;
    private static final int MOST_EDITS = 64;
    private static final Set<String> MEMBERS = Set.of("text", "workflow", "edits", "step");

    private final SemelRuntime semel;
    private final WorkflowRoutes workflows;

    WorkflowDraftRoutes(SemelRuntime semel, WorkflowRoutes workflows) {
        this.semel = semel;
        this.workflows = workflows;
    }

    void addTo(Router router) {
        router.add(ApiRoutes.mutationRoute("POST", "/v1/drafts", TokenScope.READ, this::check).withMaxBody(LARGEST_BODY));
    }

    private HttpResponse check(HttpRequest request) {
        JsonBody body = JsonBody.parse(request, MEMBERS);
        int workspace = request.principal().workspace();
        String named = body.text("workflow");
        CurrentWorkflow current = named.isEmpty() ? null : semel.workflow(workspace, named);
        if (current == null && !named.isEmpty()) {
            throw TriggerRoutes.unknownWorkflow();
        }
        String text = applyEdits(text(body), body.value("edits"));
        String name = current == null
                ? WorkflowNameFinder.find(text).orElse("")
                : current.published().name();
        ObjectNode out = JsonViews.newObject().put("text", text).put("workflow", name);
        WorkflowDefinition definition = addProblems(out, request, text, name);
        StepOutline outline = StepOutline.of(text);
        steps(out.putArray("steps"), outline);
        ArrayNode kinds = out.putArray("kinds");
        StepSnippets.kinds().forEach(kinds::add);
        if (definition != null) {
            ExplanationRoutes.addAnswers(out, definition);
        }
        if (current != null) {
            addDiff(out.putObject("diff"), current, text, definition);
        }
        String step = body.text("step");
        outline.step(step).ifPresent(found -> out.set("fields", found.fields()));
        if (definition != null && current != null && !step.isEmpty()) {
            preview(out, definition, newest(workspace, current), step);
        }
        return JsonViews.ok(out);
    }

    private static String text(JsonBody body) {
        if (body.value("text") instanceof JsonNode text && text.isString()) {
            return text.stringValue();
        }
        throw TriggerRequestBody.invalidBody("/text", "text must be a string with the YAML of a workflow file");
    }

    private static String applyEdits(String text, @Nullable JsonNode edits) {
        if (edits == null || edits.isNull()) {
            return text;
        }
        if (!edits.isArray() || edits.size() > MOST_EDITS) {
            throw TriggerRequestBody.invalidBody("/edits", "edits must be a list of at most " + MOST_EDITS + " edits");
        }
        String now = text;
        for (JsonNode edit : edits) {
            now = edit(edit).applyTo(now);
        }
        return now;
    }

    private static DraftEdit edit(JsonNode edit) {
        String step = edit.path("step").asString("");
        return switch (edit.path("op").asString("")) {
            case "set" -> new DraftEdit.SetField(step, field(edit), edit.path("value"));
            case "clear" -> new DraftEdit.RemoveField(step, field(edit));
            case "add" ->
                new DraftEdit.AddStep(
                        step, edit.path("id").asString(""), edit.path("kind").asString(""));
            case "up" -> new DraftEdit.MoveStep(step, true);
            case "down" -> new DraftEdit.MoveStep(step, false);
            case "delete" -> new DraftEdit.DeleteStep(step);
            default -> throw TriggerRequestBody.invalidBody("/edits", "op must be set, clear, add, up, down or delete");
        };
    }

    private static String field(JsonNode edit) {
        String field = edit.path("field").asString("");
        if (field.isEmpty()
                || field.length() > 200
                || List.of(field.split("\\.", -1)).contains("")) {
            throw TriggerRequestBody.invalidBody("/edits", "field must be names with dots between them, such as idempotent.time");
        }
        return field;
    }

    /** Adds the errors and warnings of the text. Null if the text cannot be published. */
    private @Nullable WorkflowDefinition addProblems(ObjectNode out, HttpRequest request, String text, String name) {
        ArrayNode errors = out.putArray("errors");
        ArrayNode warnings = out.putArray("warnings");
        try {
            WorkflowDefinition definition = workflows.compileAndCheck(request.principal().workspace(), name, text, false);
            definition.warnings().forEach(warnings::add);
            out.put("valid", true);
            return definition;
        } catch (SemelException e) {
            out.put("valid", false)
                    .putObject("problem")
                    .put("detail", e.detail())
                    .put("fix", e.fix());
            ProblemResponses.toDocument(e, request.id()).path("errors").forEach(errors::add);
            return null;
        }
    }

    private static void steps(ArrayNode out, StepOutline outline) {
        for (StepOutline.OutlineStep step : outline.steps()) {
            JsonNode fields = step.fields();
            ObjectNode one = out.addObject()
                    .put("step", step.id())
                    .put("kind", step.kind())
                    .put("depth", step.position().depth())
                    .put("branch", step.position().branch())
                    .put("line", step.position().line())
                    .put("first", step.index() == 0)
                    .put("last", step.position().last());
            for (String name : List.of("protect", "idempotent")) {
                if (fields.has(name)) {
                    one.set(name, fields.get(name));
                }
            }
            if (!step.kind().isEmpty()) {
                one.set("says", withoutSteps(fields.path(step.kind())));
            }
        }
    }

    /** The value of the step's kind, without nested steps. */
    private static JsonNode withoutSteps(JsonNode value) {
        if (value.isArray()) {
            return JsonViews.newObject().put("count", value.size());
        }
        if (!value.isObject()) {
            return value;
        }
        ObjectNode plain = JsonViews.newObject();
        value.properties().forEach(member -> {
            if (!member.getValue().isContainer()) {
                plain.set(member.getKey(), member.getValue());
            }
        });
        return plain;
    }

    private static void addDiff(ObjectNode out, CurrentWorkflow current, String text, @Nullable WorkflowDefinition definition) {
        WorkflowDefinition before = FileWorkflow.definitionOf(current.published());
        out.put("version", current.published().version());
        out.put("tag", WorkflowPrecondition.of(current).etag());
        CurrentWorkflow.Candidate candidate = current.candidate();
        if (candidate != null) {
            out.putObject("candidate")
                    .put("version", candidate.published().version())
                    .put("share", candidate.rolloutPercentage());
        }
        out.put("unified", LineDiff.unified(before.text(), text));
        ArrayNode notes = out.putArray("notes");
        if (definition != null) {
            WorkflowVersionRoutes.addNotes(notes, before, definition);
        }
    }

    /** Adds the effect key that a step would have with the data of the newest run. */
    private void preview(ObjectNode out, WorkflowDefinition definition, StoredRows.@Nullable RunRow run, String step) {
        if (run == null || run.input().isEmpty()) {
            return;
        }
        PiiMasks.PiiMask mask = new PiiMasks(semel).of(run, FileWorkflow.pii(definition));
        var held = new EffectKeyPreview.RunValues(StrictJson.parse(run.input()), results(run));
        Map<String, JsonNode> results = new HashMap<>();
        held.results().forEach((id, result) -> results.put(id, mask.maskValue(result)));
        var shown = new EffectKeyPreview.RunValues(mask.maskInput(held.input()), results);
        EffectKeyPreview preview =
                EffectKeyPreview.of(definition, step, new EffectKeyPreview.RunView(held, shown, Set.copyOf(mask.fieldNames())));
        if (preview != null) {
            out.putObject("preview")
                    .put("run_id", run.runIdText())
                    .put("key", preview.key())
                    .put("problem", preview.problem());
        }
    }

    private StoredRows.@Nullable RunRow newest(int workspace, CurrentWorkflow current) {
        String id = current.published().workflowId();
        return semel.view(reads -> {
            List<StoredRows.RunRow> newest = reads.runs(new StoreQueries.RunFilter(workspace, id, null, null, false, 0, null, 1));
            return newest.isEmpty()
                    ? null
                    : reads.run(workspace, newest.getFirst().id());
        });
    }

    /** The recorded result of each step of the run; for steps in loops, the last one. */
    private Map<String, JsonNode> results(StoredRows.RunRow run) {
        List<String> chunks = Objects.requireNonNull(semel.view(reads ->
                reads.journal(run.id()).stream().map(StoreQueries.JournalChunk::entries).toList()));
        Map<String, JsonNode> results = new HashMap<>();
        chunks.forEach(chunk -> JournalCodec.decode(chunk).forEach(entry -> addResult(results, entry)));
        if (run.end() != null) {
            JournalCodec.decode(run.end().entries()).forEach(entry -> addResult(results, entry));
        }
        return results;
    }

    private static void addResult(Map<String, JsonNode> results, JournalEntry entry) {
        if (entry instanceof JournalEntry.StepResult done) {
            results.put(done.path().substring(StepPathFormat.scopeOf(done.path()).length()), done.result());
        }
    }
}
