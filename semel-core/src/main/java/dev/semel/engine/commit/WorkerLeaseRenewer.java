package dev.semel.engine.commit;

import dev.semel.engine.EngineLimits;
import dev.semel.run.MicrosecondConverter;
import dev.semel.store.CommitBatch;
import dev.semel.store.StoreFailure;
import dev.semel.store.WorkerLeases;
import dev.semel.store.WorkflowStore;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.IntSupplier;
import org.jspecify.annotations.Nullable;

/**
 * The store clock decides when a lease expires. The worker stops using it after two thirds of its duration by its
 * monotonic clock, so it always stops first. On a store that no other worker can open, the lease does not expire. A
 * lost lease is never reused: the next one has a new id.
 *
 * <p>Takeovers have their own thread: each of many hung workers can block a takeover for a while, and the renewal of
 * this worker's lease must not wait for that.
 */
public final class WorkerLeaseRenewer implements AutoCloseable {
    private static final Logger LOG = System.getLogger(WorkerLeaseRenewer.class.getName());

    /** Divisor for the retry delay after a failed heartbeat, so that several retries fit into the rest of the lease. */
    private static final int SOON = 40;

    private final WorkerLeases leases;
    private final int slots;
    private final WorkerIdentity worker;
    private final long ttlMicros;
    private final GroupCommitter.EngineDependencies dependencies;
    private final AtomicReference<@Nullable Current> current = new AtomicReference<>();
    private final ReentrantLock lock = new ReentrantLock();
    private final Condition wake = lock.newCondition();
    private final StoreHealthMonitor storeHealth;
    private final Condition takeoverWake = lock.newCondition();
    private final Thread thread;
    private final Thread takeoverThread;
    private volatile IntSupplier runs = () -> 0;
    private volatile @Nullable String outdated;
    private volatile boolean closing;
    private boolean woken;
    private boolean takeoverDue;
    private int failures;

    /** @param usableUntil by the monotonic clock of this process */
    private record Current(long lease, long usableUntil) {}

    /** @param name the display name; the lease has its own id */
    public record WorkerIdentity(String name, String version) {}

    public WorkerLeaseRenewer(
            WorkflowStore store,
            WorkerIdentity worker,
            EngineLimits limits,
            GroupCommitter.EngineDependencies dependencies) {
        this.leases = store.openLeases();
        this.slots = store.lanes() + store.txLanes();
        this.worker = worker;
        this.ttlMicros = MicrosecondConverter.of(limits.lease());
        this.dependencies = dependencies;
        this.storeHealth = new StoreHealthMonitor(store);
        tick();
        dependencies.environment().onClockJump(this::wakeUp);
        this.thread = dependencies
                .threads()
                .watch(Thread.ofPlatform().name("semel-lease").daemon(true).start(this::loop));
        this.takeoverThread = dependencies
                .threads()
                .watch(Thread.ofPlatform().name("semel-takeover").daemon(true).start(this::takeOverLoop));
    }

    /** Makes each heartbeat report how many runs this worker executes. */
    public void reportRunCount(IntSupplier activeRuns) {
        runs = activeRuns;
    }

    /** Returns the right to write as the owner of runs, or null while this worker has no lease. */
    public CommitBatch.@Nullable LeaseSlot hold(int slot) {
        Current now = current.get();
        boolean usable = now != null
                && (leases.isExclusive() || dependencies.environment().nanos() < now.usableUntil());
        return now == null || !usable ? null : new CommitBatch.LeaseSlot(now.lease(), slot);
    }

    /** Returns the state of the store as of the last heartbeat. */
    public StoreHealthMonitor storeHealth() {
        return storeHealth;
    }

    /** Returns why this worker can no longer write to the store; null while it supports the schema. */
    public @Nullable String outdated() {
        return outdated;
    }

    /** Handles the loss of the lease. Its runs belong to other workers now. */
    public void onLeaseLost() {
        if (current.getAndSet(null) != null) {
            LOG.log(
                    Level.WARNING,
                    "this worker lost its lease; other workers continue its runs, and this worker acquires a new"
                            + " lease");
        }
        wakeUp();
    }

