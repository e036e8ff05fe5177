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
    private final TestStoreClient desk = new TestStoreClient(SqliteStoreFixture.shared());
    private final StoreBatchWriter otherLane = desk.store.openLane();
    private final WorkerLeases otherLeases = desk.store.openLeases();

    @BeforeEach
    void open() {
        otherLeases.start(OTHER, "other", desk.slots(), 100 * TestStoreClient.TTL);
    }

    @AfterEach
    void close() {
        desk.close();
    }

    @Test
    void only_the_stores_clock_ends_a_lease() {
        desk.fixture.setTime(StoreFixture.START + TestStoreClient.TTL);
        assertEquals(0, otherLeases.takeOverExpired(0), "it holds up to its last microsecond");
        desk.fixture.setTime(StoreFixture.START + TestStoreClient.TTL + 1);
        assertEquals(1, otherLeases.takeOverExpired(0));
        assertEquals(0, otherLeases.takeOverExpired(0));
        assertFalse(desk.leases.renew(TestStoreClient.LEASE, TestStoreClient.TTL));
        assertEquals(1, desk.fixture.count("semel_lease"), "the taker's own is left");
    }

    @Test
    void a_lease_is_never_used_twice() {
        assertThrows(
                StoreFailure.class, () -> otherLeases.start(TestStoreClient.LEASE, "other", 1, TestStoreClient.TTL));
        assertTrue(desk.leases.renew(TestStoreClient.LEASE, TestStoreClient.TTL));
    }

    @Test
    void a_batch_that_begins_after_the_takeover_writes_no_row() {
        RunId run = desk.fresh(desk.key("K"));
        desk.fixture.setTime(StoreFixture.START + TestStoreClient.TTL + 1);
        otherLeases.takeOverExpired(0);
        assertThrows(
                StoreFailure.Fenced.class,
                () -> desk.applyAll(desk.admit(desk.id(), desk.key("L")), desk.append(run, 0, "[1]"), desk.end(run)));
        assertEquals(1, desk.fixture.count("semel_run"));
        assertEquals(0, desk.fixture.count("semel_journal"));
    }

    @Test
    void a_taken_over_run_belongs_only_to_its_new_owner() {
        RunId run = desk.fresh();
        desk.fixture.setTime(StoreFixture.START + TestStoreClient.TTL + 1);
        otherLeases.takeOverExpired(0);
        assertEquals(1, work(run).crashCount(), "its worker died with it");
        var driver = new StoreWrite.RunExecution(run, 2);
        assertEquals(
                List.of(List.of(driver)),
                otherLane.apply(new CommitBatch(THERE, List.of(new StoreWrite.ClaimRuns(5)))));
        desk.leases.start(79, "back again", 1, TestStoreClient.TTL);
        var late = new CommitBatch.LeaseSlot(79, 0);
        assertEquals(StoreWrite.OwnerWriteResult.FENCED, desk.applyAs(late, desk.append(run, 0, "[\"late\"]")));
        var append = new StoreWrite.AppendJournal(driver, 0, "[1]", RunState.RUNNING, List.of(), null);
        assertEquals(
                List.of(StoreWrite.OwnerWriteResult.RECORDED),
                otherLane.apply(new CommitBatch(THERE, List.of(append))));
        assertEquals(List.of("[1]"), desk.journal(run));
        assertEquals(0, work(run).crashCount(), "it got on");
    }

    private DatabaseRows.RunProgress work(RunId run) {
        DatabaseRows.RunProgress work = desk.runOf(run).progress();
        assertNotNull(work);
        return work;
    }

    @Test
    void a_returned_lease_counts_as_no_crash() {
        RunId run = desk.fresh();
        desk.leases.end(TestStoreClient.LEASE);
        assertEquals(0, work(run).crashCount());
    }

    @Test
    void equal_concurrent_triggers_at_two_workers_are_one_run() throws Exception {
        for (int round = 0; round < 200; round++) {
            StoreWrite.AdmitRun here = desk.admit(desk.id(), desk.key("K" + round));
            StoreWrite.AdmitRun there = desk.admit(desk.id(), desk.key("K" + round));
            FutureTask<Object> other = new FutureTask<>(() ->
                    otherLane.apply(new CommitBatch(THERE, List.of(there))).getFirst());
            Thread.ofPlatform().start(other);
            List<Object> both = new ArrayList<>(desk.applyAll(here));
            both.add(other.get());
            assertEquals(
                    1,
                    both.stream()
                            .filter(StoreWrite.AdmitResult.Fresh.class::isInstance)
                            .count(),
                    both::toString);
        }
        assertEquals(200, desk.fixture.count("semel_run"));
    }
}
