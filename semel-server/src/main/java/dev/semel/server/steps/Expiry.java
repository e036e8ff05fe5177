package dev.semel.server.steps;

import dev.semel.server.language.Fields;
import dev.semel.server.language.Spot;
import dev.semel.server.language.Tree;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** What a step does after a timeout or a rejection: `fail`, `continue` or `{end: word}`. */
sealed interface Expiry {
    /** The step fails. */
    record Fail() implements Expiry {}

    /** The run continues with the next step. */
    record Continue() implements Expiry {}

    /** The run ends with this status text. */
    record End(String word) implements Expiry {}

    static Expiry read(Draft draft, Fields fields, String name, Expiry otherwise) {
        Tree tree = fields.get(name);
        if (tree instanceof Tree.Members) {
            Fields end = Fields.of(tree, name, draft.problems());
            String word =
                    end == null ? null : end.allow(Set.of("end"), Set.of()).text("end");
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

    private static @Nullable String word(@Nullable Tree tree) {
        return tree instanceof Tree.Scalar(Spot _, var value) && value.isString() ? value.stringValue() : null;
    }

    private static void wrong(Draft draft, @Nullable Tree tree, String name) {
        if (tree != null) {
            draft.wrong(tree.spot(), "%s must be fail, continue or {end: word}.".formatted(name));
        }
    }
}
