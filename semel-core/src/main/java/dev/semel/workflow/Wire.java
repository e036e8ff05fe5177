package dev.semel.workflow;

import dev.semel.error.ErrorCode;
import dev.semel.error.SemelException;
import dev.semel.error.TypeMismatch;
import dev.semel.json.Codec;
import java.time.Duration;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/** Between the typed face of a run and its JSON: what users return is written, and what was recorded is read. */
record Wire(Durable durable, Codec codec) {
    <T> Durable.Work work(String what, Code.Work<T> work) {
        return step -> codec.write(work.run(step), "the result of " + what);
    }

    /**
     * The same for what is sent. A value that cannot be written came back from a deed that was done; a failure of the
     * user's own code to read or write one says nothing of that, whatever its type.
     */
    <T> Durable.Work sent(String what, Code.Work<T> work) {
        return step -> {
            T value = work.run(step);
            try {
                return codec.write(value, "the result of " + what);
            } catch (TypeMismatch e) {
                throw new Failures.NotKept(e);
            }
        };
    }

    /** Read back even in the first execution, so that code never works with something a restart would not have. */
    @SuppressWarnings("NullAway") // null is what the user's own code returned
    <T> T result(JsonNode recorded, TypeRef<T> type, String what) {
        return codec.read(recorded, type.type(), "The recorded result of " + what);
    }

    static void refuseBlank(String what, String value) {
        if (value.isBlank()) {
            throw refused("A step", what + " is empty");
        }
    }

    static Duration positive(String whose, String what, Duration value) {
        if (value.isNegative() || value.isZero()) {
            throw refused(whose, what + " must be positive, not " + value);
        }
        return value;
    }

    /** A mistake in the code of the workflow, found when it runs. */
    static SemelException refused(String whose, @Nullable String why) {
        return new SemelException(
                ErrorCode.INVALID_DEFINITION,
                Character.toUpperCase(whose.charAt(0)) + whose.substring(1) + " is not as it must be: " + why
                        + ". It was not done.",
                "Correct the workflow, then replay the run: what is on record is reused.");
    }
}
