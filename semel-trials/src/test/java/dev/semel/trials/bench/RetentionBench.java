package dev.semel.trials.bench;

import dev.semel.engine.ClockAndRandomSource;
import dev.semel.engine.run.WorkflowCatalog;
import dev.semel.run.RunId;
import dev.semel.runtime.RuntimeOptions;
import dev.semel.runtime.SemelRuntime;
import dev.semel.store.StoreQueries;
import dev.semel.store.StoreWriteCommand;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * What it costs to remove finished runs by small deletes, as we do, against dropping a partition that holds them all:
 * time, WAL, the size of the tables afterwards, and the triggers a second beside it. With it what partitions would cost
 * every insert.
 */
final class RetentionBench {
    private static final int RUNS = Integer.getInteger("runs", 1_000_000);
    private static final int SLICE = 256;
    private static final Duration PAUSE = Duration.ofMillis(20);
    private static final long HOUR = 3_600_000_000L;

    // Old for this trial, and not for the sweeps of the workers that are measured: they keep runs for 90 days.
    private static final long OLD = ClockAndRandomSource.real().micros() - HOUR;
    private static final long ENDED = OLD - HOUR;

    private RetentionBench() {}

    static void measure(String url, double seconds) throws Exception {
        try (BenchServerProcess server = WorkersBench.server(url);
                Connection connection = DriverManager.getConnection(url);
                Statement sql = connection.createStatement()) {
            fill(sql, "semel_run", "semel_finished_run", "semel_journal");
            sql.execute("VACUUM ANALYZE");
            sql.execute("CHECKPOINT");
            WorkersBench.rate(Math.max(5, seconds * 2), server);
            try (SemelRuntime sweeping = SemelRuntime.open(RuntimeOptions.of(url, version -> {
                throw new WorkflowCatalog.WorkflowNotRegistered(version.name(), version.workflowId());
            }))) {
                deletes(sql, sweeping, server, seconds);
            }
        }
        try (Connection connection = DriverManager.getConnection(url);
                Statement sql = connection.createStatement()) {
            drop(sql);
            inserts(connection, sql);
        }
    }

    /** Finished runs of long ago: the run, its end, and a chunk of its journal. */
    private static void fill(Statement sql, String run, String end, String journal) throws SQLException {
        String id = "decode(lpad(to_hex(n), 32, '0'), 'hex')";
        String numbers = "generate_series(1, " + RUNS + ") AS n";
        sql.execute("INSERT INTO " + run
                + " (run, ws, workflow_id, version, trigger_source, actor, key, input, field_hashes, lineage,"
                + " created_at) SELECT " + id + ", 1, 'wf_old', 1, 1, 'tok_dev', 'key ' || n,"
                + " '{\"payment_id\":\"pay_abc\",\"amount\":4900,\"currency\":\"usd\"}', '', " + id + ", " + ENDED
                + " FROM " + numbers);
        sql.execute("INSERT INTO " + end + " (run, state, ended_at, output, entries) SELECT " + id + ", 10, " + ENDED
                + ", '{\"ok\":true}', '[]' FROM " + numbers);
        sql.execute("INSERT INTO " + journal + " (run, seq, at, entries) SELECT " + id
                + ", 0, 0, repeat('x', 300) FROM " + numbers);
    }

    /** Half of them as fast as it goes, half at the pace of our sweep beside the load. */
    private static void deletes(Statement sql, SemelRuntime semel, BenchServerProcess server, double seconds)
            throws Exception {
        long sizes = sizes(sql);
        OldRunScan oldRunScan = new OldRunScan(semel);
        long wal = number(sql, "SELECT pg_current_wal_insert_lsn() - '0/0'::pg_lsn");
        long began = System.nanoTime();
        int gone = 0;
        while (gone < RUNS / 2) {
            gone += oldRunScan.slice();
        }
        double took = (System.nanoTime() - began) / 1e9;
        wal = number(sql, "SELECT pg_current_wal_insert_lsn() - '0/0'::pg_lsn") - wal;
        WorkersBench.say(
                "deleting %d runs in slices of %d: %.1f s (%.0f runs/s), %d MiB of WAL (%d bytes a run)",
                gone, SLICE, took, gone / took, wal >> 20, wal / gone);
        double[] calm = new double[WorkersBench.ROUNDS];
        double[] swept = new double[WorkersBench.ROUNDS];
        int beside = 0;
        for (int i = 0; i < WorkersBench.ROUNDS; i++) {
            calm[i] = WorkersBench.rate(seconds, server);
            PacedDeletion pacing = new PacedDeletion(oldRunScan);
            try {
                swept[i] = WorkersBench.rate(seconds, server);
            } finally {
                beside += pacing.stop();
            }
        }
        WorkersBench.say(
                "triggers a second: %.0f without a sweep, %.0f beside one that removes %.0f runs/s: %.2f",
                WorkersBench.median(calm),
                WorkersBench.median(swept),
                beside / (seconds * WorkersBench.ROUNDS),
                WorkersBench.median(swept) / WorkersBench.median(calm));
        int rest = 1;
        while (rest > 0) {
            rest = oldRunScan.slice();
        }
        sql.execute("VACUUM semel_run, semel_finished_run, semel_journal");
        WorkersBench.say(
                "the three tables with their indexes: %d MiB with all runs, %d MiB after their removal and a vacuum",
                sizes >> 20, sizes(sql) >> 20);
    }

