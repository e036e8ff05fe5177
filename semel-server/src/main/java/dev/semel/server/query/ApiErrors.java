package dev.semel.server.query;

import dev.semel.error.ErrorCode;
import dev.semel.error.SemelException;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

public final class ApiErrors {
    private ApiErrors() {}

    public static SemelException notFound(String detail, String fix) {
        return new SemelException(ErrorCode.NOT_FOUND, detail, fix);
    }

    public static SemelException invalidInput(String detail, String fix) {
        return new SemelException(ErrorCode.INVALID_INPUT, detail, fix);
    }

    public static SemelException invalidQuery(String rule) {
        return invalidInput(
                "The query is not valid: " + rule + ". Nothing was read.",
                "Correct the query and send the request again.");
    }

    public static SemelException invalidRequest(String rule) {
        return invalidInput(
                "The request is not valid: " + rule + ". Nothing was changed.",
                "Correct the request and send it again.");
    }

    /** @param pointer the JSON pointer of the wrong value */
    public static SemelException invalidTrigger(String pointer, String message) {
        return invalidBody(
                pointer,
                message,
                "No run was started and the key is still unused.",
                "Correct the body and send it again, with the same key.");
    }

    public static SemelException invalidBody(String pointer, String message, String state, String fix) {
        return invalidInput("The request body is not valid: " + message + ". " + state, fix)
                .with("errors", List.of(Map.of("pointer", pointer, "message", message)));
    }

    /** The same text for a missing workflow and for one of another workspace. */
    public static SemelException unknownWorkflow() {
        return notFound(
                "No workflow with this name or id exists in this workspace. Nothing was started or changed.",
                "Check the name or id. GET /v1/workflows lists the workflows.");
    }

    /** Returns the value, or throws a 404 if there is none. */
    public static <T> T orNotFound(@Nullable T value, String detail, String fix) {
        return orThrow(value, () -> notFound(detail, fix));
    }

    public static <T> T orThrow(@Nullable T value, Supplier<SemelException> error) {
        if (value == null) {
            throw error.get();
        }
        return value;
    }
}
