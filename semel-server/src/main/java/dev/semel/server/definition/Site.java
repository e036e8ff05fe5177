package dev.semel.server.definition;

import java.util.Set;

/**
 * The place in a file where an expression stands, which decides what it may read.
 *
 * @param earlier steps whose results are known there
 * @param later steps that exist but have not run there
 */
record Site(Kind kind, Set<String> earlier, Set<String> later) {
    enum Kind {
        /** The key is made before anything else is known. */
        KEY("a key", Set.of("input", "header")),
        FINGERPRINT("a fingerprint", Set.of("input")),
        /** `object` and `worth`: words for people about the trigger. */
        LABEL("object and worth", Set.of("input")),
        STEP("a step", Set.of("input", "steps", "run", "step")),
        OUTPUT("the output", Set.of("input", "steps", "run"));

        final String label;
        final Set<String> names;

        Kind(String label, Set<String> names) {
            this.label = label;
            this.names = names;
        }
    }

    Site {
        earlier = Set.copyOf(earlier);
        later = Set.copyOf(later);
    }

    static Site of(Kind kind) {
        return new Site(kind, Set.of(), Set.of());
    }

    /** Must be the same on every attempt, or it protects nothing. */
    boolean stable() {
        return kind == Kind.KEY || kind == Kind.FINGERPRINT;
    }
}
