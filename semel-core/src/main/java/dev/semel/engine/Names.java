package dev.semel.engine;

import dev.semel.error.ErrorCode;
import dev.semel.error.SemelException;
import dev.semel.run.StepPath;
import java.nio.charset.StandardCharsets;

/** Names of steps and branches: which ones a store can hold, and how errors show them. */
final class Names {
    private static final int LONGEST_NAME = 1_000;
    private static final int LONGEST_KEY = 4_000;
    private static final int LONGEST_PATH = 8_000;

    private Names() {}

    /** A name that no store can hold would keep the run from ever ending. */
    static void refuseUnstorable(String name, String scope) {
        if (name.isEmpty() || name.length() > LONGEST_NAME || !isText(name)) {
            throw refused(
                    "The name of a step, forEach or undo is empty, longer than " + LONGEST_NAME
                            + " characters, or holds a NUL or half of a surrogate pair",
                    "Give it a short name of plain characters.");
        }
        if (scope.length() > LONGEST_PATH) {
            throw refused(
                    "\"" + shown(StepPath.of("", name)) + "\" is asked for too deep: the names of the scopes around it "
                            + "have more than " + LONGEST_PATH + " characters",
                    "Nest fewer forEach in each other, or let a child workflow do a part.");
        }
    }

    /** Keys of items become part of every path below them. */
    static void refuseUnstorableKey(String name, String key, int number) {
        if (key.isEmpty() || key.length() > LONGEST_KEY || !isText(key)) {
            throw refused(
                    "The key of item " + number + " of forEach \"" + shown(name) + "\" is empty, longer than "
                            + LONGEST_KEY + " characters, or holds a NUL or half of a surrogate pair",
                    "Give each item a short key, such as an id.");
        }
    }

    private static boolean isText(String text) {
        return text.indexOf(0) < 0 && StandardCharsets.UTF_8.newEncoder().canEncode(text);
    }

    private static SemelException refused(String why, String fix) {
        return new SemelException(ErrorCode.INVALID_DEFINITION, why + ". It did not run.", fix);
    }

    static SemelException misuse(String path, String how) {
        return new SemelException(
                        ErrorCode.INVALID_DEFINITION,
                        "\"" + shown(path) + "\" was asked for " + how + ". It was not done.",
                        "Use the context in the body itself, on its own thread; for work side by side use forEach, and"
                                + " in an undo the context that it is given.")
                .with("step", path);
    }

    /** A path as people read it. */
    static String shown(String path) {
        return StepPath.isBranches(path) ? path.substring(0, path.length() - 2) : path;
    }

    /** The name at the end of a path. */
    static String last(String path) {
        return path.substring(StepPath.scopeOf(path).length());
    }
}
