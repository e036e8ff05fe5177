package dev.semel.server.cli.trigger;

import dev.semel.server.cli.command.CliApiResponse;
import dev.semel.server.cli.command.CliNoServerResponseException;
import java.time.Duration;
import java.time.Instant;

/** Use the response, retry, or give up. Pure code; {@link CliWorkflowTriggerClient} acts on it. */
sealed interface CliTriggerRetryDecision {
    /** Use this response, success or error. */
    record UseResponse(CliApiResponse answer) implements CliTriggerRetryDecision {}

    /** Retry after a pause; it cannot start a second run. */
    record RetryLater(Duration pause, String reason) implements CliTriggerRetryDecision {}

    /** Stop without a response. {@code unknown}: a run may have been started. */
    record GiveUp(boolean outcomeUnknown, String reason) implements CliTriggerRetryDecision {}

    int MAX_RETRIES = 5;
    Duration MAX_PAUSE = Duration.ofSeconds(60);

    /**
     * @param named the trigger has a key or a run id, so repeats cannot start a second run
     *
     * @param retries number of retries so far
     */
    static CliTriggerRetryDecision decide(CliApiResponse answer, boolean named, int retries, Instant now) {
        if (answer.isSuccess() || retries >= MAX_RETRIES || !worthRetrying(answer, named)) {
            return new UseResponse(answer);
        }
        Duration pause = answer.retryAfter(now).orElse(backoff(retries));
        return pause.compareTo(MAX_PAUSE) > 0
                ? new UseResponse(answer)
                : new RetryLater(
                        pause,
                        "the server answered " + answer.status()
                                + (answer.code().isEmpty() ? "" : " " + answer.code()));
    }

    static CliTriggerRetryDecision decide(CliNoServerResponseException none, boolean named, int retries) {
        if (none.maybeSent() && !named) {
            return new GiveUp(true, none.reason());
        }
        // A request lost earlier may have started the run, even if the last connection was refused.
        return retries >= MAX_RETRIES
                ? new GiveUp(false, none.reason())
                : new RetryLater(backoff(retries), none.reason());
    }

    private static boolean worthRetrying(CliApiResponse answer, boolean named) {
        if (answer.headers().firstValue("x-should-retry").orElse("").equals("false")) {
            return false;
        }
        boolean fromSemel = !answer.code().isEmpty();
        return switch (answer.status()) {
            // From Semel these mean that no run was started. A proxy cannot know that.
            case 429, 503 -> named || fromSemel;
            case 409 -> answer.body().path("retryable").asBoolean(false);
            case 500 -> named && answer.body().path("retryable").asBoolean(false);
            case 502, 504 -> named;
            default -> false;
        };
    }

    private static Duration backoff(int retries) {
        return Duration.ofMillis(200L << Math.min(retries, 6));
    }
}
