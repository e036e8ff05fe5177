package dev.semel.trials.crash;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.semel.trials.crash.CommitProxy.Cut;
import dev.semel.trials.crash.CommitProxy.Kind;
import java.nio.file.Path;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The database goes away for longer than a trigger waits, in the very moment of a COMMIT. */
@Tag("trial")
class OutageTest {
    @TempDir
    Path folder;

    private final ClientLedger ledger = new ClientLedger();
    private final String database = RealPostgres.newDatabase();

    @ParameterizedTest
    @EnumSource(names = {"ANSWER", "COMMIT"})
    void a_trigger_that_waited_too_long_is_rejected_and_its_retry_completes_one_run(Cut cut) {
        String url = RealPostgres.url(database);
        try (CommitProxy proxy = new CommitProxy(RealPostgres.port());
                ProcessServer server =
                        ProcessServer.start(new ProcessServer.Start(folder, RealPostgres.url(database, proxy.port())));
                KeepAliveClient caller = new KeepAliveClient(server.port())) {
            proxy.follow((transaction, commit) -> {
                boolean here = commit && transaction.values().contains("outage");
                if (here) {
                    proxy.goAwayAfter(cut);
                }
                return here ? cut : Cut.NONE;
            });
            ClientCall.Rejected no = assertInstanceOf(ClientCall.Rejected.class, send(caller));
            assertEquals(503, no.status());
            assertTrue(proxy.happened(cut, Kind.ADMIT) == 1, "the cut did not happen");
            assertEquals(
                    cut == Cut.ANSWER ? 1 : 0, StoredRuns.postgres(url).rows().size());
            proxy.leaveInPeace();
            proxy.comeBack();
            Await.holds("it is answered again", () -> send(caller) instanceof ClientCall.Ok);
            Await.holds("the run completes", () -> StoredRuns.postgres(url).allCompleted());
            server.stop();
        }
        ClientHistoryChecks.holds(ledger, StoredRuns.postgres(url));
    }

    private ClientCall.Outcome send(KeepAliveClient caller) {
        return ledger.record("outage", () -> caller.trigger("outage", LoadClients.body("outage")));
    }
}
