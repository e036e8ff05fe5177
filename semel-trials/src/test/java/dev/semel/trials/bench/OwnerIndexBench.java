package dev.semel.trials.bench;

import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.Statement;

/** Whether an index on the owners of unfinished runs would pay: what it saves a takeover, and what it costs a trigger. */
final class OwnerIndexBench {
    private static final String INDEX =
            "CREATE INDEX bench_owner ON semel_unfinished_run (owner) WHERE owner IS NOT NULL";
    private static final int OTHERS = 100_000;
    private static final int TAKEN = 5_000;

    // The statement of a takeover.
    private static final String FREE = """
        WITH its AS MATERIALIZED (
            SELECT run FROM semel_unfinished_run WHERE owner = 4711 ORDER BY run FOR NO KEY UPDATE)
        UPDATE semel_unfinished_run w SET owner = NULL, crash_count = w.crash_count + 1 FROM its WHERE w.run = its.run
        """;

    private OwnerIndexBench() {}

    static void measure(String url, double seconds) throws Exception {
        double[] plain = new double[WorkersBench.ROUNDS];
        double[] indexed = new double[WorkersBench.ROUNDS];
        try (BenchServerProcess server = WorkersBench.server(url);
                Connection connection = DriverManager.getConnection(url);
                Statement sql = connection.createStatement()) {
            WorkersBench.rate(Math.max(5, seconds * 2), server);
            for (int i = 0; i < WorkersBench.ROUNDS; i++) {
                plain[i] = WorkersBench.rate(seconds, server);
                sql.execute(INDEX);
                indexed[i] = WorkersBench.rate(seconds, server);
                sql.execute("DROP INDEX bench_owner");
            }
            WorkersBench.say(
                    "triggers a second: %.0f without the index, %.0f with it: %.3f",
                    WorkersBench.median(plain),
                    WorkersBench.median(indexed),
                    WorkersBench.median(indexed) / WorkersBench.median(plain));
        }
        try (Connection connection = DriverManager.getConnection(url);
                Statement sql = connection.createStatement()) {
            fill(sql);
            double without = millis(connection, sql);
            sql.execute(INDEX);
            double with = millis(connection, sql);
            WorkersBench.say(
                    "freeing %d runs of a dead worker beside %d runs asleep: %.0f ms without the index, %.0f ms with"
                            + " it",
                    TAKEN, OTHERS, without, with);
        }
    }

    private static void fill(Statement sql) throws SQLException {
        sql.execute("""
            INSERT INTO semel_unfinished_run (run, workflow_id, owner, claim_count, state, start_blocked, due_at)
            SELECT decode(lpad(to_hex(n), 32, '0'), 'hex'), 'wf_bench', CASE WHEN n <= %d THEN 4711 END, 1, 3, 0,
                   4000000000000000 FROM generate_series(1, %d) AS n
            """.formatted(TAKEN, TAKEN + OTHERS));
        sql.execute("VACUUM ANALYZE semel_unfinished_run");
    }

    /** Undone each time, so that the next one finds the same. */
    private static double millis(Connection connection, Statement sql) throws SQLException {
        double[] took = new double[WorkersBench.ROUNDS];
        connection.setAutoCommit(false);
        for (int i = 0; i < took.length; i++) {
            long began = System.nanoTime();
            if (sql.executeUpdate(FREE) != TAKEN) {
                throw new IllegalStateException("another number of runs was freed");
            }
            took[i] = (System.nanoTime() - began) / 1e6;
            connection.rollback();
        }
        connection.setAutoCommit(true);
        return WorkersBench.median(took);
    }
}
