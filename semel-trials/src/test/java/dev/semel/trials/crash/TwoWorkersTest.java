package dev.semel.trials.crash;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Two server processes on one PostgreSQL. */
@Tag("trial")
class TwoWorkersTest {
    private static final int AT_ONCE = 64;
    private static final int HOT_KEYS = 20;
    private static final int LEFT_BEHIND = 8;

    @TempDir
    Path folder;

    private final ClientLedger ledger = new ClientLedger();
    private final String url = RealPostgres.url(RealPostgres.newDatabase());
    private ProcessServer first;
    private ProcessServer second;

    @BeforeEach
    void start() throws IOException {
        first = ProcessServer.launch(new ProcessServer.Start(Files.createDirectory(folder.resolve("a")), url));
        second = ProcessServer.launch(new ProcessServer.Start(Files.createDirectory(folder.resolve("b")), url));
        first.awaitReady();
        second.awaitReady();
    }

    @AfterEach
    void close() {
        first.close();
        second.close();
    }

    @Test
    void equal_concurrent_requests_at_both_workers_are_one_run_and_only_200() throws InterruptedException {
        for (int i = 0; i < HOT_KEYS; i++) {
            String key = "hot-" + i;
            List<ClientCall.Outcome> outcomes = atOnce(key);
            long fresh = outcomes.stream()
                    .filter(outcome -> outcome instanceof ClientCall.Ok ok && !ok.replayed())
                    .count();
            assertTrue(
                    outcomes.stream().allMatch(ClientCall.Ok.class::isInstance), () -> "not all were 200: " + outcomes);
            assertEquals(1, fresh, "answers that said it was new");
        }
        assertEquals(HOT_KEYS, ledger.runs().size());
        finish();
    }

    private List<ClientCall.Outcome> atOnce(String key) throws InterruptedException {
        CountDownLatch go = new CountDownLatch(1);
        ClientCall.Outcome[] outcomes = new ClientCall.Outcome[AT_ONCE];
        List<Thread> threads = new ArrayList<>();
        for (int i = 0; i < AT_ONCE; i++) {
            int number = i;
            threads.add(Thread.ofVirtual().start(() -> {
                try (KeepAliveClient caller = new KeepAliveClient((number % 2 == 0 ? first : second).port())) {
                    // Connects first, so that nothing but the triggers themselves is left for the same moment.
                    caller.get("/healthz");
                    go.await();
                    outcomes[number] = ledger.record(key, () -> caller.trigger(key, LoadClients.body(key)));
                } catch (IOException | InterruptedException e) {
                    outcomes[number] = new ClientCall.Unknown(String.valueOf(e.getMessage()));
                }
            }));
        }
        go.countDown();
        for (Thread thread : threads) {
            thread.join();
        }
        return List.of(outcomes);
    }

    @Test
    void a_killed_worker_is_replaced_by_the_other_and_leaves_no_run_behind() throws SQLException {
        LoadClients crowd = new LoadClients(ledger, "pair", AT_ONCE, Seed.forTrial("two workers"));
        crowd.start(first.port(), second.port());
        Await.holds("both are busy", () -> ledger.acknowledged() >= 500);
        LoadClients left = leaveRunsBehind(() -> {
            first.kill();
            ledger.killed();
        });
        left.join();
        int before = ledger.acknowledged();
        Await.holds("the other goes on", () -> ledger.acknowledged() >= before + 500);
        crowd.stop();
        crowd.settle(ledger.keys(), second.port());
        finish();
    }

    /** The worker that was taken for dead comes back, knows nothing of it, and must not write. */
    @Test
    void a_frozen_worker_loses_its_runs_to_the_other_and_wakes_up_fenced() throws SQLException {
        LoadClients left = leaveRunsBehind(first::freeze);
        Await.holds(
                "the other took them over",
                () -> RealPostgres.number(url, "SELECT count(*) FROM semel_unfinished_run") == 0);
        first.thaw();
        left.join();
        LoadClients crowd = new LoadClients(ledger, "thawed", AT_ONCE, Seed.forTrial("thawed worker"));
        int before = ledger.acknowledged();
        crowd.start(first.port(), second.port());
        Await.holds("both work again", () -> ledger.acknowledged() >= before + 500);
        crowd.stop();
        crowd.settle(ledger.keys(), first.port());
        finish();
    }

    /**
     * Triggers runs at the first worker that can be admitted and cannot end, because this trial holds the table of
     * ends; then does to the worker what it is here for. Answers the clients, who may still wait.
     */
    private LoadClients leaveRunsBehind(Runnable blow) throws SQLException {
        LoadClients clients = new LoadClients(ledger, "left", LEFT_BEHIND, new Seed(0));
        try (Connection connection = DriverManager.getConnection(url);
                Statement statement = connection.createStatement()) {
            connection.setAutoCommit(false);
            statement.execute("LOCK TABLE semel_finished_run IN SHARE MODE");
            clients.once(first.port());
            Await.holds("runs of the first worker are unfinished", () -> unfinishedAtFirst() > 0);
            blow.run();
            long left = unfinishedAtFirst();
            assertTrue(left > 0, "no run was left behind");
            System.out.println("two workers: " + left + " runs left behind");
            connection.rollback();
        }
        return clients;
    }

    private long unfinishedAtFirst() {
        return RealPostgres.number(url, """
            SELECT count(*) FROM semel_unfinished_run w JOIN semel_lease l ON l.lease = w.owner WHERE l.worker LIKE '\
            """ + first.pid() + "@%'");
    }

    private void finish() {
        Await.holds("all runs complete", () -> StoredRuns.postgres(url).allCompleted());
        if (first.alive()) {
            first.stop();
        }
        second.stop();
        ClientHistoryChecks.holds(ledger, StoredRuns.postgres(url));
    }
}
