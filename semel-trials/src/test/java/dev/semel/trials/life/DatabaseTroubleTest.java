package dev.semel.trials.life;

import static dev.semel.trials.support.SampleWorkflows.data;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.semel.trials.support.ApiCaller;
import dev.semel.trials.support.ConcurrentCalls;
import dev.semel.trials.support.HttpReply;
import dev.semel.trials.support.JavaProcess;
import dev.semel.trials.support.ProblemResponseChecks;
import dev.semel.trials.support.ServerProcess;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.Statement;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** PostgreSQL goes away, comes back, refuses writes and moves house; the worker's process stays the same. */
@Tag("trial")
class DatabaseTroubleTest {
    private static final String FLOW = "payment_receipt";

    /** These wait for leases and time-outs in real time; the build does one way of each. */
    private static final boolean ALL = Boolean.getBoolean("life.all");

    private static final String LONG = "a long form: semel-trials/life does it";

    @TempDir
    static Path folder;

    private static OwnPostgres postgres;
    private static int databases;

    private final String database = "life_" + ++databases;
    private @Nullable ServerProcess running;

    @BeforeAll
    static void startPostgres() {
        postgres = OwnPostgres.start(folder);
    }

    @AfterAll
    static void stopPostgres() {
        postgres.close();
    }

    @AfterEach
    void stopServer() {
        if (running != null) {
            running.close();
        }
    }

    private void start(String url) throws Exception {
        running = ServerProcess.start(Files.createDirectories(folder.resolve(database)), url, "dev", "--demo");
    }

    private ServerProcess server() {
        return Objects.requireNonNull(running, "no server was started");
    }

    private ApiCaller caller() {
        return server().as("dev");
    }

    private HttpReply trigger(String key) {
        return caller().trigger(FLOW, key, data(""));
    }

    private boolean ready() {
        return server().as("").get("/readyz").status() == 200;
    }

    /** A run that was asked for before goes on, one that is asked for now completes, and nothing ran twice. */
    private void worksAgain(HttpReply before, String refusedKey) {
        ConcurrentCalls.until("ready again", this::ready);
        ConcurrentCalls.until(
                "triggers are taken again", () -> trigger(refusedKey).status() == 200);
        assertEquals(before.runId(), trigger("before").runId(), "the same key is the same run");
        ConcurrentCalls.until("all runs complete", () -> {
            HttpReply unfinished = caller().get("/v1/runs?q=status:completed&limit=200");
            return unfinished.status() == 200 && unfinished.json().get("items").size() == 2;
        });
    }

    private void refusedMeanwhile(String key) {
        HttpReply refused = trigger(key);
        ProblemResponseChecks.expect(refused, 503, "store-unavailable");
        assertTrue(refused.header("Retry-After") != null && refused.flag("retryable"), refused::toString);
        assertEquals(200, server().as("").get("/healthz").status(), "the process itself is well");
    }

    @Test
    void every_kind_of_postgresql_restart_is_survived_without_our_restart() throws Exception {
        postgres.execute("postgres", "CREATE DATABASE " + database);
        start(postgres.url(database));
        HttpReply before = trigger("before").expect(200);
        int round = 0;
        OwnPostgres.Stop[] all = OwnPostgres.Stop.values();
        for (OwnPostgres.Stop how : ALL ? all : new OwnPostgres.Stop[] {OwnPostgres.Stop.KILL}) {
            postgres.stop(how);
            refusedMeanwhile("while down " + how);
            ConcurrentCalls.until("it says so", () -> !ready());
            postgres.startAgain();
            ConcurrentCalls.until("ready again after " + how, this::ready);
            String key = "after " + how;
            ConcurrentCalls.until("triggers are taken again", () -> trigger(key).status() == 200);
            round++;
        }
        assertEquals(before.runId(), trigger("before").runId(), "the same key is the same run");
        int runs = 1 + round;
        ConcurrentCalls.until("all runs complete", () -> completed() == runs);
    }

    private int completed() {
        HttpReply list = caller().get("/v1/runs?q=status:completed&limit=200");
        return list.status() == 200 ? list.json().get("items").size() : -1;
    }

