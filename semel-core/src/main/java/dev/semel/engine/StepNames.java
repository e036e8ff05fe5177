package dev.semel.engine;

import dev.semel.error.ErrorCode;
import dev.semel.error.SemelException;
import dev.semel.run.StepPathFormat;
import java.nio.charset.StandardCharsets;

/** Validates names of steps and branches and formats them for error messages. */
final class StepNames {
    private static final int LONGEST_NAME = 1_000;
    private static final int LONGEST_KEY = 4_000;
    private static final int LONGEST_PATH = 8_000;

    private StepNames() {}

    /** Rejects a name that no store can hold; with it the run could never end. */
    static void rejectUnstorable(String name, String scope) {
        if (name.isEmpty() || name.length() > LONGEST_NAME || !isText(name)) {
            throw rejection(
                    "The name of a step, forEach or undo is empty, longer than " + LONGEST_NAME
                            + " characters, or holds a NUL or half of a surrogate pair",
                    "Give it a short name of plain characters.");
        }
        if (scope.length() > LONGEST_PATH) {
            throw rejection(
                    "\"" + toDisplay(StepPathFormat.of("", name))
                            + "\" is nested too deep: the names of its enclosing scopes " + "have more than "
                            + LONGEST_PATH + " characters",
                    "Nest fewer forEach in each other, or let a child workflow do a part.");
        }
    }

    /** Rejects an unstorable item key; it becomes part of every path below it. */
    static void rejectUnstorableKey(String name, String key, int number) {
        if (key.isEmpty() || key.length() > LONGEST_KEY || !isText(key)) {
            throw rejection(
                    "The key of item " + number + " of forEach \"" + toDisplay(name) + "\" is empty, longer than "
                            + LONGEST_KEY + " characters, or holds a NUL or half of a surrogate pair",
                    "Give each item a short key, such as an id.");
        }
    }

    private static boolean isText(String text) {
        return text.indexOf(0) < 0 && StandardCharsets.UTF_8.newEncoder().canEncode(text);
    }

    private static SemelException rejection(String why, String fix) {
        return new SemelException(ErrorCode.INVALID_DEFINITION, why + ". It did not run.", fix);
    }

    static SemelException misuseError(String path, String how) {
        return new SemelException(
                        ErrorCode.INVALID_DEFINITION,
                        "\"" + toDisplay(path) + "\" was called " + how + ". It did not run.",
                        "Use the context in the body itself, on its own thread. For parallel work use forEach; in a"
                                + " compensation use the context that it gets.")
                .with("step", path);
    }

    /** Formats a path for messages. */
    static String toDisplay(String path) {
        return StepPathFormat.isBranches(path) ? path.substring(0, path.length() - 2) : path;
    }

    /** Returns the last segment of a path. */
    static String lastSegment(String path) {
        return path.substring(StepPathFormat.scopeOf(path).length());
    }
}
