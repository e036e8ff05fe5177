package dev.semel.store;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.semel.run.RunId;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;
import java.util.concurrent.FutureTask;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** On a real PostgreSQL with two workers: a lease that is gone writes nothing, and only the database's clock ends one. */
final class FenceTest {
    private static final long OTHER = 78;
    private TestStoreClient desk = new TestStoreClient(Dialect.POSTGRES);
    private StoreBatchWriter otherLane = desk.store.openLane();
    private WorkerLeases otherLeases = desk.store.openLeases();

    @BeforeEach
    void open() {
        otherLeases.start(OTHER, "other", desk.slots(), 100 * TestStoreClient.TTL);
    }

    @AfterEach
    void close() {
        otherLane.close();
        otherLeases.close();
        desk.close();
    }

    /** Starts on a thread of its own; the future holds what it answers. */
    private static <T> FutureTask<T> apart(java.util.concurrent.Callable<T> work) {
        FutureTask<T> task = new FutureTask<>(work);
        Thread.ofPlatform().daemon(true).start(task);
        return task;
    }

    /** Another transaction that holds the slot of the desk's lane, as a batch in flight does. */
    private Connection slotLocked() throws SQLException {
        Connection connection = desk.fixture.jdbc();
        connection.setAutoCommit(false);
        try (var statement = connection.createStatement()) {
            statement.executeQuery("SELECT 1 FROM semel_fence WHERE lease = " + TestStoreClient.LEASE
                    + " AND slot = 0 FOR NO KEY UPDATE");
        }
        return connection;
    }

    @Test
    void a_batch_that_begins_after_the_takeover_writes_no_row() {
        RunId run = desk.fresh(desk.key("K"));
        desk.fixture.setTime(StoreFixture.START + TestStoreClient.TTL + 1);
        assertEquals(1, otherLeases.takeOverExpired(0));
        assertThrows(
                StoreFailure.Fenced.class,
                () -> desk.applyAll(
                        desk.admit(desk.id(), desk.key("L")),
                        desk.append(run, 0, "[1]"),
                        desk.end(run),
                        new StoreWrite.RecordDuplicates(List.of(desk.seen(run, false, 1)))));
        assertEquals(1, desk.fixture.count("semel_run"));
        assertEquals(1, desk.fixture.count("semel_key"));
        assertEquals(0, desk.fixture.count("semel_journal"));
        assertEquals(0, desk.fixture.count("semel_finished_run"));
        assertEquals(0, desk.fixture.count("semel_duplicate_request"));
    }

    @Test
    void a_batch_that_waits_while_its_lease_is_deleted_is_fenced() throws Exception {
        RunId run = desk.fresh(desk.key("K"));
        try (Connection taker = slotLocked();
                var statement = taker.createStatement()) {
            FutureTask<List<Object>> batch =
                    apart(() -> desk.applyAll(desk.admit(desk.id(), desk.key("L")), desk.end(run)));
            PostgresStoreFixture.awaitBlockedBy(taker);
            statement.executeUpdate(
                    "UPDATE semel_unfinished_run SET owner = NULL WHERE owner = " + TestStoreClient.LEASE);
            statement.executeUpdate("DELETE FROM semel_fence WHERE lease = " + TestStoreClient.LEASE);
            statement.executeUpdate("DELETE FROM semel_lease WHERE lease = " + TestStoreClient.LEASE);
            taker.commit();
            var failure = assertThrows(java.util.concurrent.ExecutionException.class, batch::get);
            assertInstanceOf(StoreFailure.Fenced.class, failure.getCause());
        }
        assertEquals(1, desk.fixture.count("semel_run"));
        assertEquals(0, desk.fixture.count("semel_finished_run"));
    }

    @Test
    void a_takeover_waits_for_a_batch_in_flight() throws Exception {
        RunId run = desk.fresh();
        desk.fixture.setTime(StoreFixture.START + TestStoreClient.TTL + 1);
        try (Connection batch = slotLocked()) {
            FutureTask<Integer> takeover = apart(() -> otherLeases.takeOverExpired(0));
            PostgresStoreFixture.awaitBlockedBy(batch);
            assertFalse(takeover.isDone());
            assertEquals(
                    1, desk.fixture.number("SELECT count(*) FROM semel_lease WHERE lease = " + TestStoreClient.LEASE));
            batch.commit();
            assertEquals(1, takeover.get());
        }
        assertEquals(List.of(run), claimElsewhere());
    }

    @Test
    void a_lease_renewed_during_a_takeover_stays_valid() throws Exception {
        RunId run = desk.fresh();
        desk.fixture.setTime(StoreFixture.START + TestStoreClient.TTL + 1);
        try (Connection batch = slotLocked()) {
            FutureTask<Integer> takeover = apart(() -> otherLeases.takeOverExpired(0));
            PostgresStoreFixture.awaitBlockedBy(batch);
            assertTrue(desk.leases.renew(TestStoreClient.LEASE, TestStoreClient.TTL));
            batch.commit();
            assertEquals(0, takeover.get());
        }
        assertEquals(List.of(), claimElsewhere());
        assertEquals(StoreWrite.OwnerWriteResult.RECORDED, desk.apply(desk.end(run)));
    }

