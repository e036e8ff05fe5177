package dev.semel.server.query.view;

import java.util.List;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** @param next the cursor of the next page; null at the end */
public record Page<T>(List<T> items, @Nullable String next) {
    /** A page of rows; the cursor comes from the last row if there may be more. */
    public static <R, T> Page<T> of(List<R> rows, int limit, Function<R, T> view, Function<R, String> cursor) {
        boolean last = rows.size() < limit || rows.isEmpty();
        return new Page<>(rows.stream().map(view).toList(), last ? null : cursor.apply(rows.getLast()));
    }
}
