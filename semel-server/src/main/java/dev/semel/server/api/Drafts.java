package dev.semel.server.api;

import dev.semel.Semel;
import dev.semel.error.SemelException;
import dev.semel.journal.Entry;
import dev.semel.journal.Journal;
import dev.semel.json.Json;
import dev.semel.run.StepPath;
import dev.semel.server.definition.Definition;
import dev.semel.server.definition.DraftEdit;
import dev.semel.server.definition.KeyPreview;
import dev.semel.server.definition.LineDiff;
import dev.semel.server.definition.Outline;
import dev.semel.server.definition.StepText;
import dev.semel.server.definition.WorkflowName;
import dev.semel.server.http.Answer;
import dev.semel.server.http.Problems;
import dev.semel.server.http.Request;
import dev.semel.server.http.Router;
import dev.semel.server.http.Scope;
import dev.semel.store.Reads;
import dev.semel.store.Rows;
import dev.semel.workflow.Current;
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
final class Drafts {
    private static final int LARGEST_BODY = 1024 * 1024;
    private static final int MOST_EDITS = 64;
    private static final Set<String> MEMBERS = Set.of("text", "workflow", "edits", "step");

    private final Semel semel;
    private final Workflows workflows;

    Drafts(Semel semel, Workflows workflows) {
        this.semel = semel;
        this.workflows = workflows;
    }

    void addTo(Router router) {
        router.add(Api.changing("POST", "/v1/drafts", Scope.READ, this::check).withMaxBody(LARGEST_BODY));
    }

    private Answer check(Request request) {
        Said body = Said.in(request, MEMBERS);
        int workspace = request.principal().workspace();
        String named = body.text("workflow");
        Current current = named.isEmpty() ? null : semel.workflow(workspace, named);
        if (current == null && !named.isEmpty()) {
            throw Triggers.unknownWorkflow();
        }
        String text = applyEdits(text(body), body.value("edits"));
        String name = current == null
                ? WorkflowName.in(text).orElse("")
                : current.published().name();
        ObjectNode out = Views.object().put("text", text).put("workflow", name);
        Definition definition = addProblems(out, request, text, name);
        Outline outline = Outline.of(text);
        steps(out.putArray("steps"), outline);
        ArrayNode kinds = out.putArray("kinds");
        StepText.kinds().forEach(kinds::add);
        if (definition != null) {
            Explanations.answers(out, definition);
        }
        if (current != null) {
            addDiff(out.putObject("diff"), current, text, definition);
        }
        String step = body.text("step");
        outline.step(step).ifPresent(found -> out.set("fields", found.fields()));
        if (definition != null && current != null && !step.isEmpty()) {
            preview(out, definition, newest(workspace, current), step);
        }
        return Views.ok(out);
    }

    private static String text(Said body) {
        if (body.value("text") instanceof JsonNode text && text.isString()) {
            return text.stringValue();
        }
        throw Ask.invalid("/text", "text must be a string with the YAML of a workflow file");
    }

    private static String applyEdits(String text, @Nullable JsonNode edits) {
        if (edits == null || edits.isNull()) {
            return text;
        }
        if (!edits.isArray() || edits.size() > MOST_EDITS) {
            throw Ask.invalid("/edits", "edits must be a list of at most " + MOST_EDITS + " edits");
        }
        String now = text;
        for (JsonNode edit : edits) {
            now = edit(edit).in(now);
        }
        return now;
    }

    private static DraftEdit edit(JsonNode edit) {
        String step = edit.path("step").asString("");
        return switch (edit.path("op").asString("")) {
            case "set" -> new DraftEdit.Write(step, field(edit), edit.path("value"));
            case "clear" -> new DraftEdit.Clear(step, field(edit));
            case "add" ->
                new DraftEdit.Add(
                        step, edit.path("id").asString(""), edit.path("kind").asString(""));
            case "up" -> new DraftEdit.Move(step, true);
            case "down" -> new DraftEdit.Move(step, false);
            case "delete" -> new DraftEdit.Delete(step);
            default -> throw Ask.invalid("/edits", "op must be set, clear, add, up, down or delete");
        };
    }

    private static String field(JsonNode edit) {
        String field = edit.path("field").asString("");
        if (field.isEmpty()
                || field.length() > 200
                || List.of(field.split("\\.", -1)).contains("")) {
            throw Ask.invalid("/edits", "field must be names with dots between them, such as idempotent.time");
        }
        return field;
    }

