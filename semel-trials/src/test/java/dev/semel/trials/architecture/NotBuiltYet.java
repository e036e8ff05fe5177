package dev.semel.trials.architecture;

import java.util.Map;

/**
 * Checks that have nothing to check yet, each with a reason. A check without a subject fails unless it is listed here.
 * An entry whose subject exists fails too, so the list only shrinks.
 */
final class NotBuiltYet {
    /** Dependency rules that cover no class, by name. */
    static final Map<String, String> RULES = Map.of();

    /** Files that do not exist, by path from the root of the repository. */
    static final Map<String, String> FILES = Map.of();

    private NotBuiltYet() {}
}
