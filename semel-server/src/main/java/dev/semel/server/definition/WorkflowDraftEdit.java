package dev.semel.server.definition;

import dev.semel.error.ErrorCode;
import dev.semel.error.SemelException;
import dev.semel.server.expressions.FormatPreservingYamlEditor;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import tools.jackson.databind.JsonNode;

/** One edit of an unpublished workflow text, addressed by step id. */
public sealed interface WorkflowDraftEdit {
    /** Applies the edit; the rest of the text stays unchanged. */
    String applyTo(String text);

    /** Sets one field of a step, e.g. `idempotent.time`. */
    record SetField(String step, String field, JsonNode value) implements WorkflowDraftEdit {
        @Override
        public String applyTo(String text) {
            return FormatPreservingYamlEditor.set(text, fieldPath(text, step, field), value);
        }
    }

    record RemoveField(String step, String field) implements WorkflowDraftEdit {
        @Override
        public String applyTo(String text) {
            return FormatPreservingYamlEditor.remove(text, fieldPath(text, step, field));
        }
    }

    record AddStep(String after, String id, String kind) implements WorkflowDraftEdit {
        @Override
        public String applyTo(String text) {
            WorkflowDraftStepOutline.OutlineStep step = located(text, after);
            if (WorkflowDraftStepOutline.of(text).step(id).isPresent()) {
                throw invalid("a step '" + id + "' already exists");
            }
            return FormatPreservingYamlEditor.insertAfter(
                    text, step.list(), step.index(), NewStepYamlSnippets.snippet(kind, id));
        }
    }

    /** Moves a step up or down by one in its list. */
    record MoveStep(String step, boolean up) implements WorkflowDraftEdit {
        @Override
        public String applyTo(String text) {
            WorkflowDraftStepOutline.OutlineStep moved = located(text, step);
            if (up ? moved.index() == 0 : moved.position().last()) {
                throw invalid("step '" + step + "' is already the " + (up ? "first" : "last") + " of its list");
            }
            return FormatPreservingYamlEditor.swap(text, moved.list(), up ? moved.index() - 1 : moved.index());
        }
    }

    /** Deletes a step and the steps inside it. */
    record DeleteStep(String step) implements WorkflowDraftEdit {
        @Override
        public String applyTo(String text) {
            WorkflowDraftStepOutline.OutlineStep gone = located(text, step);
            return FormatPreservingYamlEditor.removeItem(text, gone.list(), gone.index());
        }
    }

    private static WorkflowDraftStepOutline.OutlineStep located(String text, String id) {
        return WorkflowDraftStepOutline.of(text)
                .step(id)
                .orElseThrow(() -> invalid("there is no step '" + id + "' in the text, or the text is not valid YAML"));
    }

    private static List<String> fieldPath(String text, String step, String field) {
        List<String> path = new ArrayList<>(located(text, step).path());
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
