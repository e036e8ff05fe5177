package dev.semel.server.language;

import java.util.Collections;
import java.util.LinkedHashSet;
import java.util.Set;

/**
 * The place in a file where an expression stands, which decides what it may read.
 *
 * @param earlier steps whose results are known there
 * @param all steps of the file; both are looked at while the file is read, and are not copied for each of its places
 * @param items names that loops around the place gave to their items
 */
public record Site(Kind kind, Set<String> earlier, Set<String> all, Set<String> items) {
    public enum Kind {
        /** The key is made before anything else is known. */
        KEY("a key", Set.of("input", "header")),
        FINGERPRINT("a fingerprint", Set.of("input")),
        /** `object` and `worth`: words for people about the trigger. */
        LABEL("object and worth", Set.of("input")),
        /** What a gate of the workflow goes by: `serial_by` and its like. */
        GATE("the key of a gate", Set.of("input")),
        STEP("a step", Set.of("input", "steps", "run", "step")),
        /** The key of an effect. The run's own id is not in it: a safe replay has another one. */
        EFFECT_KEY("the key of an effect", Set.of("input", "steps", "step")),
        /** What is made of an answer of the outside world. */
        RESPONSE("a result", Set.of("input", "steps", "run", "step", "response", "attempt")),
        /** Where a credential belongs: evaluated when it is sent, and never recorded. */
        CREDENTIAL("a credential", Set.of("input", "steps", "run", "step", "secret", "attempt")),
        /** `trigger.events`: whether an event starts a run, and with what. */
        EVENT("a subscription", Set.of("event")),
        OUTPUT("the output", Set.of("input", "steps", "run"));

        final String label;
        final Set<String> names;

        Kind(String label, Set<String> names) {
            this.label = label;
            this.names = names;
        }

        /** Whether time and chance can be recorded before they are read there. */
        boolean recordsChance() {
            return this != LABEL && this != EVENT && this != OUTPUT;
        }
    }

    public Site {
        earlier = Collections.unmodifiableSet(earlier);
        all = Collections.unmodifiableSet(all);
        items = Set.copyOf(items);
    }

    public static Site of(Kind kind) {
        return new Site(kind, Set.of(), Set.of(), Set.of());
    }

    /** The same place in the order of steps, for a value of another kind. */
    public Site as(Kind other) {
        return new Site(other, earlier, all, items);
    }

    /** Whether there is such a step that has not run there. */
    boolean isLater(String step) {
        return all.contains(step) && !earlier.contains(step);
    }

    Set<String> names() {
        if (items.isEmpty()) {
            return kind.names;
        }
        Set<String> names = new LinkedHashSet<>(kind.names);
        names.addAll(items);
        return names;
    }

    /** Whether a name means something in every file, so that no item of a loop can have it. */
    public static boolean isTaken(String name) {
        return Language.VARIABLES.contains(name);
    }

    /** Must be the same on every attempt, or it protects nothing. */
    public boolean stable() {
        return switch (kind) {
            case KEY, FINGERPRINT, EFFECT_KEY, GATE -> true;
            case LABEL, EVENT, STEP, RESPONSE, CREDENTIAL, OUTPUT -> false;
        };
    }
}
