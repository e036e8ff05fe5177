package dev.semel.store;

import org.jspecify.annotations.Nullable;

/** Represents null in the list of write results, which must contain one value per write. */
public enum NullWriteResultPlaceholder {
    NOTHING;

    public static Object wrap(@Nullable Object value) {
        return value == null ? NOTHING : value;
    }
}
