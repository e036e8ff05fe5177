package dev.semel.store;

import org.jspecify.annotations.Nullable;

/** Stands for null in a list of outcomes, which holds one value for each write. */
public enum Nothing {
    NOTHING;

    public static Object orNothing(@Nullable Object value) {
        return value == null ? NOTHING : value;
    }
}
