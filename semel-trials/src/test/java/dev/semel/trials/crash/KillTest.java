package dev.semel.trials.crash;

import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.util.function.Supplier;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** kill -9 in the middle of 64 clients, a restart on the same store, and every key again. */
@Tag("trial")
class KillTest {
    private static final int CLIENTS = 64;
    private static final int LEAST_ACKNOWLEDGED = 200;

    @TempDir
    Path folder;

    @Test
    void sqlite_keeps_acknowledged_runs_and_executes_them_once() {
        trial(
                "kill on sqlite",
                ProcessServer.Start.sqlite(folder),
                () -> StoredRuns.sqlite(folder.resolve("semel.db"), folder));
    }

    @Test
    void postgres_keeps_acknowledged_runs_and_executes_them_once() {
        String url = RealPostgres.url(RealPostgres.newDatabase());
        trial("kill on postgres", new ProcessServer.Start(folder, url), () -> StoredRuns.postgres(url));
    }

    private static void trial(String name, ProcessServer.Start how, Supplier<StoredRuns> look) {
        Seed seed = Seed.forTrial(name);
        ClientLedger ledger = new ClientLedger();
        ProcessServer server = ProcessServer.start(how);
        try {
            for (int round = 0; round < Seed.rounds(); round++) {
                LoadClients crowd = new LoadClients(ledger, "k" + round, CLIENTS, seed);
                int before = ledger.acknowledged();
                int uncertainBefore = ledger.uncertain();
                int moment = before + LEAST_ACKNOWLEDGED + seed.part(-1 - round).nextInt(1_000);
                crowd.start(server.port());
                Await.holds("enough is acknowledged", () -> ledger.acknowledged() >= moment);
                server.kill();
                crowd.join();
                assertTrue(ledger.uncertain() > uncertainBefore, "the kill met no request in flight");
                ledger.killed();
                System.out.println(name + ": killed after " + (ledger.acknowledged() - before) + " answers, "
                        + (ledger.uncertain() - uncertainBefore) + " calls uncertain, "
                        + look.get().unfinished() + " runs unfinished");
                server = ProcessServer.start(how);
                crowd.settle(ledger.keys(), server.port());
            }
            server.awaitCompleted(ledger.runs());
            server.stop();
            ClientHistoryChecks.holds(ledger, look.get());
        } finally {
            server.close();
        }
    }
}
