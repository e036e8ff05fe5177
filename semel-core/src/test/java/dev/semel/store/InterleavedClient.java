package dev.semel.store;

import dev.semel.run.RunId;
import dev.semel.store.postgres.PostgresStore;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/** One of two who meet: a store of its own, whose every statement stops at a turnstile. */
final class InterleavedClient implements AutoCloseable {
    private static final int MOST_TRIES = 10;
    private static final String FENCED = "fenced";

    final int number;
    final StatementGate turnstile = new StatementGate();
    final WorkflowStore store;
    final WorkflowStore.BatchWriter lane;
    final WorkflowStore.BatchWriter txLane;
    final WorkerLeases leases;
    private final AtomicLong ids = new AtomicLong();
    private @Nullable FutureTask<Object> task;

    /** What a side does, on its lanes or leases. */
    @FunctionalInterface
    interface ClientAction {
        @Nullable
        Object done(InterleavedClient side, InterleavingFixture fixture) throws Exception;
    }

    InterleavedClient(int number, String url) {
        this.number = number;
        this.store = new PostgresStore(
                new SteppedDataSource(url, turnstile),
                null,
                () -> 0,
                () -> new RunId(ids.incrementAndGet(), 100 + number));
        this.lane = store.openLane();
        this.txLane = store.openTxLane();
        this.leases = store.openLeases();
        connect();
    }

    /** So that no connection is made between two statements: a transaction begins with its first one. */
    private void connect() {
        lane.apply(new CommitBatch(null, List.of()));
        leases.renew(-1, 1);
        var nobodys = new StoreWrite.UserTransaction(new StoreWrite.RunExecution(new RunId(1, 1), 1), 0, _ -> "[]");
        txLane.apply(new CommitBatch(new CommitBatch.LeaseSlot(-1, 0), List.of(nobodys)));
    }

    void start(ClientAction action, InterleavingFixture fixture) {
        connect();
        ids.set(0);
        turnstile.begin();
        task = BackgroundTask.start(() -> {
            try {
                Object outcome = action.done(this, fixture);
                // The engine applies a batch whose lease is gone once more without it, and is notified the same.
                return StoreWrite.OwnerWriteResult.FENCED.equals(outcome) ? FENCED : ValueText.of(outcome);
            } catch (StoreFailure.Fenced _) {
                return FENCED;
            } catch (StoreFailure e) {
                return e.getClass().getSimpleName();
            }
        });
    }

    boolean isDone() {
        return task == null || task.isDone();
    }

    /** What its caller was notified. */
    Object outcome() {
        try {
            return task == null ? "" : task.get();
        } catch (ExecutionException | InterruptedException e) {
            throw new AssertionError("side " + number + " broke", e);
        }
    }

    /** As a lane of the engine applies a write: again while the store says so. */
    Object apply(long lease, StoreWrite<?> write) {
        return decided(lane, new CommitBatch(new CommitBatch.LeaseSlot(lease, number), List.of(write)));
    }

    Object apply(long lease, StoreWriteCommand<?> edit) {
        return apply(lease, new StoreWrite.ExecuteCommand<>(edit));
    }

    /** Several writes in one transaction; what is undecided is applied again, as a lane of the engine does. */
    Object applyAll(long lease, StoreWrite<?>... writes) {
        List<Object> outcomes = new ArrayList<>();
        for (int tried = 0; tried < MOST_TRIES && outcomes.isEmpty(); tried++) {
            try {
                outcomes.addAll(lane.apply(new CommitBatch(new CommitBatch.LeaseSlot(lease, number), List.of(writes))));
            } catch (StoreFailure.LockConflict e) {
                if (e.waited()) {
                    throw e;
                }
            }
        }
        for (int i = 0; i < outcomes.size(); i++) {
            if (outcomes.get(i) instanceof StoreWrite.AdmitResult.RetryNextBatch
                    || outcomes.get(i) == StoreWrite.Deferred.DEFERRED) {
                outcomes.set(i, apply(lease, writes[i]));
            }
        }
        return outcomes;
    }

    Object tx(long lease, StoreWrite.UserTransaction tx) {
        return decided(txLane, new CommitBatch(new CommitBatch.LeaseSlot(lease, store.lanes() + number), List.of(tx)));
    }

    private static Object decided(WorkflowStore.BatchWriter lane, CommitBatch batch) {
        for (int tried = 0; tried < MOST_TRIES; tried++) {
            try {
                Object outcome = lane.apply(batch).getFirst();
                if (!(outcome instanceof StoreWrite.AdmitResult.RetryNextBatch)
                        && outcome != StoreWrite.Deferred.DEFERRED) {
                    return outcome;
                }
            } catch (StoreFailure.LockConflict e) {
                if (e.waited()) {
                    throw e;
                }
            }
        }
        return "undecided after " + MOST_TRIES + " tries";
    }

    @Override
    public void close() {
        turnstile.end();
        lane.close();
        txLane.close();
        leases.close();
        store.close();
    }
}
