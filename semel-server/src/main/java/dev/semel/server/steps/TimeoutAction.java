package dev.semel.server.steps;

import dev.semel.server.expressions.SourceRange;
import dev.semel.server.expressions.YamlMapReader;
import dev.semel.server.expressions.YamlNode;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** What a step does after a timeout or a rejection: `fail`, `continue` or `{end: word}`. */
sealed interface TimeoutAction {
    /** The step fails. */
    record Fail() implements TimeoutAction {}

    /** The run continues with the next step. */
    record Continue() implements TimeoutAction {}

    /** The run ends with this status text. */
    record End(String status) implements TimeoutAction {}

    static TimeoutAction read(StepReadContext draft, YamlMapReader fields, String name, TimeoutAction otherwise) {
        YamlNode tree = fields.get(name);
        if (tree instanceof YamlNode.MapNode) {
            YamlMapReader end = YamlMapReader.of(tree, name, draft.problems());
            String word =
                    end == null ? null : end.allowOnly(Set.of("end"), Set.of()).text("end");
            return word == null ? otherwise : new End(word);
        }
        String word = word(tree);
        return switch (word) {
            case null -> {
                if (tree != null) {
                    wrong(draft, tree, name);
                }
                yield otherwise;
            }
            case "fail" -> new Fail();
            case "continue" -> new Continue();
            case "reject" -> new End("rejected");
            default -> {
                wrong(draft, fields.get(name), name);
                yield otherwise;
            }
        };
    }

    private static @Nullable String word(@Nullable YamlNode tree) {
        return tree instanceof YamlNode.ScalarNode(SourceRange _, var value) && value.isString()
                ? value.stringValue()
                : null;
    }

    private static void wrong(StepReadContext draft, @Nullable YamlNode tree, String name) {
        if (tree != null) {
            draft.addError(tree.range(), "%s must be fail, continue or {end: word}.".formatted(name));
        }
    }
}
