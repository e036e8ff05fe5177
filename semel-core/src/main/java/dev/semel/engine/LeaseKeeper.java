package dev.semel.engine;

import dev.semel.store.Batch;
import dev.semel.store.Leases;
import dev.semel.store.Store;
import dev.semel.store.StoreFailure;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * Keeps this worker's lease. The store's clock decides when a lease is over; this worker stops using it after two
 * thirds of its time by its own forward clock, so that it is never the last to know. A lost lease is never taken up
 * again: the next one has a new id.
 */
public final class LeaseKeeper implements AutoCloseable {
    private static final Logger LOG = System.getLogger(LeaseKeeper.class.getName());

    private final Leases leases;
    private final int slots;
    private final String worker;
    private final long ttlMicros;
    private final Committer.Surroundings around;
    private final AtomicReference<@Nullable Current> current = new AtomicReference<>();
    private final ReentrantLock lock = new ReentrantLock();
    private final Condition wake = lock.newCondition();
    private final Thread thread;
    private volatile boolean closing;
    private boolean woken;

    /** @param usableUntil by the forward clock of this process */
    private record Current(long lease, long usableUntil) {}

    public LeaseKeeper(Store store, String worker, Limits limits, Committer.Surroundings around) {
        this.leases = store.openLeases();
        this.slots = store.lanes() + store.txLanes();
        this.worker = worker;
        this.ttlMicros = limits.lease().toNanos() / 1_000;
        this.around = around;
        tick();
        around.ambient().onJump(this::wakeUp);
        this.thread = Thread.ofPlatform().name("semel-lease").daemon(true).start(this::loop);
    }

    /** The right to write as an owner, or null while there is none. */
    public Batch.@Nullable Hold hold(int slot) {
        Current now = current.get();
        return now == null || around.ambient().nanos() >= now.usableUntil() ? null : new Batch.Hold(now.lease(), slot);
    }

    /** The store said that the lease is gone. Its runs are not ours any more. */
    void lost() {
        if (current.getAndSet(null) != null) {
            LOG.log(Level.WARNING, "this worker's lease is gone; its runs go on elsewhere, and it takes a new lease");
        }
        wakeUp();
    }

    private void loop() {
        while (!closing) {
            pause(TimeUnit.MICROSECONDS.toNanos(ttlMicros / 3));
            if (!closing) {
                tick();
            }
        }
    }

    private void tick() {
        try {
            renewOrStart();
            int ended = leases.takeOver();
            around.counters().takeovers.add(ended);
        } catch (StoreFailure e) {
            LOG.log(Level.WARNING, "the lease could not be renewed and will be tried again: " + e.getMessage());
        }
    }

    private void renewOrStart() {
        // Taken before the request leaves: the store's own count begins later, so we always stop earlier than it.
        long before = around.ambient().nanos();
        long usableUntil = before + TimeUnit.MICROSECONDS.toNanos(ttlMicros) * 2 / 3;
        Current now = current.get();
        if (now != null && leases.renew(now.lease(), ttlMicros)) {
            current.compareAndSet(now, new Current(now.lease(), usableUntil));
            return;
        }
        if (now != null) {
            current.compareAndSet(now, null);
            LOG.log(Level.WARNING, "this worker's lease ran out; its runs go on elsewhere, and it takes a new lease");
        }
        long lease = around.ambient().random().nextLong() >>> 1;
        leases.start(lease, worker, slots, ttlMicros);
        current.compareAndSet(null, new Current(lease, usableUntil));
    }

    private void pause(long nanos) {
        lock.lock();
        try {
            long left = nanos;
            while (!closing && !woken && left > 0) { // woken: a lease was lost, or somebody moved the clock
                left = wake.awaitNanos(left);
            }
            woken = false;
        } catch (InterruptedException e) {
            closing = true;
        } finally {
            lock.unlock();
        }
    }

    private void wakeUp() {
        lock.lock();
        try {
            woken = true; // a wake-up that comes during a renewal counts for the next pause
            wake.signalAll();
        } finally {
            lock.unlock();
        }
    }

    /** Gives the lease back, so that others need not wait for it to run out. */
    @Override
    public void close() {
        closing = true;
        wakeUp();
        try {
            thread.join(10_000);
            Current now = current.getAndSet(null);
            if (now != null) {
                leases.end(now.lease());
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } catch (StoreFailure e) {
            LOG.log(Level.WARNING, "the lease could not be given back; it runs out by itself: " + e.getMessage());
        } finally {
            leases.close();
        }
    }
}
