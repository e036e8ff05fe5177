package dev.semel.trials.crash;

import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** PostgreSQL ends the server's connections, again and again, under load. */
@Tag("trial")
class LostBackendsTest {
    private static final String BACKENDS =
            "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE application_name = 'semel' AND"
                    + " datname = '";

    @TempDir
    Path folder;

    @Test
    void connections_ended_by_the_database_lose_and_duplicate_nothing() {
        String database = RealPostgres.newDatabase();
        String url = RealPostgres.url(database);
        ClientLedger ledger = new ClientLedger();
        LoadClients crowd = new LoadClients(ledger, "lost", 32, Seed.forTrial("lost backends"));
        try (ProcessServer server = ProcessServer.start(new ProcessServer.Start(folder, url))) {
            crowd.start(server.port());
            long ended = 0;
            for (int i = 0; i < 15 * Seed.rounds(); i++) {
                int before = ledger.acknowledged();
                Await.holds("it works between two blows", () -> ledger.acknowledged() >= before + 50);
                ended += RealPostgres.number(RealPostgres.url("postgres"), BACKENDS + database + "'");
            }
            crowd.stop();
            System.out.println("lost backends: " + ended + " ended, " + ledger.acknowledged() + " answers, "
                    + ledger.uncertain() + " without a yes");
            assertTrue(ended >= 30, "only " + ended + " connections were ended");
            crowd.settle(ledger.keys(), server.port());
            Await.holds("all runs complete", () -> StoredRuns.postgres(url).allCompleted());
            server.stop();
        }
        ClientHistoryChecks.holds(ledger, StoredRuns.postgres(url));
    }
}
