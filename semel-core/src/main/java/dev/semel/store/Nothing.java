package dev.semel.store;

import org.jspecify.annotations.Nullable;

/** Represents null in the list of write results, which must contain one value per write. */
public enum Nothing {
    NOTHING;

    public static Object orNothing(@Nullable Object value) {
        return value == null ? NOTHING : value;
    }
}
