package dev.semel;

import dev.semel.engine.LeaseKeeper;
import dev.semel.engine.Readers;
import dev.semel.error.SemelException;
import dev.semel.store.Durability;
import dev.semel.store.Rows;
import dev.semel.store.StoreFailure;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** How this worker is, what its store promises, and who else works on it. */
public final class Standing {
    /** Of Semel, as in the project's own description; a test compares. */
    public static final String VERSION = "0.1.0";

    private static final Logger LOG = System.getLogger(Standing.class.getName());

    private final LeaseKeeper leases;
    private final Readers readers;

    Standing(LeaseKeeper leases, Readers readers) {
        this.leases = leases;
        this.readers = readers;
    }

    static LeaseKeeper.Worker worker(Settings settings) {
        return new LeaseKeeper.Worker(settings.worker(), VERSION);
    }

    /** Process and machine, unless somebody chooses a name. */
    static String usualName() {
        String machine;
        try {
            machine = InetAddress.getLocalHost().getHostName();
        } catch (UnknownHostException e) {
            machine = "localhost"; // a name for people; the lease has an id of its own
        }
        return ProcessHandle.current().pid() + "@" + machine;
    }

    /** Two workers under one name do no harm, because a lease has an id of its own; but nobody can tell them apart. */
    Standing warningOf(String name) {
        try {
            Workers workers = workers();
            boolean shared = workers.all().stream()
                    .anyMatch(other -> other.name().equals(name)
                            && other.lease() != workers.here()
                            && other.until() >= workers.now());
            if (shared) {
                LOG.log(
                        Level.WARNING,
                        "another worker is called {0} too, or was until it died a moment ago. Both work and nothing is"
                                + " done twice: each has a lease of its own. Give each a name of its own to tell them"
                                + " apart",
                        name);
            }
        } catch (SemelException e) {
            return this; // a store that does not answer is told by others
        }
        return this;
    }

    /** Why this worker may not drive runs right now, in one sentence that says nothing private; null where it may. */
    public @Nullable String trouble() {
        if (leases.outdated() != null) {
            return "The store was upgraded by a newer Semel than this worker. Start the newer version here.";
        }
        try {
            readers.ask(reads -> reads.catalogChange());
        } catch (StoreFailure e) {
            return "The store does not answer.";
        }
        return leases.hold(0) == null ? "This worker has no lease right now; it is taking a new one." : null;
    }

    /** What a commit survives, as the store said with the last heartbeat; null where it never did. */
    public @Nullable Durability durability() {
        return leases.vigil().durability();
    }

    /**
     * All workers on this store.
     *
     * @param now by the store's clock, in microseconds
     * @param lag how late the oldest run is that is due and that nobody drives, in microseconds
     * @param here the lease of this worker; 0 where it has none
     */
    public record Workers(List<Rows.Worker> all, long now, long lag, long here) {}

    public Workers workers() {
        var hold = leases.hold(0);
        try {
            return readers.ask(reads -> {
                long now = reads.now();
                long lag = Math.max(0, now - reads.nextDue());
                return new Workers(reads.workers(), now, lag, hold == null ? 0 : hold.lease());
            });
        } catch (StoreFailure e) {
            throw Unavailable.because(e);
        }
    }
}
