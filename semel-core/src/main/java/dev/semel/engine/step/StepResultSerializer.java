package dev.semel.engine.step;

import dev.semel.engine.EngineLimits;
import dev.semel.error.ErrorCode;
import dev.semel.error.SemelException;
import dev.semel.error.StepFailed;
import dev.semel.journal.JournalEntry;
import dev.semel.json.StrictJsonCodec;
import java.sql.SQLException;
import java.util.List;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.JsonNodeFactory;

public final class StepResultSerializer {
    private static final int CAUSES = 10;
    private static final int LONGEST_MESSAGE = 1_000;

    /** Recorded when an effect is sent or queried again without a failure: the worker stopped in between. */
    public static final JournalEntry.ErrorDetails OUTCOME_UNKNOWN = new JournalEntry.ErrorDetails(
            ErrorCode.IN_DOUBT.slug(), List.of("unknown"), "the worker stopped before it recorded the outcome");

    public static final String INDETERMINATE =
            "it was sent once and its outcome is unknown; Semel does not send it again";

    private StepResultSerializer() {}

    /** The value as a recovery would return it, or why it cannot be stored. */
    public record StorableResult(JsonNode value, String text, JournalEntry.@Nullable ErrorDetails problem) {
        public int bytes() {
            return text.length();
        }
    }

    public static StorableResult toStorable(@Nullable JsonNode result, String path, EngineLimits limits) {
        JsonNode value = result == null ? JsonNodeFactory.instance.nullNode() : result;
        String text;
        try {
            text = StrictJsonCodec.write(value);
            if (text.length() <= limits.stepResultBytes()) {
                return new StorableResult(StrictJsonCodec.parse(text), text, null);
            }
        } catch (RuntimeException e) {
            return unfit("The result of step \"" + path + "\" cannot be written as JSON. It was not recorded.");
        }
        return unfit("The result of step \"" + path + "\" is larger than " + limits.stepResultBytes()
                + " bytes. It was not recorded. Return a reference to the data instead of the data.");
    }

    private static StorableResult unfit(String why) {
        JsonNode nothing = JsonNodeFactory.instance.nullNode();
        return new StorableResult(
                nothing, "null", new JournalEntry.ErrorDetails(ErrorCode.INVALID_INPUT.slug(), List.of("result"), why));
    }

    public static JournalEntry.ErrorDetails toProblem(Throwable failure) {
        String code = failure instanceof SemelException semelException
                ? semelException.code().slug()
                : ErrorCode.STEP_FAILED.slug();
        String text = failure instanceof SemelException semelException ? semelException.detail() : messageOf(failure);
        return new JournalEntry.ErrorDetails(code, StepFailed.classNamesOf(failure), sanitize(text));
    }

    /**
     * Returns the message of a failure, in which the text of a database is replaced, because it contains values of rows
     * and statements. It is a user class, and its getMessage may throw.
     */
    public static String messageOf(Throwable failure) {
        try {
            if (failure instanceof SQLException sql) {
                return SqlErrorDescription.of(sql);
            }
            String message = failure.getMessage();
            String text = message == null ? "" : message;
            Throwable cause = failure.getCause();
            for (int i = 0; cause != null && i < CAUSES; i++) {
                String raw = cause.getMessage();
                if (cause instanceof SQLException sql && raw != null && !raw.isEmpty()) {
                    text = text.replace(raw, SqlErrorDescription.of(sql));
                }
                cause = cause.getCause();
            }
            return text;
        } catch (RuntimeException | Error e) {
            return "";
        }
    }

    /** Returns a text that every store can hold. */
    public static String sanitize(String text) {
        return sanitize(text, LONGEST_MESSAGE);
    }

    public static String sanitize(String text, int longest) {
        StringBuilder out = new StringBuilder(Math.min(text.length(), longest));
        text.codePoints()
                .takeWhile(c -> out.length() + Character.charCount(c) <= longest)
                .forEach(c -> out.appendCodePoint(c == 0 || (c >= 0xD800 && c <= 0xDFFF) ? 0xFFFD : c));
        return out.toString();
    }

    public static StepFailed toFailure(String path, JournalEntry.ErrorDetails problem, int attempts) {
        return new StepFailed(path, problem.types(), problem.message(), attempts).withCode(problem.code());
    }

    public static StepFailed toFailure(
            String path, JournalEntry.ErrorDetails problem, int attempts, @Nullable Throwable cause) {
        StepFailed failure = toFailure(path, problem, attempts);
        if (cause != null) {
            failure.initCause(cause);
        }
        return failure;
    }
}
