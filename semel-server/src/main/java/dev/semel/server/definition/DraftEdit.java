package dev.semel.server.definition;

import dev.semel.error.ErrorCode;
import dev.semel.error.SemelException;
import dev.semel.server.language.YamlEdit;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import tools.jackson.databind.JsonNode;

/** One change of a text that is not published yet, as people make it: to a step, by its id. */
public sealed interface DraftEdit {
    /** The text with the change, all else as it was. */
    String in(String text);

    /** Writes one field of a step, e.g. `idempotent.time`. */
    record Write(String step, String field, JsonNode value) implements DraftEdit {
        @Override
        public String in(String text) {
            return YamlEdit.set(text, fieldPath(text, step, field), value);
        }
    }

    /** Takes one field of a step away. */
    record Clear(String step, String field) implements DraftEdit {
        @Override
        public String in(String text) {
            return YamlEdit.remove(text, fieldPath(text, step, field));
        }
    }

    /** Puts a new step of a kind behind another one. */
    record Add(String after, String id, String kind) implements DraftEdit {
        @Override
        public String in(String text) {
            Outline.Step step = located(text, after);
            if (Outline.of(text).step(id).isPresent()) {
                throw invalid("there is a step '" + id + "' already");
            }
            return YamlEdit.insertAfter(text, step.list(), step.index(), StepText.of(kind, id));
        }
    }

    /** Lets a step and the one before it, or the one behind it, change places. */
    record Move(String step, boolean up) implements DraftEdit {
        @Override
        public String in(String text) {
            Outline.Step moved = located(text, step);
            if (up ? moved.index() == 0 : moved.place().last()) {
                throw invalid("step '" + step + "' is the " + (up ? "first" : "last") + " of its list already");
            }
            return YamlEdit.swap(text, moved.list(), up ? moved.index() - 1 : moved.index());
        }
    }

    /** Takes a step away, with all inside of it. */
    record Delete(String step) implements DraftEdit {
        @Override
        public String in(String text) {
            Outline.Step gone = located(text, step);
            return YamlEdit.removeItem(text, gone.list(), gone.index());
        }
    }

    private static Outline.Step located(String text, String id) {
        return Outline.of(text)
                .step(id)
                .orElseThrow(() -> invalid("there is no step '" + id + "' in the text, or it cannot be read"));
    }

    private static List<String> fieldPath(String text, String step, String field) {
        List<String> path = new ArrayList<>(located(text, step).path());
        path.addAll(List.of(field.split("\\.")));
        return path;
    }

    static SemelException invalid(String message) {
        return new SemelException(
                        ErrorCode.INVALID_INPUT,
                        "The edit cannot be made: " + message + ". The text is as it was; nothing was published.",
                        "Correct the edit, or change the text itself.")
                .with("errors", List.of(Map.of("pointer", "/edits", "message", message)));
    }
}
