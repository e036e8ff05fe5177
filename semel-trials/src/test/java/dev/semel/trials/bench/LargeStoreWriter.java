package dev.semel.trials.bench;

import dev.semel.run.RunId;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;

/**
 * A store after a year of use, written straight into its tables: runs of the last thirty days, five keys each, an effect
 * each; one in 200 failed, one in ten was asked for again, one effect in a thousand is in doubt.
 */
final class LargeStoreWriter {
    private static final long MONTH = 30L * 24 * 3_600 * 1_000_000;
    private static final int BATCH = 10_000;

    private final Connection connection;
    private final int runs;
    private final int keysEach;
    private final long now;
    private final List<String> workflows = new ArrayList<>();

    LargeStoreWriter(Connection connection, int runs, int keysEach, long now) {
        this.connection = connection;
        this.runs = runs;
        this.keysEach = keysEach;
        this.now = now;
    }

    static void fill(String url, int runs, int keysEach, long now) throws SQLException {
        boolean lite = url.startsWith("jdbc:sqlite");
        String address = lite ? url : url + (url.contains("?") ? "&" : "?") + "reWriteBatchedInserts=true";
        try (Connection connection = DriverManager.getConnection(address)) {
            try (Statement statement = connection.createStatement()) {
                statement.execute(lite ? "PRAGMA synchronous = OFF" : "SET synchronous_commit = off");
            }
            connection.setAutoCommit(false);
            LargeStoreWriter large = new LargeStoreWriter(connection, runs, keysEach, now);
            large.write();
            connection.commit();
            connection.setAutoCommit(true);
            try (Statement statement = connection.createStatement()) {
                statement.execute(lite ? "ANALYZE" : "VACUUM ANALYZE");
            }
        }
    }

    private void write() throws SQLException {
        try (Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery(
                        "SELECT workflow_id FROM semel_workflow WHERE name LIKE 'flow%' ORDER BY name")) {
            while (row.next()) {
                workflows.add(row.getString(1));
            }
        }
        runs();
        names();
        effects();
        repeats();
    }

    private void runs() throws SQLException {
        each(
                1,
                "INSERT INTO semel_run (run, ws, workflow_id, version, trigger_source, actor, key, input,"
                        + " field_hashes, lineage, created_at) VALUES (?, 1, ?, 1, 1, 'tok_dev', ?,"
                        + " '{\"payment_id\":\"pay_abc\",\"amount\":4900}', ?, ?, ?)",
                (row, n, _) -> {
                    row.setBytes(1, id(n).bytes());
                    row.setString(2, workflow(n));
                    row.setString(3, key(n, 0));
                    row.setBytes(4, new byte[0]);
                    row.setBytes(5, id(n).bytes());
                    row.setLong(6, at(n));
                });
        each(
                1,
                "INSERT INTO semel_finished_run (run, state, ended_at, output, error_code, error_message, error_step,"
                        + " entries, ws, workflow_id) VALUES (?, ?, ?, ?, ?, ?, ?, '[]', ?, ?)",
                (row, n, _) -> {
                    boolean failed = n % 200 == 0;
                    row.setBytes(1, id(n).bytes());
                    row.setInt(2, failed ? 11 : 10);
                    row.setLong(3, at(n));
                    row.setString(4, failed ? null : "{\"ok\":true}");
                    row.setString(5, failed ? "step-failed" : null);
                    row.setString(6, failed ? "it broke" : null);
                    row.setString(7, failed ? "pay" : null);
                    row.setObject(8, failed ? 1 : null, java.sql.Types.INTEGER);
                    row.setString(9, failed ? workflow(n) : null);
                });
    }

    private void names() throws SQLException {
        each(
                keysEach,
                "INSERT INTO semel_key (ws, kind, key, run, digest, first_at, expires_at, flags)"
                        + " VALUES (1, 1, ?, ?, ?, ?, 4000000000000000, 1)",
                (row, n, i) -> {
                    row.setString(1, key(n, i));
                    row.setBytes(2, id(n).bytes());
                    row.setBytes(3, new byte[32]);
                    row.setLong(4, at(n));
                });
    }

    private void effects() throws SQLException {
        each(
                1,
                "INSERT INTO semel_effect (ws, digest, step, run, claim, reservation, state, generation, attempt,"
                    + " first_at, accepted_at, window_micros, expires_at, key, path, workflow_id, protection, action)"
                    + " VALUES (1, ?, 'pay', ?, 1, 1, ?, 1, 1, ?, ?, 86400000000, 4000000000000000, ?, 'pay', ?,"
                    + " 'provider_key', 'create')",
                (row, n, _) -> {
                    row.setString(1, "%032x".formatted(n * 2_654_435_761L));
                    row.setBytes(2, id(n).bytes());
                    row.setInt(3, n % 1_000 == 0 ? 3 : 2);
                    row.setLong(4, at(n));
                    row.setLong(5, at(n));
                    row.setString(6, "effect-" + n);
                    row.setString(7, workflow(n));
                });
    }

    private void repeats() throws SQLException {
        each(
                1,
                "INSERT INTO semel_duplicate_count (run, replays, conflicts, last_at) VALUES (?, 1, 0, ?)",
                (row, n, _) -> {
                    row.setBytes(1, id(n).bytes());
                    row.setLong(2, at(n));
                },
                10);
        each(
                1,
                "INSERT INTO semel_duplicate_request (run, id, ws, conflict, at, status_code, actor, request_count)"
                        + " VALUES (?, ?, 1, 0, ?, 200, 'tok_dev', 1)",
                (row, n, _) -> {
                    row.setBytes(1, id(n).bytes());
                    row.setBytes(2, id(n).bytes());
                    row.setLong(3, at(n));
                },
                10);
    }

    private void each(int times, String sql, Row row) throws SQLException {
        each(times, sql, row, 1);
    }

    private void each(int times, String sql, Row row, int step) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(sql)) {
            int open = 0;
            for (int n = 0; n < runs; n += step) {
                for (int i = 0; i < times; i++) {
                    row.set(statement, n, i);
                    statement.addBatch();
                    if (++open == BATCH) {
                        statement.executeBatch();
                        open = 0;
                    }
                }
            }
            statement.executeBatch();
        }
    }

    private interface Row {
        void set(PreparedStatement statement, int n, int i) throws SQLException;
    }

    /** Most runs belong to the first workflow, a thousandth to the last. */
    private String workflow(int n) {
        return n % 1_000 == 0 ? workflows.getLast() : workflows.get(n % 3 == 0 ? n % (workflows.size() - 1) : 0);
    }

    private long at(int n) {
        return now - MONTH + MONTH / runs * n;
    }

    private RunId id(int n) {
        return new RunId(at(n) << 12, n);
    }

    static String key(int n, int i) {
        return "%08x".formatted(n * -1_640_531_535) + "-order-" + i;
    }
}
