package dev.semel.server.files.definition;

import dev.semel.error.ErrorCode;
import dev.semel.error.SemelException;
import dev.semel.server.files.yaml.EditableYaml;
import dev.semel.server.files.yaml.FormatPreservingYamlEditor;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import tools.jackson.databind.JsonNode;

/** One edit of an unpublished workflow text, addressed by step id. */
public sealed interface WorkflowDraftEdit {
    /** Applies the edit; the rest of the text stays unchanged. */
    EditableYaml applyTo(EditableYaml yaml);

    /** Applies the edits one after another. The text after each edit is parsed once. */
    static String applyAll(String text, List<WorkflowDraftEdit> edits) {
        if (edits.isEmpty()) {
            return text;
        }
        EditableYaml yaml;
        try {
            yaml = EditableYaml.of(text);
        } catch (SemelException e) {
            throw invalid("the text is not valid YAML");
        }
        for (WorkflowDraftEdit edit : edits) {
            yaml = edit.applyTo(yaml);
        }
        return yaml.text();
    }

    /** Sets one field of a step, e.g. `idempotent.time`. */
    record SetField(String step, String field, JsonNode value) implements WorkflowDraftEdit {
        @Override
        public EditableYaml applyTo(EditableYaml yaml) {
            return FormatPreservingYamlEditor.set(yaml, fieldPath(yaml, step, field), value);
        }
    }

    record RemoveField(String step, String field) implements WorkflowDraftEdit {
        @Override
        public EditableYaml applyTo(EditableYaml yaml) {
            return FormatPreservingYamlEditor.remove(yaml, fieldPath(yaml, step, field));
        }
    }

    record AddStep(String after, String id, String kind) implements WorkflowDraftEdit {
        @Override
        public EditableYaml applyTo(EditableYaml yaml) {
            WorkflowDraftStepOutline outline = WorkflowDraftStepOutline.of(yaml);
            WorkflowDraftStepOutline.OutlineStep step = located(outline, after);
            if (outline.step(id).isPresent()) {
                throw invalid("a step '" + id + "' already exists");
            }
            return FormatPreservingYamlEditor.insertAfter(
                    yaml, step.list(), step.index(), NewStepYamlSnippets.snippet(kind, id));
        }
    }

    /** Moves a step up or down by one in its list, or at the end of a branch out of it. */
    record MoveStep(String step, boolean up) implements WorkflowDraftEdit {
        @Override
        public EditableYaml applyTo(EditableYaml yaml) {
            WorkflowDraftStepOutline.OutlineStep moved = located(WorkflowDraftStepOutline.of(yaml), step);
            if (up ? moved.index() == 0 : moved.position().last()) {
                if (moved.position().depth() > 0) {
                    return moveOut(yaml, moved);
                }
                throw invalid("step '" + step + "' is already the " + (up ? "first" : "last") + " of its list");
            }
            return FormatPreservingYamlEditor.swap(yaml, moved.list(), up ? moved.index() - 1 : moved.index());
        }

        private EditableYaml moveOut(EditableYaml yaml, WorkflowDraftStepOutline.OutlineStep moved) {
            WorkflowDraftStepOutline.OutlineStep around = container(yaml, moved);
            String text = FormatPreservingYamlEditor.itemText(yaml, moved.list(), moved.index());
            EditableYaml without = FormatPreservingYamlEditor.removeItem(yaml, moved.list(), moved.index());
            EditableYaml after = FormatPreservingYamlEditor.insertAfter(without, around.list(), around.index(), text);
            return up ? FormatPreservingYamlEditor.swap(after, around.list(), around.index()) : after;
        }
    }

    /** The outline lists the containing step before its branches. */
    private static WorkflowDraftStepOutline.OutlineStep container(
            EditableYaml yaml, WorkflowDraftStepOutline.OutlineStep inner) {
        return WorkflowDraftStepOutline.of(yaml).steps().stream()
                .filter(step -> step.position().depth() == inner.position().depth() - 1
                        && inner.list().size() > step.path().size()
                        && inner.list().subList(0, step.path().size()).equals(step.path()))
                .findFirst()
                .orElseThrow(() -> invalid("step '" + inner.id() + "' is in no branch"));
    }

    /** Deletes a step and the steps inside it. */
    record DeleteStep(String step) implements WorkflowDraftEdit {
        @Override
        public EditableYaml applyTo(EditableYaml yaml) {
            WorkflowDraftStepOutline.OutlineStep gone = located(WorkflowDraftStepOutline.of(yaml), step);
            return FormatPreservingYamlEditor.removeItem(yaml, gone.list(), gone.index());
        }
    }

    private static WorkflowDraftStepOutline.OutlineStep located(WorkflowDraftStepOutline outline, String id) {
        return outline.step(id).orElseThrow(() -> invalid("there is no step '" + id + "' in the text"));
    }

    private static List<String> fieldPath(EditableYaml yaml, String step, String field) {
        List<String> path =
                new ArrayList<>(located(WorkflowDraftStepOutline.of(yaml), step).path());
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