    /** Handles an upgrade of the store by a newer version. Logs it once; every later write fails. */
    void outdated(StoreFailure.SchemaTooNew rejection) {
        current.set(null);
        if (outdated == null) {
            outdated = rejection.getMessage();
            LOG.log(
                    Level.ERROR,
                    rejection.getMessage()
                            + " Until it is upgraded, this worker (version {0}) executes no runs and answers triggers"
                            + " with 503. Workers of the newer version continue the runs.",
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
            sendHeartbeat();
            requestTakeover();
        } catch (StoreFailure.SchemaTooNew e) {
            outdated(e);
        } catch (StoreFailure e) {
            if (failures++ == 0) {
                LOG.log(Level.WARNING, "renewing the lease failed; the worker retries: " + e.getMessage());
            }
        }
    }

    /** After every renewal. Requests during a takeover count as one. */
    private void requestTakeover() {
        lock.lock();
        try {
            takeoverDue = true;
            takeoverWake.signalAll();
        } finally {
            lock.unlock();
        }
    }

    private void takeOverLoop() {
        boolean failed = false;
        while (awaitTakeoverRequest()) {
            try {
                Current now = current.get();
                int ended = leases.takeOverExpired(now == null ? 0 : now.lease());
                dependencies.counters().takeovers.add(ended);
                failed = false;
            } catch (StoreFailure.SchemaTooNew e) {
                outdated(e);
            } catch (StoreFailure e) {
                if (!failed && !closing) {
                    LOG.log(
                            Level.WARNING,
                            "taking over the runs of dead workers failed; the worker retries: " + e.getMessage());
                }
                failed = true;
            }
        }
    }

    /** Returns false when this worker stops. */
    private boolean awaitTakeoverRequest() {
        lock.lock();
        try {
            while (!closing && !takeoverDue) {
                takeoverWake.await();
            }
            takeoverDue = false;
            return !closing;
        } catch (InterruptedException e) {
            return false;
        } finally {
            lock.unlock();
        }
    }

    private void renewOrStart() {
        // Read before the request: the store counts from later on, so this worker always stops first.
        long before = dependencies.environment().nanos();
        long usableUntil = before + TimeUnit.MICROSECONDS.toNanos(ttlMicros) * 2 / 3;
        Current now = current.get();
        if (now != null && leases.renew(now.lease(), ttlMicros)) {
            current.compareAndSet(now, new Current(now.lease(), usableUntil));
            return;
        }
        if (now != null) {
            current.compareAndSet(now, null);
            LOG.log(
                    Level.WARNING,
                    "the lease of this worker expired; other workers continue its runs, and this worker acquires a new"
                            + " lease");
        }
        long lease = dependencies.environment().random().nextLong() >>> 1;
        leases.start(lease, worker.name(), slots, ttlMicros);
        current.compareAndSet(null, new Current(lease, usableUntil));
    }

    private void sendHeartbeat() {
        Current now = current.get();
        if (now == null) {
            return;
        }
        WorkerLeases.StoreStatus pulse = leases.heartbeat(
                now.lease(),
                new WorkerLeases.WorkerReport(
                        worker.version(),
                        runs.getAsInt(),
                        dependencies.environment().micros()));
        storeHealth.recordHeartbeat(pulse);
        if (pulse.unknownMigration() != null) {
            throw new StoreFailure.SchemaTooNew(pulse.unknownMigration());
        }
    }

    private void pause(long nanos) {
        lock.lock();
        try {
            long left = nanos;
            while (!closing && !woken && left > 0) { // woken: the lease was lost, or a test moved the clock
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
            woken = true; // a wake-up during a renewal counts for the next pause
            wake.signalAll();
            if (closing) {
                takeoverWake.signalAll();
            }
        } finally {
            lock.unlock();
        }
    }

    /** Releases the lease, so that other workers need not wait for its expiry. */
    @Override
    public void close() {
        closing = true;
        wakeUp();
        try {
            boolean stopped = thread.join(Duration.ofSeconds(10)) & takeoverThread.join(Duration.ofSeconds(10));
            Current now = current.getAndSet(null);
            if (now != null && stopped) { // else a takeover still uses the connection that would end the lease
                leases.end(now.lease());
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } catch (StoreFailure e) {
            LOG.log(Level.WARNING, "releasing the lease failed; the lease expires by itself: " + e.getMessage());
        } finally {
            leases.close();
        }
    }
}
