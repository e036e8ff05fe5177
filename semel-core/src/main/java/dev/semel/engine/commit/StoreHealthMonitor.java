package dev.semel.engine.commit;

import dev.semel.store.StoreFailure;
import dev.semel.store.WorkerLeases;
import dev.semel.store.WorkflowStore;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Checks with each heartbeat. Neither durability nor clock stops a worker: the operator chooses the durability, and
 * only the store clock decides anything. Each change is logged once, with what to do.
 */
public final class StoreHealthMonitor {
    private static final Logger LOG = System.getLogger(StoreHealthMonitor.class.getName());

    /** Clocks that follow a time server differ by less. */
    private static final long CLOCKS_AGREE = TimeUnit.SECONDS.toMicros(5);

    private volatile WorkflowStore.@Nullable Durability durability;
    private boolean clockIsWrong;

    StoreHealthMonitor(WorkflowStore store) {
        try {
            durability = store.durability();
        } catch (StoreFailure e) {
            durability = null; // the first heartbeat reads it
        }
    }

    /** Returns what a commit survives, as of the last heartbeat; null if the store never reported it. */
    public WorkflowStore.@Nullable Durability durability() {
        return durability;
    }

    void recordHeartbeat(WorkerLeases.StoreStatus pulse) {
        WorkflowStore.Durability before = durability;
        WorkflowStore.Durability now = pulse.durability();
        durability = now;
        if (before != null && !before.equals(now)) {
            logDurability(before, now);
        }
        boolean wrong = Math.abs(pulse.clockAhead()) > CLOCKS_AGREE;
        if (wrong != clockIsWrong) {
            clockIsWrong = wrong;
            logClock(pulse.clockAhead());
        }
    }

    private static void logDurability(WorkflowStore.Durability before, WorkflowStore.Durability now) {
        if (!now.safe()) {
            LOG.log(
                    Level.ERROR,
                    "the store has become UNSAFE: {0}. Runs continue, but a crash can lose acknowledged requests. Set"
                            + " fsync, full_page_writes and synchronous_commit to on, and reload the database",
                    now.summary());
        } else {
            LOG.log(
                    before.safe() ? Level.WARNING : Level.INFO,
                    "the durability of the store has changed: {0}",
                    now.summary());
        }
    }

    private void logClock(long ahead) {
        if (!clockIsWrong) {
            LOG.log(Level.INFO, "the clock of this machine agrees with the store clock again");
            return;
        }
        String apart = TimeUnit.MICROSECONDS.toSeconds(Math.abs(ahead)) + " s";
        LOG.log(
                Level.WARNING,
                "the clock of this machine is {0} {1} the store clock. Key windows, leases and sleeps are not"
                        + " affected: they use the store clock. But new runs are listed in the wrong order. Synchronize"
                        + " this machine with a time server",
                apart,
                ahead > 0 ? "ahead of" : "behind");
    }
}
