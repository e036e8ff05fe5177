package dev.semel.store.postgres;

import java.util.ArrayList;
import java.util.List;
import java.util.Properties;

/**
 * What a connection is for; it decides how long it may wait. Every wait has an end on the server, and one on our side
 * that is later, so that the server tells what happened where it can.
 */
enum Purpose {
    /** Batches take milliseconds. Whoever waits longer than this for a lock waits for somebody who hangs. */
    LANE(2_000, 8_000, 5_000, 12_000),
    READ(2_000, 8_000, 5_000, 12_000),
    /** Heartbeats: a hung one must leave time for another before the lease is out of use. */
    LEASE(1_000, 2_500, 2_500, 3_000),
    /** Waits for hints and asks nothing. */
    LISTEN(2_000, 8_000, 5_000, 12_000),
    /** Ends the lease of a dead worker and sets its runs free; up to 10,000 rows at once. */
    TAKEOVER(500, 10_000, 5_000, 15_000),
    /** The tables of a new version; only locks have an end, because building an index takes what it takes. */
    MIGRATION(60_000, 0, 60_000, 0),
    /** The user's own statements, which may be slow and of any kind. */
    TX(10_000, 30_000, 30_000, 40_000);

    /** From here on a server knows transaction_timeout. */
    private static final int KNOWS_TRANSACTION_TIMEOUT = 17;

    private final int lockMillis;
    private final int statementMillis;
    private final int idleMillis;
    private final int socketMillis;

    Purpose(int lockMillis, int statementMillis, int idleMillis, int socketMillis) {
        this.lockMillis = lockMillis;
        this.statementMillis = statementMillis;
        this.idleMillis = idleMillis;
        this.socketMillis = socketMillis;
    }

    /** How long a statement may take before the server ends it; 0 for ever. */
    int statementMillis() {
        return statementMillis;
    }

    /** How long an answer may take before the connection is given up; 0 for ever. */
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

    /** What a new session is set to, in one message. */
    String settings(int serverVersion) {
        List<String> settings = new ArrayList<>(List.of(
                "lock_timeout = " + lockMillis,
                "statement_timeout = " + statementMillis,
                "idle_in_transaction_session_timeout = " + idleMillis,
                "default_transaction_isolation = 'read committed'"));
        if (serverVersion >= KNOWS_TRANSACTION_TIMEOUT && this != TX && this != MIGRATION) {
            // A session whose client hangs between two statements, again and again, is no reason to wait for it.
            settings.add("transaction_timeout = 30000");
        }
        if (this == LEASE || this == TAKEOVER) {
            // A heartbeat says nothing that must survive a crash. Whatever is written under a lease comes later in the
            // log than the lease itself, so it never survives without it; and a standby that hangs stops no heartbeat.
            settings.add("synchronous_commit = off");
        }
        if (this == LANE || this == READ) {
            // Fresh tables have no statistics and the planner would scan them whole; every statement of a lane
            // and of a reader goes by an index, so the plan is the same on the first day and on the last.
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
