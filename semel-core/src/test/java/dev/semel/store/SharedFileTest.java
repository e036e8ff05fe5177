package dev.semel.store;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.semel.run.RunId;
import dev.semel.run.RunState;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.FutureTask;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Several workers of one process on one SQLite file, as in a kit: leases work as on PostgreSQL. */
final class SharedFileTest {
    private static final long OTHER = 78;
    private static final CommitBatch.LeaseSlot THERE = new CommitBatch.LeaseSlot(OTHER, 0);
    private final TestStoreClient client = new TestStoreClient(SqliteStoreFixture.shared());
    private final WorkflowStore.BatchWriter otherLane = client.store.openLane();
    private final WorkerLeases otherLeases = client.store.openLeases();

    @BeforeEach
    void open() {
        otherLeases.start(OTHER, "other", client.slots(), 100 * TestStoreClient.TTL);
    }

    @AfterEach
    void close() {
        client.close();
    }

    @Test
    void only_the_stores_clock_ends_a_lease() {
        client.fixture.setTime(StoreFixture.START + TestStoreClient.TTL);
        assertEquals(0, otherLeases.takeOverExpired(0), "it holds up to its last microsecond");
        client.fixture.setTime(StoreFixture.START + TestStoreClient.TTL + 1);
        assertEquals(1, otherLeases.takeOverExpired(0));
        assertEquals(0, otherLeases.takeOverExpired(0));
        assertFalse(client.leases.renew(TestStoreClient.LEASE, TestStoreClient.TTL));
        assertEquals(1, client.fixture.count("semel_lease"), "the taker's own is left");
    }

    @Test
    void a_lease_is_never_used_twice() {
        assertThrows(
                StoreFailure.class, () -> otherLeases.start(TestStoreClient.LEASE, "other", 1, TestStoreClient.TTL));
        assertTrue(client.leases.renew(TestStoreClient.LEASE, TestStoreClient.TTL));
    }

    @Test
    void a_batch_that_begins_after_the_takeover_writes_no_row() {
        RunId run = client.fresh(client.key("K"));
        client.fixture.setTime(StoreFixture.START + TestStoreClient.TTL + 1);
        otherLeases.takeOverExpired(0);
        assertThrows(
                StoreFailure.Fenced.class,
                () -> client.applyAll(
                        client.admit(client.id(), client.key("L")), client.append(run, 0, "[1]"), client.end(run)));
        assertEquals(1, client.fixture.count("semel_run"));
        assertEquals(0, client.fixture.count("semel_journal"));
    }

    @Test
    void a_taken_over_run_belongs_only_to_its_new_owner() {
        RunId run = client.fresh();
        client.fixture.setTime(StoreFixture.START + TestStoreClient.TTL + 1);
        otherLeases.takeOverExpired(0);
        assertEquals(1, work(run).crashCount(), "its worker died with it");
        var driver = new StoreWrite.RunExecution(run, 2);
        assertEquals(
                List.of(List.of(driver)),
                otherLane.apply(new CommitBatch(THERE, List.of(new StoreWrite.ClaimRuns(5)))));
        client.leases.start(79, "back again", 1, TestStoreClient.TTL);
        var late = new CommitBatch.LeaseSlot(79, 0);
        assertEquals(StoreWrite.OwnerWriteResult.FENCED, client.applyAs(late, client.append(run, 0, "[\"late\"]")));
        var append = new StoreWrite.AppendJournal(driver, 0, "[1]", RunState.RUNNING, List.of(), null);
        assertEquals(
                List.of(StoreWrite.OwnerWriteResult.RECORDED),
                otherLane.apply(new CommitBatch(THERE, List.of(append))));
        assertEquals(List.of("[1]"), client.journal(run));
        assertEquals(0, work(run).crashCount(), "it got on");
    }

    private DatabaseRows.RunProgress work(RunId run) {
        DatabaseRows.RunProgress work = client.runOf(run).progress();
        assertNotNull(work);
        return work;
    }

    @Test
    void a_returned_lease_counts_as_no_crash() {
        RunId run = client.fresh();
        client.leases.end(TestStoreClient.LEASE);
        assertEquals(0, work(run).crashCount());
    }

    @Test
    void equal_concurrent_triggers_at_two_workers_are_one_run() throws Exception {
        for (int round = 0; round < 200; round++) {
            StoreWrite.AdmitRun here = client.admit(client.id(), client.key("K" + round));
            StoreWrite.AdmitRun there = client.admit(client.id(), client.key("K" + round));
            FutureTask<Object> other = new FutureTask<>(() ->
                    otherLane.apply(new CommitBatch(THERE, List.of(there))).getFirst());
            Thread.ofPlatform().start(other);
            List<Object> both = new ArrayList<>(client.applyAll(here));
            both.add(other.get());
            assertEquals(
                    1,
                    both.stream()
                            .filter(StoreWrite.AdmitResult.Fresh.class::isInstance)
                            .count(),
                    both::toString);
        }
        assertEquals(200, client.fixture.count("semel_run"));
    }
}