    @Test
    void only_the_databases_clock_ends_a_lease() {
        desk.fresh();
        desk.fixture.setTime(StoreFixture.START + TestStoreClient.TTL);
        assertEquals(0, otherLeases.takeOverExpired(0), "it holds up to its last microsecond");
        desk.fixture.setTime(StoreFixture.START + TestStoreClient.TTL + 1);
        assertEquals(1, otherLeases.takeOverExpired(0));
        assertEquals(0, otherLeases.takeOverExpired(0));
        assertFalse(desk.leases.renew(TestStoreClient.LEASE, TestStoreClient.TTL));
        assertEquals(1, desk.fixture.count("semel_lease"), "the taker's own is left");
    }

    @Test
    void of_two_workers_taking_over_one_ends_the_lease() throws Exception {
        desk.fresh();
        desk.fixture.setTime(StoreFixture.START + TestStoreClient.TTL + 1);
        try (WorkerLeases third = desk.store.openLeases()) {
            FutureTask<Integer> one = apart(() -> otherLeases.takeOverExpired(0));
            FutureTask<Integer> two = apart(() -> third.takeOverExpired(0));
            assertEquals(1, one.get() + two.get());
        }
    }

    @Test
    void two_lanes_of_one_lease_do_not_wait_for_each_other() throws Exception {
        try (Connection _ = slotLocked()) {
            var second = new CommitBatch.LeaseSlot(TestStoreClient.LEASE, 1);
            RunId id = desk.id();
            assertInstanceOf(
                    StoreWrite.AdmitResult.Fresh.class,
                    otherLane
                            .apply(new CommitBatch(second, List.of(desk.admit(id))))
                            .getFirst());
        }
    }

    @Test
    void equal_concurrent_triggers_at_two_workers_are_one_run() throws Exception {
        for (int round = 0; round < 40; round++) {
            StoreWrite.AdmitRun here = desk.admit(desk.id(), desk.key("K" + round), desk.payload("P" + round, true));
            StoreWrite.AdmitRun there = desk.admit(desk.id(), desk.key("K" + round), desk.payload("P" + round, true));
            var otherHold = new CommitBatch.LeaseSlot(OTHER, 0);
            FutureTask<Object> other = apart(() ->
                    otherLane.apply(new CommitBatch(otherHold, List.of(there))).getFirst());
            Object mine = desk.applyAll(here).getFirst();
            Object theirs = other.get();
            long fresh = List.of(mine, theirs).stream()
                    .filter(StoreWrite.AdmitResult.Fresh.class::isInstance)
                    .count();
            assertEquals(1, fresh, mine + " and " + theirs);
        }
        assertEquals(40, desk.fixture.count("semel_run"));
    }

    @Test
    void concurrently_created_workspaces_get_their_own_numbers() throws Exception {
        for (int round = 0; round < 20; round++) {
            String name = "concurrent " + round;
            var edit = new StoreWrite.ExecuteCommand<>(
                    new StoreWriteCommand.CreateWorkspace(name, TestStoreClient.bytes("a")));
            var another = new StoreWrite.ExecuteCommand<>(
                    new StoreWriteCommand.CreateWorkspace(name + "!", TestStoreClient.bytes("b")));
            FutureTask<List<Object>> other =
                    apart(() -> otherLane.apply(new CommitBatch(null, List.of(edit, another))));
            List<Object> mine = desk.applyAll(edit, another);
            List<Object> theirs = other.get();
            for (int i = 0; i < 2; i++) {
                assertEquals(number(mine.get(i)), number(theirs.get(i)));
            }
        }
        assertEquals(41, desk.fixture.count("semel_workspace"));
    }

    private static int number(Object workspace) {
        return assertInstanceOf(DatabaseRows.WorkspaceRow.class, workspace).ws();
    }

    @Test
    void a_claim_skips_runs_that_another_worker_is_claiming() throws Exception {
        RunId one = desk.id();
        RunId two = desk.id();
        desk.applyAll(desk.admit(desk.run(one), List.of(), false), desk.admit(desk.run(two), List.of(), false));
        try (Connection claimer = desk.fixture.jdbc();
                var statement = claimer.createStatement()) {
            claimer.setAutoCommit(false);
            statement.executeQuery(
                    "SELECT 1 FROM semel_unfinished_run WHERE owner IS NULL ORDER BY run LIMIT 1 FOR UPDATE");
            assertEquals(List.of(two), claimElsewhere());
        }
    }

    @SuppressWarnings("unchecked") // a claim answers drivers
    private List<RunId> claimElsewhere() {
        return TestStoreClient.runs((List<StoreWrite.RunExecution>) otherLane
                .apply(new CommitBatch(new CommitBatch.LeaseSlot(OTHER, 0), List.of(new StoreWrite.ClaimRuns(10))))
                .getFirst());
    }
}
