package dev.semel.engine;

import dev.semel.error.ErrorCode;
import dev.semel.error.SemelException;
import dev.semel.store.Batch;
import dev.semel.store.Store;
import dev.semel.store.Write;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Semaphore;
import org.jspecify.annotations.Nullable;

/**
 * Group commit. Callers hand over a write and park; a lane takes what has gathered, applies it in one transaction, and
 * answers each caller with its own outcome after the fsync. This is where the speed comes from, and why no answer is
 * ever sent before its commit.
 */
public final class Committer implements AutoCloseable {
    private final List<LaneLoop> lanes = new ArrayList<>();
    private final LeaseKeeper leases;
    private final Semaphore triggerRoom;
    private final Counters counters;
    private volatile boolean closed;

    public Committer(Store store, LeaseKeeper leases, Limits limits, Surroundings surroundings) {
        this.leases = leases;
        this.counters = surroundings.counters();
        this.triggerRoom = new Semaphore(limits.queuedTriggers());
        for (int slot = 0; slot < store.lanes(); slot++) {
            lanes.add(new LaneLoop(new LaneLoop.Place(slot, store.openLane()), leases, limits, surroundings));
        }
    }

    /** What the engine's parts share. */
    public record Surroundings(Ambient ambient, Counters counters) {}

    public int lanes() {
        return lanes.size();
    }

    /** The lease that owners write under now, or null while there is none. */
    public @Nullable Long lease() {
        Batch.Hold hold = leases.hold(0);
        return hold == null ? null : hold.lease();
    }

    /** Whether a newer version has made this one unable to write to the store, until it ends. */
    boolean isOutdated() {
        return leases.outdated() != null;
    }

    /** A trigger: refused at once when too many wait already, or when the store is known not to take writes. */
    public CompletableFuture<Write.Admitted> admit(int lane, Write.Admit admit) {
        if (closed) {
            throw shuttingDown();
        }
        if (!triggerRoom.tryAcquire()) {
            counters.overload.increment();
            throw new SemelException(
                    ErrorCode.OVERLOADED,
                    "More triggers are waiting for the store than this worker holds. No run was started.",
                    "Send it again with the same key in a moment; that is always safe.");
        }
        CompletableFuture<Write.Admitted> answer = lanes.get(lane).submit(admit, true);
        return answer.whenComplete((_, _) -> triggerRoom.release());
    }

    /** A write that somebody waits for: given up, as a trigger is, when the store does not take it in time. */
    public <O> CompletableFuture<O> submitSoon(int lane, Write<O> write) {
        return lanes.get(lane).submit(write, true);
    }

    /** Any other write. Never refused for load: the runs that write are bounded themselves. */
    public <O> CompletableFuture<O> submit(int lane, Write<O> write) {
        return lanes.get(lane).submit(write, false);
    }

    /** How many writes were handed over so far, on all lanes. */
    public long handedOver() {
        return lanes.stream().mapToLong(LaneLoop::handedOver).sum();
    }

    /** Whether every write that was handed over is answered. */
    public boolean isIdle() {
        return lanes.stream().allMatch(LaneLoop::isIdle);
    }

    static SemelException shuttingDown() {
        return new SemelException(
                ErrorCode.SHUTTING_DOWN,
                "This worker is shutting down. No run was started.",
                "Send it again with the same key in a moment; that is always safe.");
    }

    /** Takes no more triggers, finishes what was handed over, then stops. */
    @Override
    public void close() {
        closed = true;
        lanes.forEach(LaneLoop::close);
    }
}
