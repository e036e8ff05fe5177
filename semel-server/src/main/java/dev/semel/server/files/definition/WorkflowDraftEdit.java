package dev.semel.server.files.definition;

import dev.semel.error.ErrorCode;
import dev.semel.error.SemelException;
import dev.semel.server.files.yaml.FormatPreservingYamlEditor;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import tools.jackson.databind.JsonNode;

/** One edit of an unpublished workflow text, addressed by step id. */
public sealed interface WorkflowDraftEdit {
    /** Sets one field of a step, e.g. `idempotent.time`. */
    record SetField(String step, String field, JsonNode value) implements WorkflowDraftEdit {}

    record RemoveField(String step, String field) implements WorkflowDraftEdit {}

    record AddStep(String after, String id, String kind) implements WorkflowDraftEdit {}

    /** Moves a step up or down by one in its list, or at the end of a branch out of it. */
    record MoveStep(String step, boolean up) implements WorkflowDraftEdit {}

    /** Deletes a step and the steps inside it. */
    record DeleteStep(String step) implements WorkflowDraftEdit {}

    /** Applies the edits one after another; the rest of the text stays unchanged. */
    static String applyAll(String text, List<WorkflowDraftEdit> edits) {
        if (edits.isEmpty()) {
            return text;
        }
        FormatPreservingYamlEditor yaml;
        try {
            yaml = FormatPreservingYamlEditor.of(text);
        } catch (SemelException e) {
            throw invalid("the text is not valid YAML");
        }
        for (WorkflowDraftEdit edit : edits) {
            yaml = apply(yaml, WorkflowDraftStepOutline.of(yaml), edit);
        }
        return yaml.text();
    }

    private static FormatPreservingYamlEditor apply(
            FormatPreservingYamlEditor yaml, WorkflowDraftStepOutline outline, WorkflowDraftEdit edit) {
        return switch (edit) {
            case SetField(String step, String field, JsonNode value) ->
                yaml.set(fieldPath(outline, step, field), value);
            case RemoveField(String step, String field) -> yaml.remove(fieldPath(outline, step, field));
            case AddStep(String after, String id, String kind) -> {
                WorkflowDraftStepOutline.OutlineStep step = located(outline, after);
                if (outline.step(id).isPresent()) {
                    throw invalid("a step '" + id + "' already exists");
                }
                yield yaml.insertAfter(step.list(), step.index(), NewStepYamlSnippets.snippet(kind, id));
            }
            case MoveStep(String step, boolean up) -> move(yaml, outline, located(outline, step), up);
            case DeleteStep(String step) -> {
                WorkflowDraftStepOutline.OutlineStep gone = located(outline, step);
                yield yaml.removeItem(gone.list(), gone.index());
            }
        };
    }

    private static FormatPreservingYamlEditor move(
            FormatPreservingYamlEditor yaml,
            WorkflowDraftStepOutline outline,
            WorkflowDraftStepOutline.OutlineStep moved,
            boolean up) {
        if (up ? moved.index() > 0 : !moved.position().last()) {
            return yaml.swap(moved.list(), up ? moved.index() - 1 : moved.index());
        }
        if (moved.position().depth() == 0) {
            throw invalid("step '" + moved.id() + "' is already the " + (up ? "first" : "last") + " of its list");
        }
        WorkflowDraftStepOutline.OutlineStep around = container(outline, moved);
        String text = yaml.itemText(moved.list(), moved.index());
        FormatPreservingYamlEditor after =
                yaml.removeItem(moved.list(), moved.index()).insertAfter(around.list(), around.index(), text);
        return up ? after.swap(around.list(), around.index()) : after;
    }

    /** The outline lists the containing step before its branches. */
    private static WorkflowDraftStepOutline.OutlineStep container(
            WorkflowDraftStepOutline outline, WorkflowDraftStepOutline.OutlineStep inner) {
        return outline.steps().stream()
                .filter(step -> step.position().depth() == inner.position().depth() - 1
                        && inner.list().size() > step.path().size()
                        && inner.list().subList(0, step.path().size()).equals(step.path()))
                .findFirst()
                .orElseThrow(() -> invalid("step '" + inner.id() + "' is in no branch"));
    }

    private static WorkflowDraftStepOutline.OutlineStep located(WorkflowDraftStepOutline outline, String id) {
        return outline.step(id).orElseThrow(() -> invalid("there is no step '" + id + "' in the text"));
    }

    private static List<String> fieldPath(WorkflowDraftStepOutline outline, String step, String field) {
        List<String> path = new ArrayList<>(located(outline, step).path());
        path.addAll(List.of(field.split("\\.")));
        return path;
    }

    static SemelException invalid(String message) {
        return new SemelException(
                        ErrorCode.INVALID_INPUT,
                        "The edit failed: " + message + ". The text is unchanged; nothing was published.",
                        "Correct the edit, or edit the text directly.")
                .with("errors", List.of(Map.of("pointer", "/edits", "message", message)));
    }
}
