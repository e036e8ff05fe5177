package dev.semel.server.operations.workflow;

import dev.semel.definition.WorkflowCatalogEntry;
import dev.semel.error.SemelException;
import dev.semel.journal.JournalEntry;
import dev.semel.json.StrictJsonCodec;
import dev.semel.run.JournalStepPathFormat;
import dev.semel.runtime.SemelRuntime;
import dev.semel.server.files.definition.EffectIdempotencyKeyPreview;
import dev.semel.server.files.definition.LineDiff;
import dev.semel.server.files.definition.NewStepYamlSnippets;
import dev.semel.server.files.definition.WorkflowDefinition;
import dev.semel.server.files.definition.WorkflowDraftEdit;
import dev.semel.server.files.definition.WorkflowDraftStepOutline;
import dev.semel.server.files.definition.YamlWorkflowNameReader;
import dev.semel.server.http.HttpProblemResponseMapper;
import dev.semel.server.http.ServerHttpRequest;
import dev.semel.server.http.ServerHttpResponse;
import dev.semel.server.http.TokenScope;
import dev.semel.server.operations.ApiRouter;
import dev.semel.server.operations.InboundJsonRequestBody;
import dev.semel.server.operations.PublishedYamlWorkflow;
import dev.semel.server.query.ApiErrors;
import dev.semel.server.query.PiiMask;
import dev.semel.server.query.RunJsonRenderer;
import dev.semel.server.query.RunPiiMaskFactory;
import dev.semel.server.query.StoreReader;
import dev.semel.store.DatabaseRows;
import dev.semel.store.StoreQueries;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * Serves `POST /v1/drafts`: edits and checks an unpublished workflow text and stores nothing. Edits keep comments,
 * order and quotes. The response has the steps, errors, explanations and differences to the published version.
 */
public record WorkflowDraftRoutes(SemelRuntime semel, WorkflowRoutes workflows) {
    private static final int LARGEST_BODY = 1024 * 1024;
    private static final int MOST_EDITS = 64;
    private static final Set<String> MEMBERS = Set.of("text", "workflow", "edits", "step");

    public void addTo(ApiRouter router) {
        router.change("POST", "/v1/drafts", TokenScope.READ, router.cpuBound(this::check), LARGEST_BODY);
    }

    private ServerHttpResponse check(ServerHttpRequest request) {
        InboundJsonRequestBody body = InboundJsonRequestBody.parse(request, MEMBERS);
        int workspace = request.principal().workspace();
        String named = body.text("workflow");
        WorkflowCatalogEntry current = named.isEmpty() ? null : semel.workflow(workspace, named);
        if (current == null && !named.isEmpty()) {
            throw ApiErrors.unknownWorkflow();
        }
        String text = applyEdits(text(body), body.value("edits"));
        String name = current == null
                ? YamlWorkflowNameReader.find(text).orElse("")
                : current.published().name();
        ObjectNode out = RunJsonRenderer.newObject().put("text", text).put("workflow", name);
        WorkflowDefinition definition = addProblems(out, request, text, name);
        WorkflowDraftStepOutline outline = WorkflowDraftStepOutline.of(text);
        steps(out.putArray("steps"), outline);
        NewStepYamlSnippets.kinds().forEach(out.putArray("kinds")::add);
        if (definition != null) {
            WorkflowIdempotencyExplanationRoutes.addAnswers(out, definition);
        }
        if (current != null) {
            addDiff(out.putObject("diff"), current, text, definition);
        }
        String step = body.text("step");
        outline.step(step).ifPresent(found -> out.set("fields", found.fields()));
        if (definition != null && current != null && !step.isEmpty()) {
            preview(out, definition, newest(workspace, current), step);
        }
        return RunJsonRenderer.ok(out);
    }

    private static String text(InboundJsonRequestBody body) {
        if (body.value("text") instanceof JsonNode text && text.isString()) {
            return text.stringValue();
        }
        throw ApiErrors.invalidTrigger("/text", "text must be a string with the YAML of a workflow file");
    }

    private static String applyEdits(String text, @Nullable JsonNode edits) {
        if (edits == null || edits.isNull()) {
            return text;
        }
        if (!edits.isArray() || edits.size() > MOST_EDITS) {
            throw ApiErrors.invalidTrigger("/edits", "edits must be a list of at most " + MOST_EDITS + " edits");
        }
        return WorkflowDraftEdit.applyAll(
                text, edits.valueStream().map(WorkflowDraftRoutes::edit).toList());
    }

    private static WorkflowDraftEdit edit(JsonNode edit) {
        String step = edit.path("step").asString("");
        return switch (edit.path("op").asString("")) {
            case "set" -> new WorkflowDraftEdit.SetField(step, field(edit), edit.path("value"));
            case "clear" -> new WorkflowDraftEdit.RemoveField(step, field(edit));
            case "add" ->
                new WorkflowDraftEdit.AddStep(
                        step, edit.path("id").asString(""), edit.path("kind").asString(""));
            case "up" -> new WorkflowDraftEdit.MoveStep(step, true);
            case "down" -> new WorkflowDraftEdit.MoveStep(step, false);
            case "delete" -> new WorkflowDraftEdit.DeleteStep(step);
            default ->
                throw ApiErrors.invalidTrigger("/edits", "`op` must be one of set, clear, add, up, down, delete");
        };
    }

