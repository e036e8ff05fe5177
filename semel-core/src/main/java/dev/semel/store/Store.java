package dev.semel.store;

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

    /** What a commit survives, by the settings of the database: fsync, journal mode, replication. */
    Durability durability();

    @Override
    void close();
}
