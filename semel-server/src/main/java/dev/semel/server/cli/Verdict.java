package dev.semel.server.cli;

import java.time.Duration;
import java.time.Instant;

/**
 * The decision after one attempt to send a trigger: use the response, retry, or give up. Pure code; {@link Sender}
 * acts on it.
 */
sealed interface Verdict {
    /** Use this response, success or error. */
    record Final(Answer answer) implements Verdict {}

    /** Retry after a pause; it cannot start a second run. */
    record Again(Duration pause, String why) implements Verdict {}

    /** Stop without a response. {@code unknown}: a run may have been started. */
    record GiveUp(boolean unknown, String why) implements Verdict {}

    int RETRIES = 5;
    Duration LONGEST_PAUSE = Duration.ofSeconds(60);

    /**
     * @param named the trigger has a key or a run id, so repeats cannot start a second run
     *
     * @param retries number of retries so far
     */
    static Verdict on(Answer answer, boolean named, int retries, Instant now) {
        if (answer.ok() || retries >= RETRIES || !worthRetrying(answer, named)) {
            return new Final(answer);
        }
        Duration pause = answer.retryAfter(now).orElse(backoff(retries));
        return pause.compareTo(LONGEST_PAUSE) > 0
                ? new Final(answer)
                : new Again(
                        pause,
                        "the server answered " + answer.status()
                                + (answer.code().isEmpty() ? "" : " " + answer.code()));
    }

    static Verdict on(NoAnswer none, boolean named, int retries) {
        if (none.sent() && !named) {
            return new GiveUp(true, none.why());
        }
        // A request lost earlier may have started the run, even if the last connection was refused.
        return retries >= RETRIES ? new GiveUp(false, none.why()) : new Again(backoff(retries), none.why());
    }

    private static boolean worthRetrying(Answer answer, boolean named) {
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
