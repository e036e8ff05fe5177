package dev.semel;

import org.jspecify.annotations.Nullable;

/**
 * The result of an idempotent call.
 *
 * @param value what the operation returned
 * @param replayed whether an earlier call executed the operation, and this is its recorded result
 */
public record IdempotentResult<T>(@Nullable T value, boolean replayed) {}
