package dev.semel.replay;

import dev.semel.json.Codec;
import java.util.List;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/**
 * How a run that failed is to go on in place.
 *
 * @param by who wants it, and why; both stand in its journal and in the audit
 * @param skip the step that failed, with the result that it is given; null where it is done again
 * @param asItIs by the version of its workflow that is current, and not by the one that it had
 * @param include what is not safe and done all the same
 */
public record Resume(String by, String reason, @Nullable Skip skip, boolean asItIs, List<Action> include) {
    /** A result that a person gives in the place of the step. */
    public record Skip(String step, JsonNode result) {}

    public Resume {
        include = List.copyOf(include);
    }

    /** From the step that failed, by the version that the run had, as far as that is safe. */
    public static Resume because(String by, String reason) {
        return new Resume(by, reason, null, false, List.of());
    }

    /** The step that failed counts as done, with this result. */
    public Resume skipping(String step, Object result) {
        return skipping(new Skip(step, Codec.STANDARD.write(result, "the result of " + step)));
    }

    public Resume skipping(@Nullable Skip other) {
        return new Resume(by, reason, other, asItIs, include);
    }

    public Resume asItIs(boolean current) {
        return new Resume(by, reason, skip, current, include);
    }

    public Resume including(List<Action> actions) {
        return new Resume(by, reason, skip, asItIs, actions);
    }
}
