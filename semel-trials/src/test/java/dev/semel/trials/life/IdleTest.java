package dev.semel.trials.life;

import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.semel.trials.support.ConcurrentCalls;
import dev.semel.trials.support.Databases;
import dev.semel.trials.support.ServerProcess;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A worker with nothing to do costs next to nothing. */
@Tag("trial")
class IdleTest {
    /** Of a third of a lease each, by the database's own clock. */
    private static final int HEARTBEATS = Integer.getInteger("life.heartbeats", 4);

    private static final Duration BETWEEN = Duration.ofMillis(3_333);
    private static final int MOST_QUERIES_A_SECOND = 10;

    @TempDir
    Path folder;

    @Test
    void an_idle_worker_sends_less_than_ten_queries_a_second() throws Exception {
        String url = Databases.fresh();
        String real = url.replaceAll(".*//[^/]*:(\\d+)/.*", "$1");
        try (CountingProxy proxy = new CountingProxy(Integer.parseInt(real));
                ServerProcess server = ServerProcess.start(
                        folder, url.replaceFirst("//[^/]*/", "//127.0.0.1:" + proxy.port() + "/"), "dev", "--demo")) {
            long begun = heartbeat(url);
            ConcurrentCalls.until("it has come to rest", () -> heartbeat(url) > begun);
            proxy.statements().clear();
            Duration usedBefore = server.cpu();
            long from = heartbeat(url);
            long length = BETWEEN.toNanos() / 1_000 * HEARTBEATS;
            ConcurrentCalls.until("some heartbeats have passed", () -> heartbeat(url) >= from + length);
            long executed = proxy.statements().stream().filter(String::isEmpty).count();
            assertTrue(
                    connections(url) <= 12, () -> connections(url) + " connections; the manual says 8, and 4 for tx");
            double seconds = (heartbeat(url) - from) / 1e6;
            Duration used = server.cpu().minus(usedBefore);
            System.out.printf(
                    "idle worker: %.1f statements a second, %.2f %% of a core%n",
                    executed / seconds, used.toMillis() / seconds / 10);
            assertTrue(
                    executed < MOST_QUERIES_A_SECOND * seconds,
                    () -> executed + " statements in " + seconds + " s: " + proxy.statements());
        }
    }

    /** When the worker was last heard of, by the database's clock. */
    private static long heartbeat(String url) {
        return number(url, "SELECT max(renewed_at) FROM semel_lease");
    }

    private static long connections(String url) {
        return number(url, """
            SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'semel'
            """);
    }

    private static long number(String url, String sql) {
        try (Connection connection = DriverManager.getConnection(url);
                Statement statement = connection.createStatement();
                var row = statement.executeQuery(sql)) {
            row.next();
            return row.getLong(1);
        } catch (SQLException e) {
            throw new AssertionError(sql, e);
        }
    }
}
