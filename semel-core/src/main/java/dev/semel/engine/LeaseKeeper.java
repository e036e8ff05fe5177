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
import java.util.function.IntSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Keeps this worker's lease. The store's clock decides when a lease is over; this worker stops using it after two
 * thirds of its time by its own forward clock, so that it is never the last to know. A lost lease is never taken up
 * again: the next one has a new id.
 */
public final class LeaseKeeper implements AutoCloseable {
    private static final Logger LOG = System.getLogger(LeaseKeeper.class.getName());

    /** A failed heartbeat is tried again soon, so that several fit into what is left of the lease. */
    private static final int SOON = 40;

    private final Leases leases;
    private final int slots;
    private final Worker worker;
    private final long ttlMicros;
    private final Committer.Surroundings around;
    private final AtomicReference<@Nullable Current> current = new AtomicReference<>();
    private final ReentrantLock lock = new ReentrantLock();
    private final Condition wake = lock.newCondition();
    private final Vigil vigil;
    private final Thread thread;
    private volatile IntSupplier runs = () -> 0;
    private volatile @Nullable String outdated;
    private volatile boolean closing;
    private boolean woken;
    private int failures;

    /** @param usableUntil by the forward clock of this process */
    private record Current(long lease, long usableUntil) {}

    /**
     * Who this is, for people.
     *
     * @param name what the workers are listed under; the lease has an id of its own
     * @param version of Semel
     */
    public record Worker(String name, String version) {}

    public LeaseKeeper(Store store, Worker worker, Limits limits, Committer.Surroundings around) {
        this.leases = store.openLeases();
        this.slots = store.lanes() + store.txLanes();
        this.worker = worker;
        this.ttlMicros = limits.lease().toNanos() / 1_000;
        this.around = around;
        this.vigil = new Vigil(store);
        tick();
        around.ambient().onJump(this::wakeUp);
        this.thread = Thread.ofPlatform().name("semel-lease").daemon(true).start(this::loop);
    }

    /** From now on each heartbeat tells how many runs this worker drives. */
    public void counting(IntSupplier driven) {
        runs = driven;
    }

    /** The right to write as an owner, or null while there is none. */
    public Batch.@Nullable Hold hold(int slot) {
        Current now = current.get();
        return now == null || around.ambient().nanos() >= now.usableUntil() ? null : new Batch.Hold(now.lease(), slot);
    }

    /** What is known of the store since the last heartbeat. */
    public Vigil vigil() {
        return vigil;
    }

    /** Why this worker has nothing more to write to this store; null as long as it understands its schema. */
    public @Nullable String outdated() {
        return outdated;
    }

    /** The store said that the lease is gone. Its runs are not ours any more. */
    void lost() {
        if (current.getAndSet(null) != null) {
            LOG.log(Level.WARNING, "this worker's lease is gone; its runs go on elsewhere, and it takes a new lease");
        }
        wakeUp();
    }

    /** A newer version has taken the store over. Said once; from now on every write is refused. */
    void outdated(StoreFailure.Outdated refusal) {
        current.set(null);
        if (outdated == null) {
            outdated = refusal.getMessage();
            LOG.log(
                    Level.ERROR,
                    refusal.getMessage()
                            + " Until then this worker (version {0}) drives no runs and answers triggers with 503; its"
                            + " runs go on at workers of the newer version.",
                    worker.version());
        }
    }

    private void loop() {
        while (!closing) {
            long usual = TimeUnit.MICROSECONDS.toNanos(ttlMicros / 3);
            pause(failures == 0 ? usual : Math.min(usual, usual * 3 / SOON << Math.min(failures - 1, 10)));
            if (!closing && outdated == null) {
                tick();
            }
        }
    }

    private void tick() {
        try {
            renewOrStart();
            failures = 0;
            tell();
            int ended = leases.takeOver();
            around.counters().takeovers.add(ended);
        } catch (StoreFailure.Outdated e) {
            outdated(e);
        } catch (StoreFailure e) {
            if (failures++ == 0) {
                LOG.log(Level.WARNING, "the lease could not be renewed and will be tried again: " + e.getMessage());
            }
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
        leases.start(lease, worker.name(), slots, ttlMicros);
        current.compareAndSet(null, new Current(lease, usableUntil));
    }

    private void tell() {
        Current now = current.get();
        if (now == null) {
            return;
        }
        Leases.Pulse pulse = leases.pulse(
                now.lease(),
                new Leases.Told(
                        worker.version(), runs.getAsInt(), around.ambient().micros()));
        vigil.saw(pulse);
        if (pulse.newer() != null) {
            throw new StoreFailure.Outdated(pulse.newer());
        }
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
