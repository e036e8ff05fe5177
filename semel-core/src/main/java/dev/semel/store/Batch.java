package dev.semel.store;

import java.util.List;
import org.jspecify.annotations.Nullable;

/** Writes of many callers for one transaction. Without a hold nothing in it may own a run. */
public record Batch(@Nullable Hold hold, List<Write<?>> writes) {
    /** The lease under which a lane writes, and the lane's own slot in its fence. */
    public record Hold(long lease, int slot) {}

    /** Whether something in it changes workflows or tokens, for which it must wait for all batches in flight. */
    public boolean changesCatalog() {
        return writes.stream()
                .anyMatch(write ->
                        write instanceof Write.Change<?> change && change.edit().changesCatalog());
    }
}
