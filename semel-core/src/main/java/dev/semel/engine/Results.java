package dev.semel.engine;

import dev.semel.error.ErrorCode;
import dev.semel.error.SemelException;
import dev.semel.error.StepFailed;
import dev.semel.journal.Entry;
import dev.semel.json.Json;
import java.util.List;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.JsonNodeFactory;

/** Converts results and failures of step code to a form that the journal can store. */
final class Results {
    private static final int LONGEST_MESSAGE = 1_000;

    /** Recorded when an effect is sent or queried again without a failure: the worker stopped in between. */
    static final Entry.Problem LOST = new Entry.Problem(
            ErrorCode.IN_DOUBT.slug(), List.of("unknown"), "the worker stopped before it recorded the outcome");

    static final String INDETERMINATE = "it was sent once and its outcome is unknown; Semel does not send it again";

    private Results() {}

    /** The value as a recovery would return it, or why it cannot be stored. */
    record Fit(JsonNode kept, String text, Entry.@Nullable Problem problem) {
        int bytes() {
            return text.length();
        }
    }

    static Fit fit(@Nullable JsonNode result, String path, Limits limits) {
        JsonNode value = result == null ? JsonNodeFactory.instance.nullNode() : result;
        String text;
        try {
            text = Json.write(value);
            if (text.length() <= limits.stepResultBytes()) {
                return new Fit(Json.parse(text), text, null);
            }
        } catch (RuntimeException e) {
            return unfit("The result of step \"" + path + "\" cannot be written as JSON. It was not recorded.");
        }
        return unfit("The result of step \"" + path + "\" is larger than " + limits.stepResultBytes()
                + " bytes. It was not recorded. Return a reference to the data instead of the data.");
    }

    private static Fit unfit(String why) {
        JsonNode nothing = JsonNodeFactory.instance.nullNode();
        return new Fit(nothing, "null", new Entry.Problem(ErrorCode.INVALID_INPUT.slug(), List.of("result"), why));
    }

    static Entry.Problem problem(Throwable failure) {
        String code = failure instanceof SemelException known ? known.code().slug() : ErrorCode.STEP_FAILED.slug();
        String text = failure instanceof SemelException known ? known.detail() : said(failure);
        return new Entry.Problem(code, StepFailed.typesOf(failure), clean(text));
    }

    /** Returns the message of a failure. It is a user class, and its getMessage may throw. */
    static String said(Throwable failure) {
        try {
            String message = failure.getMessage();
            return message == null ? "" : message;
        } catch (RuntimeException | Error e) {
            return "";
        }
    }

    /** Returns a text that every store can hold. */
    static String clean(String text) {
        StringBuilder out = new StringBuilder(Math.min(text.length(), LONGEST_MESSAGE));
        text.codePoints()
                .takeWhile(c -> out.length() + Character.charCount(c) <= LONGEST_MESSAGE)
                .forEach(c -> out.appendCodePoint(c == 0 || (c >= 0xD800 && c <= 0xDFFF) ? 0xFFFD : c));
        return out.toString();
    }

    static StepFailed failure(String path, Entry.Problem problem, int attempts) {
        return new StepFailed(path, problem.types(), problem.message(), attempts).because(problem.code());
    }

    static StepFailed failure(String path, Entry.Problem problem, int attempts, Throwable cause) {
        StepFailed failure = failure(path, problem, attempts);
        failure.initCause(cause);
        return failure;
    }
}