    private static String field(JsonNode edit) {
        String field = edit.path("field").asString("");
        if (field.isEmpty()
                || field.length() > 200
                || List.of(field.split("\\.", -1)).contains("")) {
            throw ApiErrors.invalidTrigger(
                    "/edits", "`field` must be names separated by dots, such as idempotent.time");
        }
        return field;
    }

    /** Adds the errors and warnings of the text. Null if the text cannot be published. */
    private @Nullable WorkflowDefinition addProblems(
            ObjectNode out, ServerHttpRequest request, String text, String name) {
        ArrayNode errors = out.putArray("errors");
        ArrayNode warnings = out.putArray("warnings");
        try {
            WorkflowDefinition definition =
                    workflows.compileAndCheck(request.principal().workspace(), name, text, false);
            definition.warnings(workflows.now()).forEach(warnings::add);
            out.put("valid", true);
            return definition;
        } catch (SemelException e) {
            out.put("valid", false)
                    .putObject("problem")
                    .put("detail", e.detail())
                    .put("fix", e.fix());
            HttpProblemResponseMapper.toDocument(e, request.id()).path("errors").forEach(errors::add);
            return null;
        }
    }

    private static void steps(ArrayNode out, WorkflowDraftStepOutline outline) {
        for (WorkflowDraftStepOutline.OutlineStep step : outline.steps()) {
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
                one.set("summary", withoutSteps(fields.path(step.kind())));
            }
        }
    }

    /** The value of the step's kind, without nested steps. */
    private static JsonNode withoutSteps(JsonNode value) {
        if (value.isArray()) {
            return RunJsonRenderer.newObject().put("count", value.size());
        }
        if (!value.isObject()) {
            return value;
        }
        ObjectNode plain = RunJsonRenderer.newObject();
        value.properties().forEach(member -> {
            if (!member.getValue().isContainer()) {
                plain.set(member.getKey(), member.getValue());
            }
        });
        return plain;
    }

    private static void addDiff(
            ObjectNode out, WorkflowCatalogEntry current, String text, @Nullable WorkflowDefinition definition) {
        WorkflowDefinition before = PublishedYamlWorkflow.definitionOf(current.published());
        out.put("version", current.published().version());
        out.put("tag", WorkflowPublishPrecondition.of(current).etag());
        WorkflowCatalogEntry.Candidate candidate = current.candidate();
        if (candidate != null) {
            out.putObject("candidate")
                    .put("version", candidate.published().version())
                    .put("percentage", candidate.rolloutPercentage());
        }
        out.put("unified", LineDiff.unified(before.text(), text));
        ArrayNode notes = out.putArray("notes");
        if (definition != null) {
            WorkflowVersionRoutes.addNotes(notes, before, definition);
        }
    }

    /** Adds the effect key that a step would have with the data of the newest run. */
    private void preview(
            ObjectNode out, WorkflowDefinition definition, DatabaseRows.@Nullable RunRow run, String step) {
        if (run == null || run.input().isEmpty()) {
            return;
        }
        PiiMask mask = new RunPiiMaskFactory(semel).of(run, PublishedYamlWorkflow.pii(definition));
        var held = new EffectIdempotencyKeyPreview.RunValues(StrictJsonCodec.parse(run.input()), results(run));
        Map<String, JsonNode> results = new HashMap<>();
        held.results().forEach((id, result) -> results.put(id, mask.maskValue(result)));
        var shown = new EffectIdempotencyKeyPreview.RunValues(mask.maskInput(held.input()), results);
        EffectIdempotencyKeyPreview preview = EffectIdempotencyKeyPreview.of(
                definition, step, new EffectIdempotencyKeyPreview.RunView(held, shown, Set.copyOf(mask.fieldNames())));
        if (preview != null) {
            out.putObject("preview")
                    .put("run_id", run.runIdText())
                    .put("key", preview.key())
                    .put("problem", preview.problem());
        }
    }

    private DatabaseRows.@Nullable RunRow newest(int workspace, WorkflowCatalogEntry current) {
        String id = current.published().workflowId();
        return semel.view(reads -> {
            List<DatabaseRows.RunRow> newest =
                    reads.runs(new StoreQueries.RunFilter(workspace, id, null, null, false, 0, null, 1, null));
            return newest.isEmpty()
                    ? null
                    : reads.run(workspace, newest.getFirst().id());
        });
    }

    /** The recorded result of each step of the run; for steps in loops, the last one. */
    private Map<String, JsonNode> results(DatabaseRows.RunRow run) {
        Map<String, JsonNode> results = new HashMap<>();
        for (JournalEntry entry : StoreReader.read(semel, reads -> StoreReader.journal(reads, run))) {
            if (entry instanceof JournalEntry.StepResult done) {
                results.put(
                        done.path()
                                .substring(JournalStepPathFormat.scopeOf(done.path())
                                        .length()),
                        done.result());
            }
        }
        return results;
    }
}
