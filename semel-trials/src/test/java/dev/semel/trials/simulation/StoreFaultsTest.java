package dev.semel.trials.simulation;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.semel.run.RunId;
import dev.semel.store.CommitBatch;
import dev.semel.store.DatabaseRows;
import dev.semel.store.StoreFailure;
import dev.semel.store.StoreQueries;
import dev.semel.store.StoreWrite;
import dev.semel.store.StoreWriteCommand;
import dev.semel.store.WorkerLeases;
import dev.semel.store.WorkflowStore;
import dev.semel.store.sqlite.SqliteStore;
import dev.semel.trials.simulation.StoreFaults.Fault;
import dev.semel.trials.simulation.StoreFaults.FaultProbabilities;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.random.RandomGeneratorFactory;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class StoreFaultsTest {
    private final AtomicLong ids = new AtomicLong();
    private final WorkflowStore real;
    private final StoreQueries truth;

    StoreFaultsTest(@TempDir Path folder) {
        real = SqliteStore.forTests(folder.resolve("semel.db"), () -> 1_000, () -> new RunId(ids.incrementAndGet(), 1));
        real.migrate();
        truth = real.openQueries();
    }

    @AfterEach
    void close() {
        truth.close();
        real.close();
    }

    private static StoreFaults faults(long seed, FaultProbabilities odds) {
        return new StoreFaults(RandomGeneratorFactory.of("L64X128MixRandom").create(seed), odds);
    }

    private static CommitBatch opening(String workspace) {
        return new CommitBatch(
                null,
                List.of(new StoreWrite.ExecuteCommand<>(
                        new StoreWriteCommand.CreateWorkspace(workspace, new byte[] {1}))));
    }

    private boolean there(String workspace) {
        return truth.workspace(workspace) != null;
    }

    @Test
    void without_probabilities_nothing_fails() {
        try (WorkflowStore.BatchWriter lane =
                faults(1, FaultProbabilities.NONE).around(real).openLane()) {
            for (int i = 0; i < 1_000; i++) {
                lane.apply(opening("w" + i));
            }
        }
        assertTrue(there("w999"));
    }

    @Test
    void each_fault_leaves_the_declared_state() {
        StoreFaults faults = faults(1, FaultProbabilities.NONE);
        faults.next(Fault.DOWN, Fault.COMMIT_LOST, Fault.LOCKED, Fault.ANSWER_LOST);
        try (WorkflowStore.BatchWriter lane = faults.around(real).openLane()) {
            assertThrows(StoreFailure.Unreachable.class, () -> lane.apply(opening("down")));
            assertThrows(StoreFailure.CommitUnknown.class, () -> lane.apply(opening("commit lost")));
            assertThrows(StoreFailure.LockConflict.class, () -> lane.apply(opening("locked")));
            assertThrows(StoreFailure.CommitUnknown.class, () -> lane.apply(opening("answer lost")));
            assertEquals(
                    List.of(false, false, false, true),
                    List.of(there("down"), there("commit lost"), there("locked"), there("answer lost")));
            Object again = lane.apply(opening("answer lost")).getFirst();
            assertEquals(1, ((DatabaseRows.WorkspaceRow) again).ws(), "applied again it is the one that was made");
        }
    }

    private List<String> history(StoreFaults faults) {
        List<String> met = new ArrayList<>();
        try (WorkflowStore.BatchWriter lane = faults.around(real).openLane()) {
            for (int i = 0; i < 300; i++) {
                try {
                    lane.apply(opening("w"));
                    met.add("fine");
                } catch (StoreFailure e) {
                    met.add(e.getClass().getSimpleName());
                }
            }
        }
        return met;
    }

    @Test
    void the_same_seed_gives_the_same_faults_and_another_seed_others() {
        FaultProbabilities odds = FaultProbabilities.NONE
                .down(0.1)
                .answerLost(0.1)
                .commitLost(0.1)
                .locked(0.1)
                .outage(0.02, 5);
        List<String> first = history(faults(7, odds));
        assertEquals(first, history(faults(7, odds)));
        assertNotEquals(first, history(faults(8, odds)));
        assertTrue(
                first.containsAll(List.of("fine", "Unreachable", "CommitUnknown", "LockConflict")), first.toString());
        StoreFaults counted = faults(7, odds);
        history(counted);
        for (Fault fault : Fault.values()) {
            assertTrue(counted.met(fault) > 0, fault.name());
        }
    }

    @Test
    void more_delays_do_not_change_the_faults_of_a_history() {
        FaultProbabilities odds = FaultProbabilities.NONE.down(0.2);
        AtomicInteger delays = new AtomicInteger();
        StoreFaults delayed = faults(3, odds.delay(0.5));
        delayed.onDelay(delays::incrementAndGet);
        assertEquals(history(faults(3, odds)), history(delayed));
        assertTrue(delays.get() > 0);
    }

    @Test
    void an_outage_stops_readers_and_leases_too_and_ends() {
        StoreFaults faults = faults(5, FaultProbabilities.NONE.outage(1, 10));
        WorkflowStore store = faults.around(real);
        try (WorkflowStore.BatchWriter lane = store.openLane();
                StoreQueries reads = store.openQueries();
                WorkerLeases leases = store.openLeases()) {
            int stopped = 0;
            for (int begun = 0; stopped == 0 && begun < 100; begun++) {
                assertThrows(StoreFailure.Unreachable.class, () -> lane.apply(opening("w")));
                stopped = untilItAnswers(reads, leases);
            }
            assertTrue(stopped > 0 && stopped < 10, "stopped calls: " + stopped);
        }
    }

    private static int untilItAnswers(StoreQueries reads, WorkerLeases leases) {
        int stopped = 0;
        while (true) {
            try {
                if (stopped % 2 == 0) {
                    reads.now();
                } else {
                    leases.takeOverExpired(0);
                }
                return stopped;
            } catch (StoreFailure.Unreachable e) {
                stopped++;
            }
        }
    }

    @Test
    void a_stopped_store_stays_down_until_started() {
        StoreFaults faults = faults(1, FaultProbabilities.NONE);
        WorkflowStore store = faults.around(real);
        try (WorkflowStore.BatchWriter lane = store.openLane();
                StoreQueries reads = store.openQueries()) {
            faults.down(true);
            assertThrows(StoreFailure.Unreachable.class, () -> lane.apply(opening("w")));
            assertThrows(StoreFailure.Unreachable.class, reads::countUnfinished);
            faults.down(false);
            lane.apply(opening("w"));
            assertEquals(0, reads.countUnfinished());
        }
    }

    @Test
    void switched_off_faults_never_happen() {
        StoreFaults faults = faults(1, FaultProbabilities.NONE.down(0.5).outage(0.5, 1_000));
        WorkflowStore store = faults.around(real);
        try (WorkflowStore.BatchWriter lane = store.openLane();
                StoreQueries reads = store.openQueries()) {
            assertThrows(StoreFailure.Unreachable.class, () -> lane.apply(opening("w")));
            faults.down(true);
            faults.next(Fault.LOCKED);
            faults.off();
            for (int i = 0; i < 100; i++) {
                lane.apply(opening("w"));
                assertTrue(reads.now() > 0);
            }
            faults.on();
            assertThrows(StoreFailure.Unreachable.class, () -> lane.apply(opening("w")));
        }
    }

    @Test
    void impossible_probabilities_are_rejected() {
        assertThrows(IllegalArgumentException.class, () -> FaultProbabilities.NONE.down(1.1));
        assertThrows(IllegalArgumentException.class, () -> FaultProbabilities.NONE.down(-0.1));
        assertThrows(IllegalArgumentException.class, () -> FaultProbabilities.NONE.down(Double.NaN));
        assertThrows(
                IllegalArgumentException.class,
                () -> FaultProbabilities.NONE.down(0.6).locked(0.6));
        assertThrows(IllegalArgumentException.class, () -> FaultProbabilities.NONE.outage(0.1, 0));
    }
}
