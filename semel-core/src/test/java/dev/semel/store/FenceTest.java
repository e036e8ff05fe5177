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
    private TestStoreClient client = new TestStoreClient(Dialect.POSTGRES);
    private WorkflowStore.BatchWriter otherLane = client.store.openLane();
    private WorkerLeases otherLeases = client.store.openLeases();

    @BeforeEach
    void open() {
        otherLeases.start(OTHER, "other", client.slots(), 100 * TestStoreClient.TTL);
    }

    @AfterEach
    void close() {
        otherLane.close();
        otherLeases.close();
        client.close();
    }

    /** Starts on a thread of its own; the future holds what it answers. */
    private static <T> FutureTask<T> apart(java.util.concurrent.Callable<T> work) {
        FutureTask<T> task = new FutureTask<>(work);
        Thread.ofPlatform().daemon(true).start(task);
        return task;
    }

    /** Another transaction that holds the slot of the client's lane, as a batch in flight does. */
    private Connection slotLocked() throws SQLException {
        Connection connection = client.fixture.jdbc();
        connection.setAutoCommit(false);
        try (var statement = connection.createStatement()) {
            statement.executeQuery("SELECT 1 FROM semel_fence WHERE lease = " + TestStoreClient.LEASE
                    + " AND slot = 0 FOR NO KEY UPDATE");
        }
        return connection;
    }

    @Test
    void a_batch_that_begins_after_the_takeover_writes_no_row() {
        RunId run = client.fresh(client.key("K"));
        client.fixture.setTime(StoreFixture.START + TestStoreClient.TTL + 1);
        assertEquals(1, otherLeases.takeOverExpired(0));
        assertThrows(
                StoreFailure.Fenced.class,
                () -> client.applyAll(
                        client.admit(client.id(), client.key("L")),
                        client.append(run, 0, "[1]"),
                        client.end(run),
                        new StoreWrite.RecordDuplicates(List.of(client.seen(run, false, 1)))));
        assertEquals(1, client.fixture.count("semel_run"));
        assertEquals(1, client.fixture.count("semel_key"));
        assertEquals(0, client.fixture.count("semel_journal"));
        assertEquals(0, client.fixture.count("semel_finished_run"));
        assertEquals(0, client.fixture.count("semel_duplicate_request"));
    }

    @Test
    void a_batch_that_waits_while_its_lease_is_deleted_is_fenced() throws Exception {
        RunId run = client.fresh(client.key("K"));
        try (Connection taker = slotLocked();
                var statement = taker.createStatement()) {
            FutureTask<List<Object>> batch =
                    apart(() -> client.applyAll(client.admit(client.id(), client.key("L")), client.end(run)));
            PostgresStoreFixture.awaitBlockedBy(taker);
            statement.executeUpdate(
                    "UPDATE semel_unfinished_run SET owner = NULL WHERE owner = " + TestStoreClient.LEASE);
            statement.executeUpdate("DELETE FROM semel_fence WHERE lease = " + TestStoreClient.LEASE);
            statement.executeUpdate("DELETE FROM semel_lease WHERE lease = " + TestStoreClient.LEASE);
            taker.commit();
            var failure = assertThrows(java.util.concurrent.ExecutionException.class, batch::get);
            assertInstanceOf(StoreFailure.Fenced.class, failure.getCause());
        }
        assertEquals(1, client.fixture.count("semel_run"));
        assertEquals(0, client.fixture.count("semel_finished_run"));
    }

    @Test
    void a_takeover_waits_for_a_batch_in_flight() throws Exception {
        RunId run = client.fresh();
        client.fixture.setTime(StoreFixture.START + TestStoreClient.TTL + 1);
        try (Connection batch = slotLocked()) {
            FutureTask<Integer> takeover = apart(() -> otherLeases.takeOverExpired(0));
            PostgresStoreFixture.awaitBlockedBy(batch);
            assertFalse(takeover.isDone());
            assertEquals(
                    1,
                    client.fixture.number("SELECT count(*) FROM semel_lease WHERE lease = " + TestStoreClient.LEASE));
            batch.commit();
            assertEquals(1, takeover.get());
        }
        assertEquals(List.of(run), claimElsewhere());
    }

    @Test
    void a_lease_renewed_during_a_takeover_stays_valid() throws Exception {
        RunId run = client.fresh();
        client.fixture.setTime(StoreFixture.START + TestStoreClient.TTL + 1);
        try (Connection batch = slotLocked()) {
            FutureTask<Integer> takeover = apart(() -> otherLeases.takeOverExpired(0));
            PostgresStoreFixture.awaitBlockedBy(batch);
            assertTrue(client.leases.renew(TestStoreClient.LEASE, TestStoreClient.TTL));
            batch.commit();
            assertEquals(0, takeover.get());
        }
        assertEquals(List.of(), claimElsewhere());
        assertEquals(StoreWrite.OwnerWriteResult.RECORDED, client.apply(client.end(run)));
    }

    @Test
    void only_the_databases_clock_ends_a_lease() {
        client.fresh();
        client.fixture.setTime(StoreFixture.START + TestStoreClient.TTL);
        assertEquals(0, otherLeases.takeOverExpired(0), "it holds up to its last microsecond");
        client.fixture.setTime(StoreFixture.START + TestStoreClient.TTL + 1);
        assertEquals(1, otherLeases.takeOverExpired(0));
        assertEquals(0, otherLeases.takeOverExpired(0));
        assertFalse(client.leases.renew(TestStoreClient.LEASE, TestStoreClient.TTL));
        assertEquals(1, client.fixture.count("semel_lease"), "the taker's own is left");
    }

    @Test
    void of_two_workers_taking_over_one_ends_the_lease() throws Exception {
        client.fresh();
        client.fixture.setTime(StoreFixture.START + TestStoreClient.TTL + 1);
        try (WorkerLeases third = client.store.openLeases()) {
            FutureTask<Integer> one = apart(() -> otherLeases.takeOverExpired(0));
            FutureTask<Integer> two = apart(() -> third.takeOverExpired(0));
            assertEquals(1, one.get() + two.get());
        }
    }

    @Test
    void two_lanes_of_one_lease_do_not_wait_for_each_other() throws Exception {
        try (Connection _ = slotLocked()) {
            var second = new CommitBatch.LeaseSlot(TestStoreClient.LEASE, 1);
            RunId id = client.id();
            assertInstanceOf(
                    StoreWrite.AdmitResult.Fresh.class,
                    otherLane
                            .apply(new CommitBatch(second, List.of(client.admit(id))))
                            .getFirst());
        }
    }

    @Test
    void equal_concurrent_triggers_at_two_workers_are_one_run() throws Exception {
        for (int round = 0; round < 40; round++) {
            StoreWrite.AdmitRun here =
                    client.admit(client.id(), client.key("K" + round), client.payload("P" + round, true));
            StoreWrite.AdmitRun there =
                    client.admit(client.id(), client.key("K" + round), client.payload("P" + round, true));
            var otherHold = new CommitBatch.LeaseSlot(OTHER, 0);
            FutureTask<Object> other = apart(() ->
                    otherLane.apply(new CommitBatch(otherHold, List.of(there))).getFirst());
            Object mine = client.applyAll(here).getFirst();
            Object theirs = other.get();
            long fresh = List.of(mine, theirs).stream()
                    .filter(StoreWrite.AdmitResult.Fresh.class::isInstance)
                    .count();
            assertEquals(1, fresh, mine + " and " + theirs);
        }
        assertEquals(40, client.fixture.count("semel_run"));
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
            List<Object> mine = client.applyAll(edit, another);
            List<Object> theirs = other.get();
            for (int i = 0; i < 2; i++) {
                assertEquals(number(mine.get(i)), number(theirs.get(i)));
            }
        }
        assertEquals(41, client.fixture.count("semel_workspace"));
    }

    private static int number(Object workspace) {
        return assertInstanceOf(DatabaseRows.WorkspaceRow.class, workspace).ws();
    }

    @Test
    void a_claim_skips_runs_that_another_worker_is_claiming() throws Exception {
        RunId one = client.id();
        RunId two = client.id();
        client.applyAll(
                client.admit(client.run(one), List.of(), false), client.admit(client.run(two), List.of(), false));
        try (Connection claimer = client.fixture.jdbc();
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
