package dev.semel.trials.crash;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** No byte of a 200 is written before what it promises is on the disk, as the kernel saw it. */
@Tag("trial")
class DurabilityTest {
    private static final int TRIGGERS = 12;

    @TempDir
    Path folder;

    @Test
    void sqlite_syncs_before_it_responds() throws IOException {
        try (ProcessServer server = ProcessServer.start(ProcessServer.Start.sqlite(folder))) {
            List<String> keys = triggers(server, "warm");
            try (Strace strace = Strace.attach(List.of(server.pid()), folder)) {
                keys = triggers(server, "traced");
                triggers(server, "after");
                assertEquals(List.of(), new DurabilityOracle(strace.detach()).sqlite(keys));
            }
        }
    }

    @Test
    void postgres_syncs_before_the_server_responds() throws IOException, SQLException {
        assertEquals(List.of(), tracedOnPostgres(RealPostgres.newDatabase()));
    }

    /** The same oracle must see it when the database is notified not to wait for the disk. */
    @Test
    void the_oracle_detects_a_commit_that_does_not_wait_for_the_disk() throws IOException, SQLException {
        String database = RealPostgres.newDatabase();
        RealPostgres.execute(
                RealPostgres.url("postgres"), "ALTER DATABASE " + database + " SET synchronous_commit = off");
        List<String> violations = tracedOnPostgres(database);
        assertFalse(violations.isEmpty(), "commits without a sync were not seen");
        assertTrue(violations.stream().allMatch(text -> text.endsWith("without a sync")), violations::toString);
    }

    private List<String> tracedOnPostgres(String database) throws IOException, SQLException {
        String url = RealPostgres.url(database);
        try (ProcessServer server = ProcessServer.start(new ProcessServer.Start(folder, url))) {
            // Opens the connections of both lanes, so that their backends are there to be watched.
            triggers(server, "warm");
            List<Long> watched = backends(url);
            watched.add(server.pid());
            try (Strace strace = Strace.attach(watched, folder)) {
                List<String> keys = triggers(server, "traced");
                triggers(server, "after"); // a call that is under way when the log ends is not in it
                return new DurabilityOracle(strace.detach()).postgres(keys);
            }
        }
    }

    /** Everybody who may write or sync the WAL: our backends and the database's own processes. */
    private static List<Long> backends(String url) throws SQLException {
        List<Long> pids = new ArrayList<>();
        try (Connection connection = DriverManager.getConnection(url);
                var statement = connection.createStatement();
                var row = statement.executeQuery("""
                    SELECT pid FROM pg_stat_activity
                    WHERE pid <> pg_backend_pid() AND (datname = current_database() OR backend_type IN
                        ('walwriter', 'checkpointer', 'background writer'))
                    """)) {
            while (row.next()) {
                pids.add(row.getLong(1));
            }
        }
        return pids;
    }

    /** One after another, each with a connection of its own. */
    private static List<String> triggers(ProcessServer server, String name) throws IOException {
        List<String> keys = new ArrayList<>();
        for (int i = 0; i < TRIGGERS; i++) {
            // Ends with a letter, so that no key is the beginning of another.
            String key = name + "-" + i + "x";
            keys.add(key);
            try (KeepAliveClient caller = new KeepAliveClient(server.port())) {
                Reply reply = caller.trigger(key, LoadClients.body(key));
                assertEquals(200, reply.status(), reply::body);
            }
        }
        return keys;
    }
}
