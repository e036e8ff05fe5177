package dev.semel.server.cli;

import java.time.Duration;
import java.time.Instant;

/** What to do after one try of a trigger. Pure: {@link Sender} acts on it. */
sealed interface Verdict {
    /** The answer stands, good or bad. */
    record Final(Answer answer) implements Verdict {}

    /** Asking again cannot start a second run. */
    record Again(Duration pause, String why) implements Verdict {}

    /** No answer, and no further try. {@code unknown}: a run may have been started. */
    record GiveUp(boolean unknown, String why) implements Verdict {}

    int RETRIES = 5;
    Duration LONGEST_PAUSE = Duration.ofSeconds(60);

    /**
     * @param named the trigger carries a key or a run id, so that any number of copies is one run
     * @param retries how many retries there have been
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
        // What was lost on the first try may have started the run, even if the last try was refused at the door.
        return retries >= RETRIES ? new GiveUp(false, none.why()) : new Again(backoff(retries), none.why());
    }

    private static boolean worthRetrying(Answer answer, boolean named) {
        if (answer.headers().firstValue("x-should-retry").orElse("").equals("false")) {
            return false;
        }
        boolean semelSpoke = !answer.code().isEmpty();
        return switch (answer.status()) {
            // Semel says of these that nothing ran. A proxy that says so may not know.
            case 429, 503 -> named || semelSpoke;
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
