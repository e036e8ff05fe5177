package dev.semel.trials.crash;

import java.io.IOException;
import java.math.BigInteger;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The runs as they lie in the store, read by plain JDBC.
 *
 * @param integrity what the database says about its own file; "ok" where nothing is wrong
 */
record StoredRuns(List<Row> rows, String integrity) {
    private static final String DIGITS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
    private static final int COMPLETED = 10;

    /** Counts instead of joins that could hide a second row. */
    private static final String RUNS = """
        SELECT r.run, r.key,
               (SELECT count(*) FROM semel_key k WHERE k.run = r.run AND k.key = r.key) AS names,
               (SELECT count(*) FROM semel_unfinished_run w WHERE w.run = r.run) AS works,
               (SELECT count(*) FROM semel_finished_run e WHERE e.run = r.run) AS ends,
               (SELECT max(e.state) FROM semel_finished_run e WHERE e.run = r.run) AS end_state,
               COALESCE((SELECT u.replays FROM semel_duplicate_count u WHERE u.run = r.run), 0) AS replays,
               COALESCE((SELECT sum(q.request_count) FROM semel_duplicate_request q WHERE q.run = r.run AND q.conflict = 0), 0) AS reported
        FROM semel_run r
        """;

    /**
     * One run.
     *
     * @param names rows that give the run's key to this run
     * @param replays the counter; {@code reported} is the sum over the rows it counts
     */
    record Row(
            String runId,
            @Nullable String key,
            int names,
            int works,
            int ends,
            int endState,
            long replays,
            long reported) {
        boolean completed() {
            return works == 0 && ends == 1 && endState == COMPLETED;
        }
    }

    static StoredRuns postgres(String url) {
        try (Connection connection = DriverManager.getConnection(url)) {
            return new StoredRuns(read(connection), "ok");
        } catch (SQLException e) {
            throw new AssertionError("the store cannot be read", e);
        }
    }

    /** Reads a copy: looking must not repair what a crash left. The server must have stopped. */
    static StoredRuns sqlite(Path file, Path scratch) {
        Path copy = scratch.resolve("copy-" + System.nanoTime() + ".db");
        try {
            Files.copy(file, copy);
            Path wal = Path.of(file + "-wal");
            if (Files.exists(wal)) {
                Files.copy(wal, Path.of(copy + "-wal"));
            }
        } catch (IOException e) {
            throw new AssertionError("the store cannot be copied", e);
        }
        try (Connection connection = DriverManager.getConnection("jdbc:sqlite:" + copy)) {
            return new StoredRuns(read(connection), integrity(connection));
        } catch (SQLException e) {
            throw new AssertionError("the copy of the store cannot be read", e);
        }
    }

    private static String integrity(Connection connection) throws SQLException {
        try (Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery("PRAGMA integrity_check")) {
            row.next();
            return row.getString(1);
        }
    }

    private static List<Row> read(Connection connection) throws SQLException {
        List<Row> rows = new ArrayList<>();
        try (Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery(RUNS)) {
            while (row.next()) {
                rows.add(new Row(
                        runId(row.getBytes("run")),
                        row.getString("key"),
                        row.getInt("names"),
                        row.getInt("works"),
                        row.getInt("ends"),
                        row.getInt("end_state"),
                        row.getLong("replays"),
                        row.getLong("reported")));
            }
        }
        return rows;
    }

    /** `run_` and 22 digits of base 62, worked out a second time so that the engine's own code is not trusted. */
    static String runId(byte[] bytes) {
        BigInteger rest = new BigInteger(1, bytes);
        StringBuilder digits = new StringBuilder();
        for (int i = 0; i < 22; i++) {
            BigInteger[] parts = rest.divideAndRemainder(BigInteger.valueOf(62));
            digits.append(DIGITS.charAt(parts[1].intValue()));
            rest = parts[0];
        }
        return "run_" + digits.reverse();
    }

    boolean allCompleted() {
        return rows.stream().allMatch(Row::completed);
    }

    long unfinished() {
        return rows.stream().filter(row -> row.works() > 0).count();
    }
}
