package dev.semel.trials.life;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.semel.trials.support.ConcurrentCalls;
import dev.semel.trials.support.Databases;
import dev.semel.trials.support.JavaProcess;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * A worker is notified to stop while its runs are in the middle of a long step, of a transaction and of a send, and while
 * one waits. The leases last ten minutes, so that whoever goes on at all did not wait for one to run out.
 */
@Tag("trial")
class DrainTest {
    private final String url = Databases.fresh();

    /** A worker's process and what it says. */
    private record WorkerProcess(Process process, BufferedReader says) implements AutoCloseable {
        static WorkerProcess start(String url, long graceMillis, String... more) throws IOException {
            List<String> arguments = new ArrayList<>(List.of(url, String.valueOf(graceMillis)));
            arguments.addAll(List.of(more));
            Process process = JavaProcess.of(JavaProcess.SMALL, DrainWorker.class.getName(), arguments)
                    .redirectError(ProcessBuilder.Redirect.DISCARD)
                    .start();
            return new WorkerProcess(
                    process,
                    new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8)));
        }

        void hears(String word) throws IOException {
            assertEquals(word, says.readLine());
        }

        /** SIGTERM. */
        void stopRequested() throws IOException {
            process.toHandle().destroy(); // which leaves what it says open
            hears("draining");
        }

        @Override
        public void close() {
            process.destroyForcibly();
        }
    }

    private void execute(String sql) {
        try (Connection connection = DriverManager.getConnection(url);
                Statement statement = connection.createStatement()) {
            statement.execute(sql);
        } catch (SQLException e) {
            throw new AssertionError(sql, e);
        }
    }

    private String texts(String sql) {
        try (Connection connection = DriverManager.getConnection(url);
                Statement statement = connection.createStatement();
                var row = statement.executeQuery("SELECT string_agg(x, ' ' ORDER BY x) FROM (" + sql + ") t(x)")) {
            row.next();
            return String.valueOf(row.getString(1));
        } catch (SQLException e) {
            throw new AssertionError(sql, e);
        }
    }

    private WorkerProcess busyWorker(long graceMillis) throws IOException {
        execute(DrainWorker.TABLES);
        WorkerProcess child = WorkerProcess.start(url, graceMillis, "start");
        child.hears("ready");
        ConcurrentCalls.until(
                "all are in the middle of something",
                () -> texts("SELECT flow FROM effect").equals("booking lengthy sending waiting"));
        return child;
    }

    private void openAllGates() {
        execute("INSERT INTO gate VALUES ('lengthy'), ('booking'), ('sending')");
    }

    private void awaitAllCompleted() {
        ConcurrentCalls.until(
                "all runs complete",
                () -> texts("SELECT state::text FROM semel_finished_run").equals("10 10 10 10"));
    }

    private static final String OUTPUTS =
            "SELECT w.name || '=' || e.output FROM semel_finished_run e JOIN semel_run r USING (run) JOIN"
                    + " semel_workflow w ON w.workflow_id = r.workflow_id";

    @Test
    void steps_that_end_within_the_grace_period_are_recorded_and_not_repeated() throws Exception {
        try (WorkerProcess first = busyWorker(60_000);
                WorkerProcess second = WorkerProcess.start(url, 0)) {
            second.hears("ready");
            first.stopRequested();
            openAllGates();
            first.hears("drained");
            first.process().waitFor();
            awaitAllCompleted();
            assertEquals("booking=\"done\" lengthy=\"done\" sending=\"done\" waiting=\"done\"", texts(OUTPUTS));
            assertEquals(
                    "after_lengthy after_waiting booking lengthy sending waiting",
                    texts("SELECT flow FROM effect"),
                    "each of them once");
            assertEquals("1", texts("SELECT count(*)::text FROM booked"));
            assertEquals("null", texts("SELECT crash_count::text FROM semel_unfinished_run WHERE crash_count > 0"));
        }
    }

    @Test
    void unfinished_steps_are_handed_over_and_continue_by_their_protection() throws Exception {
        long pid;
        try (WorkerProcess first = busyWorker(200);
                WorkerProcess second = WorkerProcess.start(url, 0)) {
            pid = first.process().pid();
            second.hears("ready");
            first.stopRequested();
            first.hears("drained");
            first.process().waitFor();
            ConcurrentCalls.until(
                    "the second worker is where the first was",
                    () -> texts("SELECT flow FROM effect WHERE pid <> " + pid + " AND flow IN ('lengthy', 'booking')")
                            .equals("booking lengthy"));
            openAllGates();
            awaitAllCompleted();
            assertEquals("booking=\"done\" lengthy=\"done\" sending=\"perhaps\" waiting=\"done\"", texts(OUTPUTS));
            assertEquals("1", texts("SELECT count(*)::text FROM effect WHERE flow = 'sending'"), "at most once");
            assertEquals("1", texts("SELECT count(*)::text FROM effect WHERE flow = 'waiting'"), "it was on record");
            assertEquals("1", texts("SELECT count(*)::text FROM booked"), "the first one's rows were undone");
            assertTrue(!texts("SELECT pid::text FROM booked").equals(String.valueOf(pid)));
        }
    }
}
