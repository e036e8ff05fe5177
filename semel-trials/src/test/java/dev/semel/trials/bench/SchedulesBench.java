package dev.semel.trials.bench;

import dev.semel.runtime.RuntimeOptions;
import dev.semel.runtime.SemelRuntime;
import dev.semel.server.files.steps.YamlStepDependencies;
import dev.semel.server.operations.PublishedYamlWorkflow;
import dev.semel.store.StoreWriteCommand;
import dev.semel.trials.support.Databases;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Instant;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/** Ten thousand schedules due at one second; one that is due among a hundred thousand. */
public final class SchedulesBench {
    private static final int EACH = 100;
    private static final int AT_ONCE = 100;
    private static final int STORED = 1_000;
    private static final String NOW = "SELECT (extract(epoch FROM clock_timestamp()) * 1000000)::bigint";

    private SchedulesBench() {}

    public static void main(String[] arguments) throws SQLException {
        String url = Databases.fresh();
        try (SemelRuntime semel = SemelRuntime.open(RuntimeOptions.of(
                        url,
                        version -> PublishedYamlWorkflow.compile(version, _ -> YamlStepDependencies.UNAVAILABLE)));
                Connection database = DriverManager.getConnection(url)) {
            atOnce(semel, database);
            stored(semel, database);
        }
        System.exit(0);
    }

    private static void atOnce(SemelRuntime semel, Connection database) throws SQLException {
        Instant due = Instant.ofEpochSecond(number(database, NOW) / 1_000_000 + 60);
        long from = System.nanoTime();
        for (int i = 0; i < AT_ONCE; i++) {
            publish(semel, "due_" + i, due);
        }
        System.out.printf(
                "%,d schedules published in %,d ms%n", AT_ONCE * EACH, (System.nanoTime() - from) / 1_000_000);
        String ticks = "SELECT count(*) FROM semel_schedule_tick";
        while (number(database, ticks) < AT_ONCE * EACH) {
            LockSupport.parkNanos(50_000_000);
        }
        long nominal = due.getEpochSecond() * 1_000_000;
        System.out.printf(
                "%,d due at one second: the last run admitted %,d ms, all written down %,d ms after it; %,d runs%n",
                AT_ONCE * EACH,
                (number(database, "SELECT max(created_at) FROM semel_run") - nominal) / 1_000,
                (number(database, NOW) - nominal) / 1_000,
                number(database, "SELECT count(DISTINCT run) FROM semel_schedule_tick"));
    }

    private static void stored(SemelRuntime semel, Connection database) throws SQLException {
        Instant far = Instant.parse("2090-01-01T00:00:00Z");
        for (int i = 0; i < STORED - AT_ONCE; i++) {
            publish(semel, "far_" + i, far);
        }
        System.out.printf("%,d schedules stored%n", number(database, "SELECT count(*) FROM semel_schedule"));
        for (int i = 0; i < 5; i++) {
            long at = number(database, NOW) / 1_000_000 + 5;
            semel.change(new StoreWriteCommand.PublishVersion(
                    1,
                    "soon_" + i,
                    "wf_soon_" + i,
                    "semel: 1\nworkflow: soon_" + i + "\ntrigger: {schedules: [{id: one, every: 365d, start: \""
                            + Instant.ofEpochSecond(at) + "\"}]}\nsteps: [{id: note, set: {ok: true}}]\n",
                    "bench"));
            String runs = "SELECT count(*) FROM semel_run WHERE workflow_id = 'wf_soon_" + i + "'";
            while (number(database, runs) == 0) {
                LockSupport.parkNanos(20_000_000);
            }
            String when = "SELECT created_at FROM semel_run WHERE workflow_id = 'wf_soon_" + i + "'";
            System.out.printf(
                    "one of them fired %,d ms after its time%n", (number(database, when) - at * 1_000_000) / 1_000);
        }
    }

    private static void publish(SemelRuntime semel, String name, Instant due) {
        String schedules = IntStream.range(0, EACH)
                .mapToObj(i -> "    - {id: s" + i + ", every: 365d, start: \"" + due + "\"}\n")
                .collect(Collectors.joining());
        semel.change(new StoreWriteCommand.PublishVersion(
                semel.testAccess().workspace(),
                name,
                "wf_" + name,
                "semel: 1\nworkflow: " + name + "\ntrigger:\n  schedules:\n" + schedules
                        + "steps: [{id: note, set: {ok: true}}]\n",
                "bench"));
    }

    private static long number(Connection database, String sql) throws SQLException {
        try (Statement statement = database.createStatement();
                var row = statement.executeQuery(sql)) {
            row.next();
            return row.getLong(1);
        }
    }
}
