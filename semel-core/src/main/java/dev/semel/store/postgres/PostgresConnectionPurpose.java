package dev.semel.store.postgres;

import java.util.ArrayList;
import java.util.List;
import java.util.Properties;

/** Every wait has a time-out on the server and a later one on the client, so that the server reports the cause. */
enum PostgresConnectionPurpose {
    /** Batches take milliseconds; a longer wait for a lock means that another session hangs. */
    LANE(2_000, 8_000, 5_000, 12_000),
    READ(2_000, 8_000, 5_000, 12_000),
    /** Heartbeats: after one that hangs there must be time for another before the lease expires. */
    LEASE(1_000, 2_500, 2_500, 3_000),
    /** Receives notifications and sends no queries. */
    LISTEN(2_000, 8_000, 5_000, 12_000),
    /** Ends the lease of a dead worker and releases its runs; up to 10,000 rows at once. */
    TAKEOVER(500, 10_000, 5_000, 15_000),
    /** Schema migrations; only locks have a time-out, because building an index may take long. */
    MIGRATION(60_000, 0, 60_000, 0),
    /** Statements of user code, which may be slow. */
    TX(10_000, 30_000, 30_000, 40_000);

    /** The first PostgreSQL version with transaction_timeout. */
    private static final int KNOWS_TRANSACTION_TIMEOUT = 17;

    private final int lockMillis;
    private final int statementMillis;
    private final int idleMillis;
    private final int socketMillis;

    PostgresConnectionPurpose(int lockMillis, int statementMillis, int idleMillis, int socketMillis) {
        this.lockMillis = lockMillis;
        this.statementMillis = statementMillis;
        this.idleMillis = idleMillis;
        this.socketMillis = socketMillis;
    }

    /** Time after which the server cancels a statement; 0 for no limit. */
    int statementMillis() {
        return statementMillis;
    }

    /** Time after which the client gives up the connection; 0 for no limit. */
    int socketMillis() {
        return socketMillis;
    }

    Properties properties() {
        Properties properties = new Properties();
        properties.setProperty("ApplicationName", "semel");
        properties.setProperty("prepareThreshold", "1");
        properties.setProperty("tcpKeepAlive", "true");
        properties.setProperty("connectTimeout", this == LEASE ? "2" : "5");
        properties.setProperty("socketTimeout", String.valueOf((socketMillis + 999) / 1_000));
        properties.setProperty("reWriteBatchedInserts", "false");
        properties.setProperty("targetServerType", "primary");
        return properties;
    }

    /** Returns the SET statements of a new session, sent in one message. */
    String settings(int serverVersion) {
        List<String> settings = new ArrayList<>(List.of(
                "lock_timeout = " + lockMillis,
                "statement_timeout = " + statementMillis,
                "idle_in_transaction_session_timeout = " + idleMillis,
                "default_transaction_isolation = 'read committed'"));
        if (serverVersion >= KNOWS_TRANSACTION_TIMEOUT && this != TX && this != MIGRATION) {
            // Ends a transaction whose client hangs repeatedly between two statements.
            settings.add("transaction_timeout = 30000");
        }
        if (this == LEASE || this == TAKEOVER) {
            // A heartbeat need not survive a crash. Writes under a lease come later in the WAL than the lease, so they
            // never survive without it; and a hanging standby does not block heartbeats.
            settings.add("synchronous_commit = off");
        }
        if (this == LANE || this == READ) {
            // New tables have no statistics and the planner would scan them. Every statement of a lane or reader uses
            // an index, so the plan never changes.
            settings.addAll(List.of(
                    "enable_seqscan = off",
                    "enable_hashjoin = off",
                    "enable_mergejoin = off",
                    "enable_bitmapscan = off",
                    "plan_cache_mode = force_generic_plan",
                    "jit = off"));
        }
        StringBuilder all = new StringBuilder();
        settings.forEach(one -> all.append("SET ").append(one).append(';'));
        return all.toString();
    }
}
