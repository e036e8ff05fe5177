package dev.semel.store;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The writes of many callers that one transaction commits. A batch without a lease slot must not write to a run that a
 * worker owns.
 */
public record Batch(@Nullable Hold hold, List<Write<?>> writes) {
    /** The worker lease under which a batch is written, and the fence slot of the connection that writes it. */
    public record Hold(long lease, int slot) {}

    /** Whether a write changes workflows or tokens. Such a batch waits for all batches in flight. */
    public boolean changesCatalog() {
        return writes.stream()
                .anyMatch(write ->
                        write instanceof Write.Change<?> change && change.edit().changesCatalog());
    }
}
