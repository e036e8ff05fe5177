package dev.semel.workflow;

import org.jspecify.annotations.Nullable;

/** Queries the provider for the result of an earlier send with this step's key; null if it has none. */
@FunctionalInterface
public interface ExternalEffectLookup<T extends @Nullable Object> {
    @Nullable
    T find(Step step) throws Exception;
}
