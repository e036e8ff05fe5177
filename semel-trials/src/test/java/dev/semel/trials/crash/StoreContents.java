package dev.semel.trials.crash;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;

/**
 * What a store holds after a life has ended, read by plain JDBC.
 *
 * @param rows what {@link CrashAction#TX} inserted
 * @param signals messages that were delivered
 */
record StoreContents(List<Run> runs, List<Effect> effects, int rows, int signals) {
    static final int IN_DOUBT = 5;
    static final int COMPLETED = 10;

    /** Codes of the ledger's states, as the schema names them. */
    static final int DONE = 2;

    static final int UNKNOWN = 3;

    /** @param work the state of a run that has not ended, @param end of one that has; 0 where there is no such row */
    record Run(String id, String key, int works, int ends, int work, int end, String output) {}

    record Effect(int state, int attempt, String key) {}

    private static final String RUNS = """
        SELECT r.run, COALESCE(r.key, '') AS key,
               (SELECT count(*) FROM semel_unfinished_run w WHERE w.run = r.run) AS works,
               (SELECT count(*) FROM semel_finished_run e WHERE e.run = r.run) AS ends,
               COALESCE((SELECT max(w.state) FROM semel_unfinished_run w WHERE w.run = r.run), 0) AS work_state,
               COALESCE((SELECT max(e.state) FROM semel_finished_run e WHERE e.run = r.run), 0) AS end_state,
               COALESCE((SELECT max(e.output) FROM semel_finished_run e WHERE e.run = r.run), '') AS output
        FROM semel_run r
        """;

    /** Of a store as a life was notified it; a file is copied first, since looking must not repair what a crash left. */
    static StoreContents of(String store, Path scratch) {
        try {
            if (!store.startsWith("sqlite:")) {
                return read(store);
            }
            Path file = Path.of(store.substring("sqlite:".length()));
            Path copy = Files.createTempFile(scratch, "copy", ".db");
            Files.copy(file, copy, java.nio.file.StandardCopyOption.REPLACE_EXISTING);
            Path wal = Path.of(file + "-wal");
            if (Files.exists(wal)) {
                Files.copy(wal, Path.of(copy + "-wal"));
            }
            return read("jdbc:sqlite:" + copy);
        } catch (IOException | SQLException e) {
            throw new AssertionError("the store cannot be read", e);
        }
    }

    private static StoreContents read(String url) throws SQLException {
        try (Connection connection = DriverManager.getConnection(url);
                Statement statement = connection.createStatement()) {
            List<Run> runs = new ArrayList<>();
            try (ResultSet row = statement.executeQuery(RUNS)) {
                while (row.next()) {
                    runs.add(new Run(
                            StoredRuns.runId(row.getBytes("run")),
                            row.getString("key"),
                            row.getInt("works"),
                            row.getInt("ends"),
                            row.getInt("work_state"),
                            row.getInt("end_state"),
                            row.getString("output")));
                }
            }
            List<Effect> effects = new ArrayList<>();
            try (ResultSet row = statement.executeQuery("SELECT state, attempt, key FROM semel_effect")) {
                while (row.next()) {
                    effects.add(new Effect(row.getInt("state"), row.getInt("attempt"), row.getString("key")));
                }
            }
            int signals = number(statement, "SELECT count(*) FROM semel_signal");
            boolean inserted = false;
            try (ResultSet table = connection.getMetaData().getTables(null, null, "crash_row", null)) {
                inserted = table.next();
            }
            int rows = inserted ? number(statement, "SELECT count(*) FROM crash_row") : 0;
            return new StoreContents(runs, effects, rows, signals);
        }
    }

    private static int number(Statement statement, String sql) throws SQLException {
        try (ResultSet row = statement.executeQuery(sql)) {
            row.next();
            return row.getInt(1);
        }
    }

    /** The runs of a key; one, if all is well. */
    List<Run> of(String key) {
        return runs.stream().filter(run -> run.key().equals(key)).toList();
    }

    /** The id of the run of a key, or nothing. */
    String runOf(String key) {
        return of(key).stream().map(Run::id).findFirst().orElse("");
    }

    int attempts() {
        return effects.stream().mapToInt(Effect::attempt).sum();
    }

    boolean allDone() {
        return !effects.isEmpty() && effects.stream().allMatch(effect -> effect.state() == DONE);
    }
}
