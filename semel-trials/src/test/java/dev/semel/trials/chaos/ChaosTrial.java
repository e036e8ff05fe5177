package dev.semel.trials.chaos;

import dev.semel.trials.chaos.checks.ChangeAudit;
import dev.semel.trials.chaos.checks.DatabaseDump;
import dev.semel.trials.chaos.checks.EffectStepNames;
import dev.semel.trials.chaos.checks.Evidence;
import dev.semel.trials.chaos.checks.Fault;
import dev.semel.trials.chaos.checks.InvariantChecks;
import dev.semel.trials.chaos.checks.ReceivedRequest;
import dev.semel.trials.chaos.checks.TrialCounts;
import dev.semel.trials.chaos.checks.Violation;
import dev.semel.trials.crash.Receiver;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Collectors;

/**
 * One trial: first everything goes wrong that may (safety), then nothing does any more and every run must come to its
 * end (liveness); then all processes end, and the witnesses are heard.
 */
final class ChaosTrial {
    private static final Duration TO_COME_TO_REST = Duration.ofSeconds(90);
    private static final Duration WITH_A_BUG = Duration.ofSeconds(4);

    private final ChaosPlan plan;
    private final KillablePostgres postgres;
    private final Path folder;
    private long healMillis;

    /**
     * What came of it.
     *
     * @param planted whether the planted bug was in anybody's way
     * @param healMillis from the last fault until every run had ended
     */
    record Report(ChaosPlan plan, List<Violation> violations, TrialCounts figures, boolean planted, long healMillis) {
        /** The command that does the same again. */
        String again() {
            return plan.bug() == PlantedBug.NONE
                    ? "semel-trials/chaos " + plan.length().toSeconds() + " " + plan.seed()
                    : "semel-trials/planted " + plan.bug() + " " + plan.seed();
        }

        /** The promises that it broke, the first of each kind. */
        String broken() {
            List<String> lines = new ArrayList<>();
            Set<Integer> numbers = violations.stream()
                    .map(Violation::invariant)
                    .collect(Collectors.toCollection(java.util.TreeSet::new));
            for (int number : numbers) {
                List<Violation> of = violations.stream()
                        .filter(violation -> violation.invariant() == number)
                        .toList();
                of.stream().limit(5).forEach(violation -> lines.add("  " + violation));
                if (of.size() > 5) {
                    lines.add("  … and " + (of.size() - 5) + " more of invariant " + number);
                }
            }
            return String.join("\n", lines);
        }

        /** Whether a planted bug was seen as what it is. */
        boolean caught() {
            return violations.stream().anyMatch(plan.bug()::isSeenIn);
        }
    }

    ChaosTrial(ChaosPlan plan, KillablePostgres postgres, Path folder) {
        this.plan = plan;
        this.postgres = postgres;
        this.folder = folder;
    }

    Report run() throws IOException, InterruptedException {
        Files.createDirectories(folder);
        String url = postgres.newDatabase();
        try (Receiver receiver = Receiver.start(folder);
                WorkerProcesses workers = new WorkerProcesses(plan, url, receiver.url(), folder)) {
            workers.start(() -> prepare(url));
            RetryingClients clients = new RetryingClients(workers, plan.seed());
            clients.start();
            strike(workers);
            clients.stop();
            workers.heal();
            rest(url, workers, clients, receiver.log());
            workers.stop();
            Evidence evidence = new Evidence(
                    ReceivedRequest.read(receiver.log()),
                    clients.ledger(),
                    DatabaseDump.of(url),
                    workers.faults(),
                    workers.events());
            boolean planted = evidence.events().stream().anyMatch(event -> event[1].equals("planted"));
            return new Report(plan, InvariantChecks.of(evidence), TrialCounts.of(evidence), planted, healMillis);
        }
    }

    private void prepare(String url) {
        KillablePostgres.execute(url, "CREATE TABLE chaos_row (effect text NOT NULL)");
        ChangeAudit.begin(url);
        if (plan.bug() == PlantedBug.LOOK_THEN_INSERT) {
            KillablePostgres.execute(url, """
                DO $$ DECLARE constraint_name name; BEGIN
                    SELECT conname INTO constraint_name FROM pg_constraint
                    WHERE conrelid = 'semel_key'::regclass AND contype = 'p';
                    EXECUTE 'ALTER TABLE semel_key DROP CONSTRAINT ' || quote_ident(constraint_name);
                END $$;
                CREATE INDEX chaos_key ON semel_key (ws, kind, key)
                """);
        }
    }

