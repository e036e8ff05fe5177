package dev.semel.trials.architecture;

import java.util.Map;

/**
 * What the checks would look at if it existed, with the reason why it does not. A check that finds nothing to look at
 * fails unless it is named here; a name that has come true fails too, so that this list only shrinks.
 */
final class NotBuiltYet {
    /** By the name of the wall that stands around an empty room. */
    static final Map<String, String> RULES = Map.of();

    /** By path from the root of the repository. */
    static final Map<String, String> FILES = Map.of();

    /** Java files that the formatter would change, by path. */
    static final Map<String, String> UNFORMATTED = Map.of();

    private NotBuiltYet() {}
}
