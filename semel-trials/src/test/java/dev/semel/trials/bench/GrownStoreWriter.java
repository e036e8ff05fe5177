package dev.semel.trials.bench;

import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.SplittableRandom;
import java.util.TreeSet;

/** A store that has been in use: millions of finished runs, each under a random key. Written straight into the tables. */
final class GrownStoreWriter {
    private static final int SLICE = 500_000;

    /** They ended just now: what is older than its time would be looked at by the sweep all through the load. */
    private static final String NOW = "(extract(epoch FROM clock_timestamp()) * 1000000)::bigint";

    private static final String NOW_IN_SQLITE = "CAST(unixepoch('subsec') * 1000000 AS INTEGER)";

    private GrownStoreWriter() {}

    static void postgres(String url, int keys) throws SQLException {
        try (Connection connection = DriverManager.getConnection(url);
                Statement statement = connection.createStatement()) {
            for (int from = 0; from < keys; from += SLICE) {
                String numbers = "generate_series(" + from + ", " + (Math.min(keys, from + SLICE) - 1) + ") AS n";
                String run = "decode(lpad(to_hex(n), 32, '0'), 'hex')";
                statement.execute(
                        "INSERT INTO semel_run (run, ws, workflow_id, version, trigger_source, actor, key, input,"
                                + " field_hashes, lineage, created_at) SELECT " + run
                                + ", 1, w.workflow_id, 1, 1, 'tok_dev', 'old', '{}', '',"
                                + run + ", " + NOW + " FROM " + numbers
                                + ", (SELECT workflow_id FROM semel_workflow WHERE name = 'bench') w");
                statement.execute("INSERT INTO semel_finished_run (run, state, ended_at, output, entries) SELECT " + run
                        + ", 10, " + NOW + ", 'null', '[]' FROM " + numbers);
                statement.execute(
                        "INSERT INTO semel_key (ws, kind, key, run, digest, first_at, expires_at, flags) SELECT 1,"
                                + " 1, md5(n::text) || md5((n + 1)::text), " + run + ", decode(md5(n::text), 'hex'), 0,"
                                + " 4000000000000000, 1 FROM " + numbers);
            }
            statement.execute("VACUUM ANALYZE");
            statement.execute("CHECKPOINT");
        }
    }

    static void sqlite(String file, int keys) throws SQLException {
        try (Connection connection = DriverManager.getConnection("jdbc:sqlite:" + file)) {
            try (Statement statement = connection.createStatement()) {
                statement.execute("PRAGMA synchronous = OFF");
                statement.execute("PRAGMA cache_size = -400000");
            }
            connection.setAutoCommit(false);
            String workflow;
            try (Statement statement = connection.createStatement();
                    var row = statement.executeQuery("SELECT workflow_id FROM semel_workflow WHERE name = 'bench'")) {
                row.next();
                workflow = row.getString(1);
            }
            runs(connection, workflow, keys);
            names(connection, keys);
            connection.commit();
        }
    }

    private static void runs(Connection connection, String workflow, int keys) throws SQLException {
        try (PreparedStatement run = connection.prepareStatement(
                        "INSERT INTO semel_run (run, ws, workflow_id, version, trigger_source, actor, key, input,"
                                + " field_hashes, lineage, created_at) VALUES (?1, 1, ?2, 1, 1, 'tok_dev', 'old', '{}',"
                                + " x'', ?1, " + NOW_IN_SQLITE + ")");
                PreparedStatement end = connection.prepareStatement(
                        "INSERT INTO semel_finished_run (run, state, ended_at, output, entries) VALUES (?, 10, "
                                + NOW_IN_SQLITE + ", 'null', '[]')")) {
            for (int n = 0; n < keys; n++) {
                run.setBytes(1, id(n));
                run.setString(2, workflow);
                run.addBatch();
                end.setBytes(1, id(n));
                end.addBatch();
                if (n % 10_000 == 9_999 || n == keys - 1) {
                    run.executeBatch();
                    end.executeBatch();
                }
            }
        }
    }

    private static void names(Connection connection, int keys) throws SQLException {
        TreeSet<String> sorted = new TreeSet<>();
        SplittableRandom random = new SplittableRandom(1);
        while (sorted.size() < keys) {
            sorted.add(Long.toHexString(random.nextLong() | 1L << 63) + Long.toHexString(random.nextLong() | 1L << 63));
        }
        try (PreparedStatement name =
                connection.prepareStatement("INSERT INTO semel_key (ws, kind, key, run, digest, first_at,"
                        + " expires_at, flags) VALUES (1, 1, ?, ?, randomblob(32), 0, 4000000000000000, 1)")) {
            int n = 0;
            for (String key : sorted) {
                name.setString(1, key);
                name.setBytes(2, id(n));
                name.addBatch();
                if (++n % 10_000 == 0) {
                    name.executeBatch();
                }
            }
            name.executeBatch();
        }
    }

    private static byte[] id(int n) {
        return java.nio.ByteBuffer.allocate(16).putLong(0).putLong(n).array();
    }
}