    @Test
    void a_read_only_database_is_503_and_recovers() throws Exception {
        assumeTrue(ALL, LONG);
        postgres.execute("postgres", "CREATE DATABASE " + database);
        start(postgres.url(database));
        HttpReply before = trigger("before").expect(200);
        postgres.set("default_transaction_read_only = on");
        try {
            ConcurrentCalls.until(
                    "no write is taken", () -> trigger("read-only").status() == 503);
            refusedMeanwhile("read-only");
            ConcurrentCalls.until("it is not ready once its lease is out of use", () -> !ready());
        } finally {
            postgres.set("default_transaction_read_only = off");
        }
        worksAgain(before, "read-only");
    }

    @Test
    void settings_that_lose_commits_are_reported_in_the_log_and_at_readyz() throws Exception {
        postgres.execute("postgres", "CREATE DATABASE " + database);
        postgres.set("fsync = on");
        start(postgres.url(database));
        assertEquals("safe", server().as("").get("/readyz").text("durability"));
        assertFalse(log().contains("UNSAFE"));
        postgres.set("fsync = off");
        try {
            ConcurrentCalls.until(
                    "it is notified",
                    () -> server().as("").get("/readyz").text("durability").equals("unsafe"));
            ConcurrentCalls.until("it is in the log", () -> log().contains("the store has become UNSAFE"));
            assertTrue(log().contains("fsync=off"), log());
            assertTrue(caller().get("/metrics").body().contains("semel_store_unsafe 1.0"));
        } finally {
            postgres.set("fsync = on");
        }
        ConcurrentCalls.until(
                "it is notified, too",
                () -> server().as("").get("/readyz").text("durability").equals("safe"));
    }

    private String log() {
        return String.join("\n", server().log());
    }

    @Test
    void a_standby_is_not_written_to_and_is_used_after_its_promotion() throws Exception {
        assumeTrue(ALL, LONG);
        Path apart = Files.createDirectories(folder.resolve("moving"));
        try (OwnPostgres primary = OwnPostgres.start(apart)) {
            primary.execute("postgres", "CREATE DATABASE " + database);
            primary.stop(OwnPostgres.Stop.FAST);
            // A port for the standby is known only once it runs, so it is copied before the worker starts.
            try (OwnPostgres standby = primary.standby()) {
                standby.stop(OwnPostgres.Stop.FAST);
                primary.startAgain();
                start(OwnPostgres.url(database, "127.0.0.1:" + primary.port() + ",127.0.0.1:" + standby.port()));
                HttpReply before = trigger("before").expect(200);
                ConcurrentCalls.until("it completes", () -> completed() == 1);
                primary.stop(OwnPostgres.Stop.FAST);
                standby.takeFilesOf(primary);
                refusedMeanwhile("while a standby");
                standby.execute("postgres", "SELECT pg_promote()");
                worksAgain(before, "while a standby");
            }
        }
    }

    /**
     * Paused in the middle of a batch, it holds the slot of its lane, and no signal of the database reaches it. Whatever
     * else the worker does goes on under a new lease; the run of that batch goes on as soon as the session is gone.
     */
    @Test
    void a_hanging_postgresql_session_does_not_stop_the_worker() throws Exception {
        assumeTrue(ALL, LONG);
        postgres.execute("postgres", "CREATE DATABASE " + database);
        start(postgres.url(database));
        trigger("before").expect(200);
        ConcurrentCalls.until("it completes", () -> completed() == 1);
        List<Long> hung = hangInABatch();
        try {
            for (int i = 0; i < 8; i++) { // on every lane
                String key = "meanwhile " + i;
                ConcurrentCalls.until("it is taken", () -> trigger(key).status() == 200);
            }
            ConcurrentCalls.until("all of these are executed", () -> completed() >= 9);
        } finally {
            hung.forEach(pid -> JavaProcess.signal("-CONT", pid));
        }
        ConcurrentCalls.until("and the one that hung", () -> completed() == 10);
    }

    /** Makes the batch that ends a run wait for a lock of ours, and pauses it there. */
    private List<Long> hangInABatch() throws Exception {
        try (Connection holder = DriverManager.getConnection(postgres.url(database));
                Statement statement = holder.createStatement()) {
            holder.setAutoCommit(false);
            statement.execute("LOCK TABLE semel_finished_run IN SHARE MODE");
            trigger("hung").expect(200);
            String waiting = "SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND"
                    + " application_name = 'semel' AND wait_event_type = 'Lock'";
            ConcurrentCalls.until(
                    "its end waits", () -> !postgres.numbers(database, waiting).isEmpty());
            List<Long> hung = postgres.numbers(database, waiting);
            hung.forEach(pid -> JavaProcess.signal("-STOP", pid));
            holder.rollback();
            return hung;
        }
    }
}
