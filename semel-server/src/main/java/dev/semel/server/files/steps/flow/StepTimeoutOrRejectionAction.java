package dev.semel.server.files.steps.flow;

import dev.semel.server.files.steps.YamlStepReadContext;
import dev.semel.server.files.yaml.YamlMapReader;
import dev.semel.server.files.yaml.YamlNode;
import dev.semel.server.files.yaml.YamlSourceRange;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** What a step does after a timeout or a rejection: `fail`, `continue` or a final status such as `{end: rejected}`. */
sealed interface StepTimeoutOrRejectionAction {
    record Fail() implements StepTimeoutOrRejectionAction {}

    record Continue() implements StepTimeoutOrRejectionAction {}

    record End(String status) implements StepTimeoutOrRejectionAction {}

    /** The run ends as cancelled: the reviewers stopped it. */
    record Reject() implements StepTimeoutOrRejectionAction {}

    static StepTimeoutOrRejectionAction read(
            YamlStepReadContext draft, YamlMapReader fields, String name, StepTimeoutOrRejectionAction otherwise) {
        YamlNode tree = fields.get(name);
        if (tree instanceof YamlNode.MapNode) {
            YamlMapReader end = YamlMapReader.of(tree, name, draft.problems());
            String word = end == null ? null : end.allowOnly(Set.of("end")).text("end");
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
            case "reject" -> new Reject();
            default -> {
                wrong(draft, fields.get(name), name);
                yield otherwise;
            }
        };
    }

    private static @Nullable String word(@Nullable YamlNode tree) {
        return tree instanceof YamlNode.ScalarNode(YamlSourceRange _, var value) && value.isString()
                ? value.stringValue()
                : null;
    }

    private static void wrong(YamlStepReadContext draft, @Nullable YamlNode tree, String name) {
        if (tree != null) {
            draft.addError(
                    tree.range(),
                    "%s must be `fail`, `continue` or a final status such as {end: rejected}.".formatted(name));
        }
    }
}
