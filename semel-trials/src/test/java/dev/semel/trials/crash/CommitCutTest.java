package dev.semel.trials.crash;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.semel.trials.crash.CommitProxy.Cut;
import dev.semel.trials.crash.CommitProxy.Kind;
import dev.semel.trials.crash.CommitProxy.Plan;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Connections cut around COMMIT: the server cannot know what happened, and must still answer with the truth. */
@Tag("trial")
class CommitCutTest {
    private static final List<Cut> CUTS = List.of(Cut.ANSWER, Cut.COMMIT, Cut.BEFORE);

    @TempDir
    Path folder;

    private final ClientLedger ledger = new ClientLedger();
    private final String database = RealPostgres.newDatabase();
    private final CommitProxy proxy = new CommitProxy(RealPostgres.port());
    private ProcessServer server;

    @BeforeEach
    void start() {
        server = ProcessServer.start(new ProcessServer.Start(folder, RealPostgres.url(database, proxy.port())));
    }

    @AfterEach
    void close() {
        server.close();
        proxy.close();
    }

    @Test
    void a_trigger_with_a_broken_commit_gets_its_one_run() {
        try (KeepAliveClient caller = new KeepAliveClient(server.port())) {
            for (Cut cut : CUTS) {
                String key = "single-" + cut;
                proxy.follow(once(cut, key));
                ClientCall.Ok first = assertInstanceOf(ClientCall.Ok.class, send(caller, key));
                assertTrue(!first.replayed(), "the only request of its key is the first");
                assertEquals(1, proxy.happened(cut, Kind.ADMIT), cut + " did not happen");
                ClientCall.Ok second = assertInstanceOf(ClientCall.Ok.class, send(caller, key));
                assertEquals(new ClientCall.Ok(first.runId(), true), second);
            }
        }
        finish();
    }

    @Test
    void repeated_cuts_under_load_neither_lose_nor_duplicate_anything() {
        Seed seed = Seed.forTrial("cut commits");
        LoadClients crowd = new LoadClients(ledger, "cut", 16, seed);
        int enough = 12 * Seed.rounds();
        proxy.follow(everyFifth());
        crowd.start(server.port());
        Await.holds("every cut happened to admissions, ends and tallies", () -> {
            boolean admissions = CUTS.stream().allMatch(cut -> proxy.happened(cut, Kind.ADMIT) >= enough);
            boolean ends = proxy.happened(Cut.ANSWER, Kind.END) >= enough;
            boolean tallies =
                    proxy.happened(Cut.ANSWER, Kind.TALLY) >= 2 && proxy.happened(Cut.COMMIT, Kind.TALLY) >= 1;
            return admissions && ends && tallies;
        });
        crowd.stop();
        proxy.leaveInPeace();
        System.out.println("cut commits: " + ledger.acknowledged() + " answers, " + ledger.uncertain()
                + " without a yes, cuts: " + proxy.happened());
        crowd.settle(ledger.keys(), server.port());
        finish();
    }

    private ClientCall.Outcome send(KeepAliveClient caller, String key) {
        return ledger.record(key, () -> caller.trigger(key, LoadClients.body(key)));
    }

    private void finish() {
        Await.holds(
                "all runs complete",
                () -> StoredRuns.postgres(RealPostgres.url(database)).allCompleted());
        server.stop();
        ClientHistoryChecks.holds(ledger, StoredRuns.postgres(RealPostgres.url(database)));
    }

    /** The first transaction that admits this key. */
    private static Plan once(Cut cut, String key) {
        AtomicBoolean done = new AtomicBoolean();
        return (transaction, commit) -> {
            boolean here = transaction.kinds().contains(Kind.ADMIT)
                    && transaction.values().contains(key)
                    && commit == (cut != Cut.BEFORE);
            return here && done.compareAndSet(false, true) ? cut : Cut.NONE;
        };
    }

    /** All cuts in turn, whatever the transaction is for: leases and claims are cut as well. */
    private static Plan everyFifth() {
        AtomicInteger count = new AtomicInteger();
        AtomicInteger tallies = new AtomicInteger();
        return (transaction, commit) -> {
            if (transaction.kinds().isEmpty()) {
                return Cut.NONE;
            }
            if (!commit) {
                boolean now = count.get() % 15 == 14;
                count.addAndGet(now ? 1 : 0);
                return now ? Cut.BEFORE : Cut.NONE;
            }
            if (transaction.kinds().contains(Kind.TALLY)) {
                // Rare beside admissions, so it has a turn of its own; never twice in a row.
                return switch (tallies.incrementAndGet() % 4) {
                    case 1 -> Cut.ANSWER;
                    case 3 -> Cut.COMMIT;
                    default -> Cut.NONE;
                };
            }
            return switch (count.incrementAndGet() % 15) {
                case 5 -> Cut.ANSWER;
                case 10 -> Cut.COMMIT;
                default -> Cut.NONE;
            };
        };
    }
}