    private void strike(WorkerProcesses workers) {
        long start = System.nanoTime();
        for (ChaosPlan.PlannedFault blow : plan.blows()) {
            parkUntil(start + blow.at().toNanos());
            if (blow.kind() == Fault.Kind.DATABASE_KILLED) {
                long from = WorkerProcesses.micros();
                postgres.kill();
                LockSupport.parkNanos(blow.lasts().toNanos());
                postgres.restart();
                workers.databaseKilled(from);
            } else {
                workers.strike(blow);
            }
        }
        parkUntil(start + plan.length().toNanos());
    }

    private static void parkUntil(long nanos) {
        while (System.nanoTime() < nanos) {
            LockSupport.parkNanos(nanos - System.nanoTime());
        }
    }

    /** Until every run has ended; a person decides what is in doubt, by what the receiver knows. */
    private void rest(String url, WorkerProcesses workers, RetryingClients clients, Path log) {
        long begun = System.nanoTime();
        Duration longest = plan.bug() == PlantedBug.NONE ? TO_COME_TO_REST : WITH_A_BUG;
        // Who was frozen has had time to send what it was about to send, so that the person sees it.
        LockSupport.parkNanos(Duration.ofMillis(ChaosPlan.LEASE_MILLIS).toNanos());
        Random random = new Random(plan.seed());
        while (unfinished(url) > 0) {
            if (System.nanoTime() - begun > longest.toNanos()) {
                stuck(url, workers);
                break;
            }
            decide(url, clients, ReceivedRequest.read(log), random);
            letGoOn(url, clients, random);
            LockSupport.parkNanos(Duration.ofMillis(100).toNanos());
        }
        healMillis = (System.nanoTime() - begun) / 1_000_000;
    }

    private static void decide(String url, RetryingClients clients, List<ReceivedRequest> heard, Random random) {
        Set<String> accepted = heard.stream()
                .filter(ReceivedRequest::accepted)
                .filter(line -> line.step().equals(EffectStepNames.ASKED))
                .map(ReceivedRequest::effect)
                .collect(Collectors.toSet());
        for (String[] doubt : rows(url, """
            SELECT e.run, r.key FROM semel_effect e JOIN semel_run r ON r.run = e.run
            JOIN semel_unfinished_run w ON w.run = e.run WHERE e.state = 3 AND e.path LIKE '%asked' AND w.state = 5
            """)) {
            String how = accepted.contains(doubt[1]) ? "happened" : "did not";
            clients.decide(doubt[1], String.join("\t", "decide", doubt[0], EffectStepNames.ASKED, how), random);
        }
    }

    /** A run that five blows in a row met is held as the one to blame, as it is written; a person knows better here. */
    private static void letGoOn(String url, RetryingClients clients, Random random) {
        for (String[] held : rows(url, """
            SELECT w.run, r.key FROM semel_unfinished_run w JOIN semel_run r ON r.run = w.run
            WHERE w.owner IS NULL AND w.waiting_for LIKE '{"for":"poison"%'
            """)) {
            clients.goOn(held[1], held[0], random);
        }
    }

    private static long unfinished(String url) {
        return rows(url, "SELECT run, run::text FROM semel_unfinished_run").size();
    }

    /** Pairs of a run id and a text. */
    private static List<String[]> rows(String url, String sql) {
        List<String[]> rows = new ArrayList<>();
        try (Connection connection = DriverManager.getConnection(url);
                Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery(sql)) {
            while (row.next()) {
                rows.add(new String[] {DatabaseDump.runId(row.getBytes(1)), row.getString(2)});
            }
            return rows;
        } catch (SQLException e) {
            throw new AssertionError(sql, e);
        }
    }

    /** Nothing moves any more: all that could tell why is put down beside the other files. */
    private void stuck(String url, WorkerProcesses workers) {
        workers.dumpThreads();
        try (Connection connection = DriverManager.getConnection(url);
                Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery("""
                    SELECT concat_ws(' ', a.pid, a.state, a.wait_event, pg_blocking_pids(a.pid)::text, a.query)
                    FROM pg_stat_activity a WHERE a.datname = current_database()
                    """)) {
            List<String> lines = new ArrayList<>();
            while (row.next()) {
                lines.add(row.getString(1));
            }
            Files.write(folder.resolve("stuck"), lines);
        } catch (SQLException | IOException e) {
            System.err.println("what is stuck cannot be notified: " + e.getMessage());
        }
    }
}
