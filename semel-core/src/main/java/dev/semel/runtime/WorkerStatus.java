package dev.semel.runtime;

import dev.semel.Health;
import dev.semel.engine.commit.EssentialThreads;
import dev.semel.engine.commit.StoreErrorTranslator;
import dev.semel.engine.commit.StoreQueryThreadPool;
import dev.semel.engine.commit.WorkerLeaseRenewer;
import dev.semel.error.SemelException;
import dev.semel.store.DatabaseRows;
import dev.semel.store.StoreFailure;
import dev.semel.store.TrustedClock;
import dev.semel.store.WorkflowStore;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Reports whether this worker can execute runs, how durable its store is, and which workers share the store. */
public final class WorkerStatus {
    /** The version of Semel; a test compares it with the project's POM. */
    public static final String VERSION = "0.1.0";

    private static final Logger LOG = System.getLogger(WorkerStatus.class.getName());

    private final WorkerLeaseRenewer leases;
    private final StoreQueryThreadPool readers;
    private final EssentialThreads threads;

    WorkerStatus(WorkerLeaseRenewer leases, StoreQueryThreadPool readers, EssentialThreads threads) {
        this.leases = leases;
        this.readers = readers;
        this.threads = threads;
    }

    /** The threads without which this worker is useless. A server adds its own. */
    public EssentialThreads threads() {
        return threads;
    }

    /** Why only a restart of the process can help, as one sentence that is safe to publish; null if none is needed. */
    public @Nullable String deadReason() {
        String dead = threads.dead();
        return dead == null
                ? null
                : "Thread " + dead + " of this worker died. Runs may not continue here. Restart the process.";
    }

    static WorkerLeaseRenewer.WorkerIdentity worker(RuntimeOptions settings) {
        return new WorkerLeaseRenewer.WorkerIdentity(settings.workerName(), VERSION);
    }

    /** The default worker name: process id and host name. */
    static String defaultWorkerName() {
        String machine;
        try {
            machine = InetAddress.getLocalHost().getHostName();
        } catch (UnknownHostException e) {
            machine = "localhost"; // only a display name; the lease has a separate id
        }
        return ProcessHandle.current().pid() + "@" + machine;
    }

    /** Warns if another worker has the same name: harmless for leases, which have ids, but confusing for users. */
    WorkerStatus warnIfNameShared(String name) {
        try {
            WorkerOverview workers = workers();
            boolean shared = workers.all().stream()
                    .anyMatch(other -> other.name().equals(name)
                            && other.lease() != workers.ownLease()
                            && other.leaseUntil() >= workers.now());
            if (shared) {
                LOG.log(
                        Level.WARNING,
                        "another worker has the same name, {0}; it may be a worker that crashed a moment ago. Workers"
                                + " with the same name still execute runs correctly. Give each worker its own name",
                        name);
            }
        } catch (SemelException e) {
            return this; // other checks report an unreachable store
        }
        return this;
    }

    /** Why this worker cannot execute runs now, as one sentence that is safe to publish; null if it can. */
    public @Nullable String unreadyReason() {
        String dead = deadReason();
        if (dead != null) {
            return dead;
        }
        if (leases.outdated() != null) {
            return "A newer version of Semel upgraded the store. Upgrade this worker to that version.";
        }
        try {
            readers.read(reads -> reads.catalogVersion());
        } catch (StoreFailure e) {
            return "The store does not respond.";
        }
        return leases.hold(0) == null ? "This worker has no lease and is acquiring a new one." : null;
    }

    /** The jump of this machine's clock that nobody has confirmed yet; null if the clock is right or unreachable. */
    public TrustedClock.@Nullable ClockJump clockJump() {
        try {
            return readers.readNullable(reads -> reads.clockJump());
        } catch (StoreFailure e) {
            return null; // unreadyReason reports it
        }
    }

    Health health(String worker) {
        String reason = unreadyReason();
        TrustedClock.ClockJump jump = clockJump();
        WorkflowStore.Durability stored = durability();
        return new Health(
                reason == null,
                reason,
                stored != null && stored.safe(),
                stored == null ? "The store has not reported its settings yet." : stored.summary(),
                worker,
                jump == null ? null : jump.text());
    }

    /** What a commit survives, as the store reported with the last heartbeat; null before the first one. */
    public WorkflowStore.@Nullable Durability durability() {
        return leases.storeHealth().durability();
    }

    /**
     * @param now the store's clock, in microseconds
     * @param dueLag how long the oldest due run has waited for a worker, in microseconds
     * @param ownLease the lease of this worker; 0 if it has none
     */
    public record WorkerOverview(List<DatabaseRows.WorkerRow> all, long now, long dueLag, long ownLease) {}

    public WorkerOverview workers() {
        var hold = leases.hold(0);
        try {
            return readers.read(reads -> {
                long now = reads.now();
                long lag = Math.max(0, now - reads.nextDue());
                return new WorkerOverview(reads.workers(), now, lag, hold == null ? 0 : hold.lease());
            });
        } catch (StoreFailure e) {
            throw StoreErrorTranslator.toSemelException(e);
        }
    }
}
