package dev.semel.store;

import dev.semel.run.RunId;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** The port to the database: named writes and reads, no SQL. */
public interface Store extends AutoCloseable {
    /** Brings the schema up to date; refuses one that is newer and breaking. */
    void migrate();

    /** How many lanes may write at the same time. */
    int lanes();

    Lane openLane();

    /** How many of the users' own transactions may be open beside the lanes; 0 where they join a lane. */
    int txLanes();

    /** A connection for {@link Write.Tx} alone: the user's code runs on it before the fence is taken. */
    Lane openTxLane();

    /** One reading connection, for one thread. */
    Reads openReads();

    Leases openLeases();

    /**
     * Calls back when another worker made something to do: with the run that it concerns, or with null. A hint that may
     * come late or never, on a thread that must not be kept long. Stores for one process have none to give.
     */
    default Listening listen(Consumer<@Nullable RunId> told) {
        return () -> {};
    }

    /** Ends with {@link #close}. */
    interface Listening extends AutoCloseable {
        @Override
        void close();
    }

    /** What a commit survives, by the settings of the database: fsync, journal mode, replication. */
    Durability durability();

    @Override
    void close();
}
