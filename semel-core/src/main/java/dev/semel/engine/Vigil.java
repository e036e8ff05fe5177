package dev.semel.engine;

import dev.semel.store.Durability;
import dev.semel.store.Leases;
import dev.semel.store.Store;
import dev.semel.store.StoreFailure;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Watches, with each heartbeat, what the store promises and what this machine's clock says. Neither stops a worker:
 * the operator decides what a commit has to survive, and only the store's clock decides anything. Each change is said
 * once, in the log, with what to do.
 */
public final class Vigil {
    private static final Logger LOG = System.getLogger(Vigil.class.getName());

    /** Clocks that follow a time server are closer than this. */
    private static final long CLOCKS_AGREE = TimeUnit.SECONDS.toMicros(5);

    private volatile @Nullable Durability durability;
    private boolean clockIsWrong;

    Vigil(Store store) {
        try {
            durability = store.durability();
        } catch (StoreFailure e) {
            durability = null; // the first heartbeat will tell
        }
    }

    /** What a commit survives, as it was at the last heartbeat; null where the store never told. */
    public @Nullable Durability durability() {
        return durability;
    }

    void saw(Leases.Pulse pulse) {
        Durability before = durability;
        Durability now = pulse.durability();
        durability = now;
        if (before != null && !before.equals(now)) {
            told(before, now);
        }
        boolean wrong = Math.abs(pulse.ahead()) > CLOCKS_AGREE;
        if (wrong != clockIsWrong) {
            clockIsWrong = wrong;
            told(pulse.ahead());
        }
    }

    private static void told(Durability before, Durability now) {
        if (!now.safe()) {
            LOG.log(
                    Level.ERROR,
                    "the store has become UNSAFE: {0}. Runs go on, and what is answered from now on can be lost. Set"
                            + " fsync, full_page_writes and synchronous_commit to on, and reload the database",
                    now.line());
        } else {
            LOG.log(
                    before.safe() ? Level.WARNING : Level.INFO,
                    "the durability of the store has changed: {0}",
                    now.line());
        }
    }

    private void told(long ahead) {
        if (!clockIsWrong) {
            LOG.log(Level.INFO, "this machine's clock agrees with the store's again");
            return;
        }
        String apart = TimeUnit.MICROSECONDS.toSeconds(Math.abs(ahead)) + " s";
        LOG.log(
                Level.WARNING,
                "this machine''s clock is {0} {1} the store''s. No window, lease or sleep is harmed: the store''s"
                    + " clock decides them all. But new runs are listed in the wrong place. Let this machine follow a"
                    + " time server",
                apart,
                ahead > 0 ? "ahead of" : "behind");
    }
}
