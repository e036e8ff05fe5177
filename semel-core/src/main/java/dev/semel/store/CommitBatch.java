package dev.semel.store;

import java.util.List;
import org.jspecify.annotations.Nullable;

/** A batch without a lease slot must not write to a run that a worker owns. */
public record CommitBatch(@Nullable LeaseSlot leaseSlot, List<StoreWrite<?>> writes) {
    /** The worker lease under which a batch is written, and the fence slot of the connection that writes it. */
    public record LeaseSlot(long lease, int slot) {}

    /** Whether a write changes workflows or tokens. Such a batch waits for all batches in flight. */
    public boolean changesCatalog() {
        return writes.stream()
                .anyMatch(write -> write instanceof StoreWrite.ExecuteCommand<?> change
                        && change.command().changesCatalog());
    }
}
