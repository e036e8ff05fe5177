package dev.semel.workflow;

import dev.semel.error.ErrorCode;
import dev.semel.error.SemelException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/**
 * What a run may have to wait for before it starts.
 *
 * @param serialBy runs of one key go one after another, in order
 * @param maxConcurrent so many runs of the workflow at once
 */
public record Gates(
        @Nullable GateKey serialBy,
        @Nullable Integer maxConcurrent,
        @Nullable Debounce debounce,
        @Nullable RateLimit rateLimit) {
    public static final Duration LONGEST = Duration.ofDays(365);
    public static final Gates NONE = new Gates(null, null, null, null);
    private static final int LONGEST_KEY = 1_000;

    public Gates {
        if (maxConcurrent != null && maxConcurrent < 1) {
            throw new IllegalArgumentException("maxConcurrent must be at least 1, not " + maxConcurrent);
        }
    }

    /** Only the last trigger of a burst runs: when none came for a quiet time, or the longest time is over. */
    public record Debounce(GateKey key, Duration quiet, Duration atMost) {
        public Debounce {
            refuseUnlessWithin("the quiet time of debounce", quiet);
            refuseUnlessWithin("the longest time of debounce", atMost);
            if (atMost.compareTo(quiet) < 0) {
                throw new IllegalArgumentException(
                        "the longest time of debounce, " + atMost + ", is shorter than its quiet time, " + quiet);
            }
        }
    }

    /** So many runs of one key begin within a time; more of them wait. */
    public record RateLimit(GateKey key, int count, Duration per) {
        public RateLimit {
            if (count < 1) {
                throw new IllegalArgumentException("the count of rateLimit must be at least 1, not " + count);
            }
            refuseUnlessWithin("the time of rateLimit", per);
        }
    }

    /**
     * Takes the key of a gate out of {@code data}.
     *
     * @param name what people see, e.g. `customerId`
     * @param function null or blank where there is none; may throw
     */
    public record GateKey(String gate, String name, Function<JsonNode, @Nullable String> function) {
        /** The key; where there is none the trigger is refused, because all of them together would share one gate. */
        public String of(JsonNode data) {
            String key;
            try {
                key = function.apply(data);
            } catch (SemelException e) {
                throw e;
            } catch (RuntimeException e) {
                // Its message may quote the data.
                throw refused("could not be made from the data (" + e.getClass().getSimpleName() + ")");
            }
            if (key == null || key.isBlank()) {
                throw refused("is empty");
            }
            if (key.getBytes(StandardCharsets.UTF_8).length > LONGEST_KEY) {
                throw refused("is longer than " + LONGEST_KEY + " bytes");
            }
            if (key.indexOf('\0') >= 0 || !StandardCharsets.UTF_8.newEncoder().canEncode(key)) {
                throw refused("has a character that cannot be stored");
            }
            return key;
        }

        private SemelException refused(String why) {
            return new SemelException(
                    ErrorCode.INVALID_INPUT,
                    "The key of " + gate + " (" + name + ") " + why + ". No run was started.",
                    "Send the field that it is made of, with a short text or number in it.");
        }
    }

    private static void refuseUnlessWithin(String what, Duration time) {
        if (time.compareTo(Duration.ofMillis(1)) < 0 || time.compareTo(LONGEST) > 0) {
            throw new IllegalArgumentException(what + " must be between 1ms and 365d, not " + time);
        }
    }
}
