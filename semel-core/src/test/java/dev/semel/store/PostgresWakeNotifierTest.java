package dev.semel.store;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;

import dev.semel.run.RunId;
import dev.semel.store.postgres.PostgresStore;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** What workers on one PostgreSQL tell each other: hints, which polling could do without. */
final class PostgresWakeNotifierTest {
    private final StoreFixture fixture = PostgresStoreFixture.withItsOwnClock();
    private final AtomicLong ids = new AtomicLong(1);
    private final PostgresStore one = store();
    private final PostgresStore two = store();
    private final LinkedBlockingQueue<Optional<RunId>> toOne = new LinkedBlockingQueue<>();
    private final LinkedBlockingQueue<Optional<RunId>> toTwo = new LinkedBlockingQueue<>();
    private final WorkflowStore.WakeSubscription first = one.listen(run -> toOne.add(Optional.ofNullable(run)));
    private final WorkflowStore.WakeSubscription second = two.listen(run -> toTwo.add(Optional.ofNullable(run)));

    private PostgresStore store() {
        PostgresStore store = new PostgresStore(fixture.url(), () -> 0, () -> new RunId(1, ids.getAndIncrement()));
        store.migrate();
        return store;
    }

    @AfterEach
    void close() {
        first.close();
        second.close();
        fixture.close();
    }

    private static Optional<RunId> next(LinkedBlockingQueue<Optional<RunId>> queue) throws InterruptedException {
        Optional<RunId> hint = queue.poll(30, TimeUnit.SECONDS);
        assertNotNull(hint, "nothing was heard");
        return hint;
    }

    @Test
    void other_workers_are_notified_of_a_run_and_the_sender_is_not() throws InterruptedException {
        assertEquals(Optional.empty(), next(toOne), "whoever begins to listen looks at once");
        assertEquals(Optional.empty(), next(toTwo));
        WorkerLeases leases = one.openLeases();
        WorkerLeases others = two.openLeases();
        leases.start(7, "one", 2, 60_000_000);
        others.start(8, "two", 2, 60_000_000);
        leases.takeOverExpired(0);
        others.takeOverExpired(0);
        RunId run = new RunId(5, 5);
        change(one, new StoreWriteCommand.WakeRuns(List.of(run)));
        assertEquals(Optional.of(run), next(toTwo));
        change(two, new StoreWriteCommand.CancelRun(1, run, "ann", ""));
        assertEquals(Optional.of(run), next(toOne), "its own hint would have come before");
        leases.close();
        others.close();
    }

    @Test
    void a_worker_without_others_notifies_nobody() throws InterruptedException {
        assertEquals(Optional.empty(), next(toTwo));
        WorkerLeases leases = one.openLeases();
        leases.start(7, "one", 2, 60_000_000);
        leases.takeOverExpired(0);
        change(one, new StoreWriteCommand.WakeRuns(List.of(new RunId(5, 5))));
        two.openLeases().start(8, "two", 2, 60_000_000);
        leases.takeOverExpired(0);
        RunId run = new RunId(6, 6);
        change(one, new StoreWriteCommand.WakeRuns(List.of(run)));
        assertEquals(Optional.of(run), next(toTwo), "the first one was not notified");
        leases.close();
    }

    private static void change(PostgresStore store, StoreWriteCommand<?> edit) {
        try (WorkflowStore.BatchWriter lane = store.openLane()) {
            lane.apply(new CommitBatch(null, List.of(new StoreWrite.ExecuteCommand<>(edit))));
        }
    }
}
