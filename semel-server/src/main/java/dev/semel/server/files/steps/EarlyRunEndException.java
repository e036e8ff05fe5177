package dev.semel.server.files.steps;

import dev.semel.error.ErrorCode;
import dev.semel.error.SemelException;
import org.jspecify.annotations.Nullable;

/** Thrown when a step ends the run early: `end: word`, or a rejected approval. */
public final class EarlyRunEndException extends RuntimeException {
    private final String status;
    private final transient @Nullable SemelException rejection;

    public EarlyRunEndException(String word) {
        this(word, null);
    }

    private EarlyRunEndException(String word, @Nullable SemelException rejection) {
        super("the run ends: " + word, null, false, false);
        this.status = word;
        this.rejection = rejection;
    }

    /** The run ends as cancelled, because an approval was rejected or not decided in time. */
    public static EarlyRunEndException rejected(String step, boolean timedOut) {
        SemelException why = new SemelException(
                        ErrorCode.APPROVAL_REJECTED,
                        "Step '%s' was %s. No later step ran; recorded results are kept."
                                .formatted(step, timedOut ? "not approved in time" : "rejected"),
                        "If the rejection was intended, do nothing. To request the approval again, replay the run.")
                .with("step", step);
        return new EarlyRunEndException("rejected", why);
    }

    public String status() {
        return status;
    }

    /** Why the run ends as cancelled; null if it ends as completed. */
    @Nullable
    public SemelException rejection() {
        return rejection;
    }
}