    /** Adds the errors and warnings of the text. Null if the text cannot be published. */
    private @Nullable Definition addProblems(ObjectNode out, Request request, String text, String name) {
        ArrayNode errors = out.putArray("errors");
        ArrayNode warnings = out.putArray("warnings");
        try {
            Definition definition = workflows.checked(request.principal().workspace(), name, text, false);
            definition.warnings().forEach(warnings::add);
            out.put("valid", true);
            return definition;
        } catch (SemelException e) {
            out.put("valid", false)
                    .putObject("problem")
                    .put("detail", e.detail())
                    .put("fix", e.fix());
            Problems.document(e, request.id()).path("errors").forEach(errors::add);
            return null;
        }
    }

    private static void steps(ArrayNode out, Outline outline) {
        for (Outline.Step step : outline.steps()) {
            JsonNode fields = step.fields();
            ObjectNode one = out.addObject()
                    .put("step", step.id())
                    .put("kind", step.kind())
                    .put("depth", step.place().depth())
                    .put("branch", step.place().branch())
                    .put("line", step.place().line())
                    .put("first", step.index() == 0)
                    .put("last", step.place().last());
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
            return Views.object().put("count", value.size());
        }
        if (!value.isObject()) {
            return value;
        }
        ObjectNode plain = Views.object();
        value.properties().forEach(member -> {
            if (!member.getValue().isContainer()) {
                plain.set(member.getKey(), member.getValue());
            }
        });
        return plain;
    }

    private static void addDiff(ObjectNode out, Current current, String text, @Nullable Definition definition) {
        Definition before = FileWorkflow.of(current.published());
        out.put("version", current.published().version());
        out.put("tag", Seen.of(current).tag());
        Current.Candidate candidate = current.candidate();
        if (candidate != null) {
            out.putObject("candidate")
                    .put("version", candidate.published().version())
                    .put("share", candidate.share());
        }
        out.put("unified", LineDiff.unified(before.text(), text));
        ArrayNode notes = out.putArray("notes");
        if (definition != null) {
            Rollouts.notes(notes, before, definition);
        }
    }

    /** Adds the effect key that a step would have with the data of the newest run. */
    private void preview(ObjectNode out, Definition definition, Rows.@Nullable Run run, String step) {
        if (run == null || run.input().isEmpty()) {
            return;
        }
        Masks.Mask mask = new Masks(semel).of(run, FileWorkflow.pii(definition));
        var held = new KeyPreview.Facts(Json.parse(run.input()), results(run));
        Map<String, JsonNode> results = new HashMap<>();
        held.results().forEach((id, result) -> results.put(id, mask.value(result)));
        var shown = new KeyPreview.Facts(mask.input(held.input()), results);
        KeyPreview preview =
                KeyPreview.of(definition, step, new KeyPreview.Known(held, shown, Set.copyOf(mask.names())));
        if (preview != null) {
            out.putObject("preview")
                    .put("run_id", run.runIdText())
                    .put("key", preview.key())
                    .put("problem", preview.problem());
        }
    }

    private Rows.@Nullable Run newest(int workspace, Current current) {
        String id = current.published().workflowId();
        return semel.view(reads -> {
            List<Rows.Run> newest = reads.runs(new Reads.RunFilter(workspace, id, null, null, false, 0, null, 1));
            return newest.isEmpty()
                    ? null
                    : reads.run(workspace, newest.getFirst().id());
        });
    }

    /** The recorded result of each step of the run; for steps in loops, the last one. */
    private Map<String, JsonNode> results(Rows.Run run) {
        List<String> chunks = Objects.requireNonNull(semel.view(reads ->
                reads.journal(run.id()).stream().map(Reads.Chunk::entries).toList()));
        Map<String, JsonNode> results = new HashMap<>();
        chunks.forEach(chunk -> Journal.decode(chunk).forEach(entry -> addResult(results, entry)));
        if (run.end() != null) {
            Journal.decode(run.end().entries()).forEach(entry -> addResult(results, entry));
        }
        return results;
    }

    private static void addResult(Map<String, JsonNode> results, Entry entry) {
        if (entry instanceof Entry.Done done) {
            results.put(done.path().substring(StepPath.scopeOf(done.path()).length()), done.result());
        }
    }
}
