package dev.semel.replay;

import dev.semel.json.JsonCodec;
import java.util.List;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/**
 * How to resume a failed run in place.
 *
 * @param by who resumes it; recorded with {@code reason} in journal and audit log
 * @param skip the failed step with the result to use for it; null to run it again
 * @param useCurrentVersion uses the published version of its workflow instead of the one that it had
 * @param include actions to apply although they are not safe
 */
public record ResumeRequest(
        String by, String reason, @Nullable Skip skip, boolean useCurrentVersion, List<ReplayAction> include) {
    /** A step and the result that a user supplies for it. */
    public record Skip(String step, JsonNode result) {}

    public ResumeRequest {
        include = List.copyOf(include);
    }

    /** Resumes at the failed step with the version that the run had, as far as that is safe. */
    public static ResumeRequest because(String by, String reason) {
        return new ResumeRequest(by, reason, null, false, List.of());
    }

    /** Uses this result for the failed step. */
    public ResumeRequest skipping(String step, Object result) {
        return skipping(new Skip(step, JsonCodec.STANDARD.write(result, "the result of " + step)));
    }

    public ResumeRequest skipping(@Nullable Skip other) {
        return new ResumeRequest(by, reason, other, useCurrentVersion, include);
    }

    public ResumeRequest useCurrentVersion(boolean current) {
        return new ResumeRequest(by, reason, skip, current, include);
    }

    public ResumeRequest including(List<ReplayAction> actions) {
        return new ResumeRequest(by, reason, skip, useCurrentVersion, actions);
    }
}
