package dev.semel.definition;

import dev.semel.error.ErrorCode;
import dev.semel.error.SemelException;
import dev.semel.json.StorableText;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/**
 * @param serialBy runs with the same key execute one after another, in order
 * @param maxConcurrent maximum number of concurrent runs of the workflow
 */
public record ConcurrencyControl(
        @Nullable ConcurrencyKey serialBy,
        @Nullable Integer maxConcurrent,
        @Nullable Debounce debounce,
        @Nullable RateLimit rateLimit) {
    public static final Duration MAX_DURATION = Duration.ofDays(365);
    public static final ConcurrencyControl NONE = new ConcurrencyControl(null, null, null, null);
    private static final int LONGEST_KEY = 1_000;

    public ConcurrencyControl {
        if (maxConcurrent != null && maxConcurrent < 1) {
            throw new IllegalArgumentException("maxConcurrent must be at least 1, not " + maxConcurrent);
        }
    }

    /** Runs the last trigger of a burst: after {@code quiet} without triggers, at the latest after {@code atMost}. */
    public record Debounce(ConcurrencyKey key, Duration quiet, Duration atMost) {
        public Debounce {
            requireInRange("the quiet period of debounce", quiet);
            requireInRange("the maximum time of debounce", atMost);
            if (atMost.compareTo(quiet) < 0) {
                throw new IllegalArgumentException(
                        "the maximum time of debounce, " + atMost + ", is shorter than its quiet period, " + quiet);
            }
        }
    }

    /** Starts at most {@code count} runs of one key per time unit; further runs wait. */
    public record RateLimit(ConcurrencyKey key, int count, Duration per) {
        public RateLimit {
            if (count < 1) {
                throw new IllegalArgumentException("the count of rateLimit must be at least 1, not " + count);
            }
            requireInRange("the period of rateLimit", per);
        }
    }

    /**
     * @param setting the limit that uses the key, for example `serial_by`
     * @param name name of the key that users see, for example `customerId`
     * @param function returns null or blank if the data have no key; may throw
     */
    public record ConcurrencyKey(String setting, String name, Function<JsonNode, @Nullable String> function) {
        /** Returns the key. Throws if there is none, because all triggers without a key would share one limit. */
        public String derive(JsonNode data) {
            String key;
            try {
                key = function.apply(data);
            } catch (SemelException e) {
                throw e;
            } catch (RuntimeException e) {
                // The exception's own message may quote the data.
                throw invalid(
                        "could not be derived from the data (" + e.getClass().getSimpleName() + ")");
            }
            if (key == null || key.isBlank()) {
                throw invalid("is empty");
            }
            if (key.getBytes(StandardCharsets.UTF_8).length > LONGEST_KEY) {
                throw invalid("is longer than " + LONGEST_KEY + " bytes");
            }
            if (!StorableText.isStorable(key)) {
                throw invalid("has a character that cannot be stored");
            }
            return key;
        }

        private SemelException invalid(String why) {
            return new SemelException(
                    ErrorCode.INVALID_INPUT,
                    "The key of " + setting + " (" + name + ") " + why + ". No run was started.",
                    "Send the field that the key is derived from. Its value must be a short text or a number.");
        }
    }

    private static void requireInRange(String what, Duration time) {
        if (time.compareTo(Duration.ofMillis(1)) < 0 || time.compareTo(MAX_DURATION) > 0) {
            throw new IllegalArgumentException(what + " must be between 1ms and 365d, not " + time);
        }
    }
}
