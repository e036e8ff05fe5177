package dev.semel.trials.chaos.checks;

import java.math.BigInteger;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * The database as it stood when all workers had ended, read by plain JDBC.
 *
 * @param rows how many rows the tx step of each effect has written
 * @param leases that have not ended
 */
public record DatabaseDump(
        List<Run> runs,
        List<JournalChunk> lines,
        List<Effect> effects,
        Map<String, Integer> rows,
        List<ChangeAudit> audit,
        List<Long> leases) {
    static final int COMPLETED = 10;
    static final int DONE = 2;
    private static final String DIGITS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

    /** Counts instead of joins that could hide a second row. */
    private static final String RUNS = """
        SELECT r.run, COALESCE(r.key, '') AS key,
               (SELECT count(*) FROM semel_unfinished_run w WHERE w.run = r.run) AS works,
               (SELECT count(*) FROM semel_finished_run e WHERE e.run = r.run) AS ends,
               COALESCE((SELECT max(e.state) FROM semel_finished_run e WHERE e.run = r.run), 0) AS state,
               COALESCE((SELECT max(e.error_message) FROM semel_finished_run e WHERE e.run = r.run), '') AS error,
               COALESCE((SELECT max(w.owner) FROM semel_unfinished_run w WHERE w.run = r.run), 0) AS owner,
               COALESCE((SELECT max(w.state || ' due ' || w.due_at || ' crashes ' || w.crash_count || ' start_blocked ' || w.start_blocked
                   || ' ' || COALESCE(w.waiting_for, '')) FROM semel_unfinished_run w WHERE w.run = r.run), '') AS work
        FROM semel_run r
        """;

    /** A run; {@code owner} is the lease that its row of work names, 0 for none. */
    public record Run(String id, String key, int works, int ends, int state, String error, long owner, String work) {
        boolean completed() {
            return works == 0 && ends == 1 && state == COMPLETED;
        }
    }

    /** Entries that became durable together: a chunk of the journal, or those of the end. */
    public record JournalChunk(String run, String entries) {}

    /** A row of the ledger. */
    public record Effect(
            String run, String path, String protection, int state, int generation, int attempt, long acceptedAt) {
        String step() {
            return path.substring(path.lastIndexOf('/') + 1);
        }
    }

    public static DatabaseDump of(String url) {
        try (Connection connection = DriverManager.getConnection(url)) {
            return new DatabaseDump(
                    runs(connection),
                    lines(connection),
                    effects(connection),
                    rows(connection),
                    ChangeAudit.read(connection),
                    leases(connection));
        } catch (SQLException e) {
            throw new AssertionError("the database cannot be read", e);
        }
    }

    private static List<Run> runs(Connection connection) throws SQLException {
        List<Run> runs = new ArrayList<>();
        try (Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery(RUNS)) {
            while (row.next()) {
                runs.add(new Run(
                        runId(row.getBytes("run")),
                        row.getString("key"),
                        row.getInt("works"),
                        row.getInt("ends"),
                        row.getInt("state"),
                        row.getString("error"),
                        row.getLong("owner"),
                        row.getString("work")));
            }
        }
        return runs;
    }

    private static List<JournalChunk> lines(Connection connection) throws SQLException {
        List<JournalChunk> lines = new ArrayList<>();
        try (Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery("""
                    SELECT run, entries FROM (
                        SELECT run, seq, entries FROM semel_journal
                        UNION ALL SELECT run, 2147483647, entries FROM semel_finished_run) j ORDER BY run, seq
                    """)) {
            while (row.next()) {
                lines.add(new JournalChunk(runId(row.getBytes(1)), row.getString(2)));
            }
        }
        return lines;
    }

    private static List<Effect> effects(Connection connection) throws SQLException {
        List<Effect> effects = new ArrayList<>();
        try (Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery(
                        "SELECT run, path, protection, state, generation, attempt, accepted_at FROM semel_effect")) {
            while (row.next()) {
                effects.add(new Effect(
                        runId(row.getBytes(1)),
                        row.getString(2),
                        row.getString(3),
                        row.getInt(4),
                        row.getInt(5),
                        row.getInt(6),
                        row.getLong(7)));
            }
        }
        return effects;
    }

    private static Map<String, Integer> rows(Connection connection) throws SQLException {
        Map<String, Integer> rows = new TreeMap<>();
        try (Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery("SELECT effect, count(*) FROM chaos_row GROUP BY effect")) {
            while (row.next()) {
                rows.put(row.getString(1), row.getInt(2));
            }
        }
        return rows;
    }

    private static List<Long> leases(Connection connection) throws SQLException {
        List<Long> leases = new ArrayList<>();
        try (Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery("SELECT lease FROM semel_lease")) {
            while (row.next()) {
                leases.add(row.getLong(1));
            }
        }
        return leases;
    }

    /** `run_` and 22 digits of base 62, worked out a second time so that the engine's own code is not trusted. */
    public static String runId(byte[] bytes) {
        BigInteger rest = new BigInteger(1, bytes);
        StringBuilder digits = new StringBuilder();
        for (int i = 0; i < 22; i++) {
            BigInteger[] parts = rest.divideAndRemainder(BigInteger.valueOf(62));
            digits.append(DIGITS.charAt(parts[1].intValue()));
            rest = parts[0];
        }
        return "run_" + digits.reverse();
    }
}