    /** Goes through old runs as the sweep does. */
    private static final class OldRunScan {
        private final SemelRuntime semel;
        private @Nullable RunId reached;
        private boolean done;

        OldRunScan(SemelRuntime semel) {
            this.semel = semel;
        }

        /** How many are gone; 0 at the end. */
        int slice() {
            if (done) {
                return 0;
            }
            StoreQueries.OldLineages old =
                    Objects.requireNonNull(semel.view(reads -> reads.oldRuns(reached, SLICE, OLD)));
            reached = old.next();
            done = reached == null;
            return old.found().isEmpty() ? 0 : semel.change(new StoreWriteCommand.DeleteRuns(old.found(), OLD));
        }
    }

    /** A slice, a pause, the next one. */
    private static final class PacedDeletion {
        private final Thread thread;
        private volatile boolean stopped;
        private volatile int gone;

        PacedDeletion(OldRunScan oldRunScan) {
            thread = Thread.ofPlatform().start(() -> {
                int sum = 0;
                while (!stopped) {
                    sum += oldRunScan.slice();
                    gone = sum;
                    LockSupport.parkNanos(PAUSE.toNanos());
                }
            });
        }

        int stop() throws InterruptedException {
            stopped = true;
            thread.join();
            return gone;
        }
    }

    private static void drop(Statement sql) throws SQLException {
        for (String table : new String[] {"semel_run", "semel_finished_run", "semel_journal"}) {
            sql.execute("CREATE TABLE part_" + table + " (LIKE " + table + " INCLUDING ALL) PARTITION BY RANGE (run)");
            for (int i = 0; i < 16; i++) {
                String end = i == 15 ? "MAXVALUE" : "'\\x%x0'".formatted(i + 1);
                sql.execute("CREATE TABLE part_%s_%d PARTITION OF part_%s FOR VALUES FROM ('\\x%x0') TO (%s)"
                        .formatted(table, i, table, i, end));
            }
        }
        fill(sql, "part_semel_run", "part_semel_end", "part_semel_journal");
        sql.execute("CHECKPOINT");
        long wal = number(sql, "SELECT pg_current_wal_insert_lsn() - '0/0'::pg_lsn");
        long began = System.nanoTime();
        sql.execute("DROP TABLE part_semel_run_0, part_semel_end_0, part_semel_journal_0");
        double took = (System.nanoTime() - began) / 1e9;
        wal = number(sql, "SELECT pg_current_wal_insert_lsn() - '0/0'::pg_lsn") - wal;
        WorkersBench.say("dropping the partitions of %d runs: %.2f s, %d KiB of WAL", RUNS, took, wal >> 10);
    }

    /** What 16 ranges cost an insert of 13 runs, which is the batch of 64 connections. */
    private static void inserts(Connection connection, Statement sql) throws SQLException {
        sql.execute("CREATE TABLE plain_run (LIKE semel_run INCLUDING ALL)");
        double[] plain = new double[WorkersBench.ROUNDS * 3];
        double[] parts = new double[plain.length];
        connection.setAutoCommit(false);
        for (int i = 0; i < plain.length; i++) {
            plain[i] = insert(connection, "plain_run", i);
            parts[i] = insert(connection, "part_semel_run", i);
        }
        connection.setAutoCommit(true);
        WorkersBench.say(
                "inserting 13 runs: %.3f ms into one table, %.3f ms into 16 ranges: %.2f",
                WorkersBench.median(plain),
                WorkersBench.median(parts),
                WorkersBench.median(parts) / WorkersBench.median(plain));
    }

    private static double insert(Connection connection, String table, int round) throws SQLException {
        int batches = 500;
        try (var statement = connection.prepareStatement("INSERT INTO " + table
                + " (run, ws, workflow_id, version, trigger_source, actor, input, field_hashes, lineage, created_at)"
                + " SELECT r, 1, 'wf_old', 1, 1, 'tok_dev', '{}', '', r, 0 FROM (SELECT"
                + " decode('7' || lpad(to_hex(? + n), 31, '0'), 'hex') FROM generate_series(1, 13) n) AS u(r)")) {
            long began = System.nanoTime();
            for (int i = 0; i < batches; i++) {
                statement.setInt(1, (round * batches + i) * 13);
                statement.executeUpdate();
            }
            double took = (System.nanoTime() - began) / 1e6 / batches;
            connection.commit();
            return took;
        }
    }

    private static long sizes(Statement sql) throws SQLException {
        return number(
                sql,
                "SELECT pg_total_relation_size('semel_run') + pg_total_relation_size('semel_finished_run')"
                        + " + pg_total_relation_size('semel_journal')");
    }

    private static long number(Statement sql, String question) throws SQLException {
        try (ResultSet row = sql.executeQuery(question)) {
            row.next();
            return row.getLong(1);
        }
    }
}
