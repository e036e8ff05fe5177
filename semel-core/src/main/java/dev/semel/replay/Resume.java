package dev.semel.replay;

import dev.semel.json.Codec;
import java.util.List;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/**
 * How to resume a failed run in place.
 *
 * @param by who resumes it; recorded with {@code reason} in journal and audit log
 * @param skip the failed step with the result to use for it; null to run it again
 * @param asItIs uses the published version of its workflow instead of the one that it had
 * @param include actions to apply although they are not safe
 */
public record Resume(String by, String reason, @Nullable Skip skip, boolean asItIs, List<Action> include) {
    /** A step and the result that a user supplies for it. */
    public record Skip(String step, JsonNode result) {}

    public Resume {
        include = List.copyOf(include);
    }

    /** Resumes at the failed step with the version that the run had, as far as that is safe. */
    public static Resume because(String by, String reason) {
        return new Resume(by, reason, null, false, List.of());
    }

    /** Uses this result for the failed step. */
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
