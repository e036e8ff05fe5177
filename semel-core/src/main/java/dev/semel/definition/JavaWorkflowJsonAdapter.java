package dev.semel.definition;

import dev.semel.error.ErrorCode;
import dev.semel.error.JsonConversionFailed;
import dev.semel.error.SemelException;
import dev.semel.json.JsonCodec;
import dev.semel.workflow.Step;
import dev.semel.workflow.TypeRef;
import java.time.Duration;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/** Converts between the typed values of Java workflow code and the JSON values of the engine's durable operations. */
public record JavaWorkflowJsonAdapter(DurableWorkflowOperations operations, JsonCodec codec) {
    public <T extends @Nullable Object> DurableWorkflowOperations.StepWork stepWork(
            String what, Step.StepFunction<T> work) {
        return step -> codec.write(work.run(step), "the result of " + what);
    }

    /**
     * The same for effects. If the returned value cannot be written, the effect has happened. An exception from the
     * user's code itself says nothing about that, whatever its type.
     */
    public <T extends @Nullable Object> DurableWorkflowOperations.StepWork effectWork(
            String what, Step.StepFunction<T> work) {
        return step -> {
            T value = work.run(step);
            try {
                return codec.write(value, "the result of " + what);
            } catch (JsonConversionFailed e) {
                throw new ResultNotRecordable(e);
            }
        };
    }

    /**
     * Reads the recorded value back even in the first execution, so that the code sees the same value after a restart.
     */
    @SuppressWarnings("NullAway") // null is what the user's own code returned
    public <T extends @Nullable Object> T readResult(JsonNode recorded, TypeRef<T> type, String what) {
        return readOrHold(operations, () -> codec.read(recorded, type.type(), "The recorded result of " + what));
    }

    /** Reads a recorded value. If it does not fit its type in this code, the engine holds the run. */
    public static <T extends @Nullable Object> T readOrHold(DurableWorkflowOperations operations, Supplier<T> reading) {
        try {
            return reading.get();
        } catch (JsonConversionFailed mismatch) {
            throw operations.toMismatchEnd(mismatch);
        }
    }

    public static void requireNotBlank(String what, String value) {
        if (value.isBlank()) {
            throw invalidCode("A step", what + " is empty");
        }
    }

    public static Duration requirePositive(String whose, String what, Duration value) {
        if (value.isNegative() || value.isZero()) {
            throw invalidCode(whose, what + " must be positive, not " + value);
        }
        return value;
    }

    /** The error for a mistake in the workflow's code that is found at run time. */
    public static SemelException invalidCode(String whose, @Nullable String why) {
        return new SemelException(
                ErrorCode.INVALID_DEFINITION,
                Character.toUpperCase(whose.charAt(0)) + whose.substring(1) + " is not valid: " + why
                        + ". It was not executed.",
                "Correct the workflow, then replay the run. A replay does not repeat recorded effects.");
    }
}
