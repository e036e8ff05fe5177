package dev.semel.store;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;

import dev.semel.store.StoreWrite.AdmitResult;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.FutureTask;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** On a real PostgreSQL with two workers: a publish has no batch beside it, and every batch knows which side it is on. */
final class PublishRaceTest {
    private static final long OTHER = 78;
    private final TestStoreClient client = new TestStoreClient(Dialect.POSTGRES);
    private final WorkflowStore.BatchWriter otherLane = client.store.openLane();
    private final WorkerLeases otherLeases = client.store.openLeases();

    @BeforeEach
    void open() {
        otherLeases.start(OTHER, "other", client.store.lanes(), 100 * TestStoreClient.TTL);
    }

    @AfterEach
    void close() {
        otherLane.close();
        otherLeases.close();
        client.close();
    }

    private static <T> FutureTask<T> apart(Callable<T> work) {
        FutureTask<T> task = new FutureTask<>(work);
        Thread.ofPlatform().daemon(true).start(task);
        return task;
    }

    private Object publishElsewhere(int version) {
        var publish = new StoreWriteCommand.PublishVersion(
                client.ws, "one", TestStoreClient.WORKFLOW, "body " + version, "other");
        return otherLane
                .apply(new CommitBatch(
                        new CommitBatch.LeaseSlot(OTHER, 0), List.of(new StoreWrite.ExecuteCommand<>(publish))))
                .getFirst();
    }

    private Connection holding(String sql) throws SQLException {
        Connection connection = client.fixture.jdbc();
        connection.setAutoCommit(false);
        try (var statement = connection.createStatement()) {
            statement.execute(sql);
        }
        return connection;
    }

    @Test
    void a_publish_waits_for_batches_in_flight_of_other_workers() throws Exception {
        try (Connection batch = holding("SELECT 1 FROM semel_fence WHERE lease = " + TestStoreClient.LEASE
                + " AND slot = 1 FOR NO KEY UPDATE")) {
            FutureTask<Object> publish = apart(() -> publishElsewhere(2));
            PostgresStoreFixture.awaitBlockedBy(batch);
            assertFalse(publish.isDone());
            batch.commit();
            assertInstanceOf(DatabaseRows.WorkflowRow.class, publish.get());
        }
    }

    @Test
    void a_publish_waits_for_a_batch_without_a_lease() throws Exception {
        try (Connection batch = holding("SELECT revision FROM semel_catalog FOR SHARE")) {
            FutureTask<Object> publish = apart(() -> publishElsewhere(2));
            PostgresStoreFixture.awaitBlockedBy(batch);
            batch.commit();
            assertInstanceOf(DatabaseRows.WorkflowRow.class, publish.get());
        }
    }

    @Test
    void a_batch_that_waited_for_a_publish_runs_after_it() throws Exception {
        StoreWrite.AdmitRun late = client.admit(client.id(), client.key("K"));
        try (Connection publish = holding("""
            SELECT revision FROM semel_catalog FOR UPDATE;
            SELECT slot FROM semel_fence ORDER BY lease, slot FOR NO KEY UPDATE;
            UPDATE semel_catalog SET revision = revision + 1;
            UPDATE semel_fence SET catalog_revision = catalog_revision + 1\
            """)) {
            FutureTask<List<Object>> batch = apart(() -> client.applyAll(late));
            PostgresStoreFixture.awaitBlockedBy(publish);
            publish.commit();
            assertInstanceOf(AdmitResult.CatalogChanged.class, batch.get().getFirst());
        }
        assertEquals(0, client.fixture.count("semel_key"));
    }

    @Test
    void a_lease_that_starts_during_a_publish_sees_it() throws Exception {
        try (Connection publish = holding("""
            UPDATE semel_catalog SET revision = revision + 1;
            UPDATE semel_fence SET catalog_revision = catalog_revision + 1\
            """);
                WorkerLeases third = client.store.openLeases()) {
            FutureTask<Boolean> start = apart(() -> {
                third.start(79, "third", client.store.lanes(), TestStoreClient.TTL);
                return true;
            });
            PostgresStoreFixture.awaitBlockedBy(publish);
            publish.commit();
            start.get();
        }
        assertEquals(
                1,
                client.fixture.number("SELECT count(DISTINCT catalog_revision) FROM semel_fence"),
                "all slots know the same one");
    }

    @Test
    void workers_that_publish_and_admit_concurrently_never_deadlock() throws Exception {
        for (int round = 0; round < 40; round++) {
            int version = 2 * round + 2;
            String key = "K" + round;
            var publish = new StoreWriteCommand.PublishVersion(
                    client.ws, "one", TestStoreClient.WORKFLOW, "body " + (version + 1), "client");
            FutureTask<Object> there = apart(() -> publishElsewhere(version));
            // Throws where the database ended it as a deadlock.
            List<Object> here = client.applyAll(
                    client.admit(client.id(), client.key(key)), new StoreWrite.ExecuteCommand<>(publish));
            assertInstanceOf(DatabaseRows.WorkflowRow.class, there.get());
            assertInstanceOf(DatabaseRows.WorkflowRow.class, here.get(1));
        }
        assertEquals(81, client.fixture.count("semel_workflow_version"));
    }
}
