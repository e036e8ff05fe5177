package dev.semel.replay;

import dev.semel.json.JsonCodec;
import java.util.List;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/**
 * @param by who resumes it; recorded with {@code reason} in journal and audit log
 * @param skip the failed step with the result to use for it; null to run it again
 * @param useCurrentVersion uses the published version of its workflow instead of the one that it had
 * @param include actions to apply although they are not safe
 */
public record FailedRunResumeRequest(
        String by, String reason, @Nullable Skip skip, boolean useCurrentVersion, List<SafeReplayStepAction> include) {
    public record Skip(String step, JsonNode result) {}

    public FailedRunResumeRequest {
        include = List.copyOf(include);
    }

    /** Resumes at the failed step with the version that the run had, as far as that is safe. */
    public static FailedRunResumeRequest because(String by, String reason) {
        return new FailedRunResumeRequest(by, reason, null, false, List.of());
    }

    public FailedRunResumeRequest skipping(String step, Object result) {
        return skipping(new Skip(step, JsonCodec.STANDARD.write(result, "the result of " + step)));
    }

    public FailedRunResumeRequest skipping(@Nullable Skip other) {
        return new FailedRunResumeRequest(by, reason, other, useCurrentVersion, include);
    }

    public FailedRunResumeRequest useCurrentVersion(boolean current) {
        return new FailedRunResumeRequest(by, reason, skip, current, include);
    }

    public FailedRunResumeRequest including(List<SafeReplayStepAction> actions) {
        return new FailedRunResumeRequest(by, reason, skip, useCurrentVersion, actions);
    }
}
