package dev.semel.engine.commit;

import dev.semel.engine.ClockAndRandomSource;
import dev.semel.engine.EngineLimits;
import dev.semel.store.CommitBatch;
import dev.semel.store.StoreFailure;
import dev.semel.store.StoreWrite;
import dev.semel.store.WorkflowStore;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/** Applies submitted writes in batches, one transaction after another, on its own thread and connection. */
final class StoreWriterThread implements AutoCloseable {
    private static final Logger LOG = System.getLogger(StoreWriterThread.class.getName());
    private static final long FIRST_PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(20);
    private static final long LONGEST_PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(500);

    private final int slot;
    private final WorkflowStore.BatchWriter lane;
    private final WorkerLeaseRenewer leases;
    private final EngineLimits limits;
    private final GroupCommitter.EngineDependencies dependencies;
    private final LinkedBlockingQueue<Task<?>> queue = new LinkedBlockingQueue<>();
    private final ArrayDeque<Task<?>> again = new ArrayDeque<>();
    private final ArrayDeque<Task<?>> transactions = new ArrayDeque<>();
    private boolean transactionIsNext;
    private long transactionNanos;
    private long transactionEnd;
    private final LinkedHashMap<StoreWrite.RunExecution, Optional<StoreFailure.ValueRejected>> barred =
            new LinkedHashMap<>();
    private final Thread thread;
    private volatile boolean closing;
    private volatile boolean ended;
    private final AtomicLong submittedWrites = new AtomicLong();
    private final AtomicLong answered = new AtomicLong();

    /** A write connection and its slot number in the fence. */
    record LaneSlot(int slot, WorkflowStore.BatchWriter lane) {}

    StoreWriterThread(
            LaneSlot laneSlot,
            WorkerLeaseRenewer leases,
            EngineLimits limits,
            GroupCommitter.EngineDependencies dependencies) {
        this.slot = laneSlot.slot();
        this.lane = laneSlot.lane();
        this.leases = leases;
        this.limits = limits;
        this.dependencies = dependencies;
        this.thread = dependencies
                .threads()
                .watch(Thread.ofPlatform()
                        .name("semel-lane-" + slot)
                        .daemon(true)
                        .start(this::loop));
    }

    /** A submitted write. One with a deadline fails if the store does not accept it in time. */
    private static final class Task<O> {
        final StoreWrite<O> write;
        final CompletableFuture<O> answer = new CompletableFuture<>();
        final long deadline;

        Task(StoreWrite<O> write, long deadline) {
            this.write = write;
            this.deadline = deadline;
        }

        @SuppressWarnings("unchecked") // the store returns for each write an outcome of its type
        void answer(Object outcome) {
            answer.complete((O) outcome);
        }
    }

    private static final long NO_DEADLINE = Long.MAX_VALUE;

    <O> CompletableFuture<O> submit(StoreWrite<O> write, boolean hasDeadline) {
        long deadline = hasDeadline
                ? dependencies.environment().nanos() + limits.writeDeadline().toNanos()
                : NO_DEADLINE;
        Task<O> task = new Task<>(write, deadline);
        submittedWrites.incrementAndGet();
        queue.add(task);
        if (ended) {
            rejectQueued(); // the loop no longer reads the queue
        }
        var unused = task.answer.whenComplete((_, _) -> answered.incrementAndGet());
        return task.answer;
    }

    long submittedWrites() {
        return submittedWrites.get();
    }

    boolean isIdle() {
        return answered.get() == submittedWrites.get();
    }

    private void loop() {
        try {
            processUntilClosed();
        } finally { // also if this thread dies: nobody waits for an answer that never comes
            ended = true;
            rejectQueued();
        }
    }

    private void processUntilClosed() {
        while (true) {
            List<Task<?>> batch = next();
            if (batch == null) {
                break;
            }
            long begun = dependencies.environment().nanos();
            try {
                process(batch);
            } catch (RuntimeException | Error e) {
                if (!ClockAndRandomSource.SimulatedCrash.causes(e)) {
                    LOG.log(Level.ERROR, "a batch of store writes failed unexpectedly; the callers get the error", e);
                }
                failAll(batch, e);
            }
            if (!batch.isEmpty() && batch.getFirst().write instanceof StoreWrite.UserTransaction) {
                transactionEnd = dependencies.environment().nanos();
                transactionNanos = transactionEnd - begun;
            }
        }
        lane.close();
    }

    /** Their executions write nothing more: a later write would follow a gap in the journal. */
    private void failAll(List<Task<?>> batch, Throwable failure) {
        for (Task<?> task : batch) {
            if (!task.answer.isDone() && !again.contains(task)) {
                bar(task.write, Optional.empty());
                task.answer.completeExceptionally(failure);
            }
        }
    }

    private void rejectQueued() {
        for (Task<?> task = queue.poll(); task != null; task = queue.poll()) {
            task.answer.completeExceptionally(GroupCommitter.shuttingDown());
        }
    }

    /**
     * Waits for a write, then takes all waiting ones up to the limits. Null: closed and empty. The code of a tx step has
     * a batch of its own. After it, waiting writes get as much time as it took. So a write waits for one tx step, not for
     * all, and commands that need a batch of their own do not each wait for a tx step.
     */
    private @Nullable List<Task<?>> next() {
        boolean due = transactionIsNext && dependencies.environment().nanos() - transactionEnd >= transactionNanos;
        Task<?> transaction = due ? transactions.poll() : null;
        transactionIsNext = transaction == null;
        if (transaction != null) {
            return List.of(transaction);
        }
        List<Task<?>> batch = new ArrayList<>();
        int bytes = 0;
        while (batch.size() < limits.batchWrites() && bytes < limits.batchBytes()) {
            Task<?> task = again.isEmpty() ? queue.poll() : again.poll();
            if (task == null) {
                if (!batch.isEmpty()) {
                    return batch;
                }
                transaction = transactions.poll();
                if (transaction != null) {
                    transactionIsNext = false;
                    return List.of(transaction);
                }
                task = await();
                if (task == null) {
                    return null;
                }
            }
            if (task.write instanceof StoreWrite.UserTransaction) {
                transactions.add(task);
                continue;
            }
            if (failIfLate(task)) {
                continue;
            }
            boolean alone = needsOwnBatch(task.write);
            if (alone && !batch.isEmpty()) {
                again.addFirst(task); // it becomes the next batch by itself
                return batch;
            }
            batch.add(task);
            bytes += task.write.weight();
            if (alone) {
                return batch;
            }
        }
        return batch;
    }

    /** A write that waited too long behind slow batches fails like one that met a store out of reach. */
    private boolean failIfLate(Task<?> task) {
        boolean late =
                task.deadline != NO_DEADLINE && dependencies.environment().nanos() > task.deadline;
        if (late) {
            task.answer.completeExceptionally(new StoreFailure.Unreachable(
                    "The store did not accept the write within " + limits.writeDeadline(), new TimeoutException()));
        }
        return late;
    }

    private static boolean needsOwnBatch(StoreWrite<?> write) {
        return write instanceof StoreWrite.ExecuteCommand<?> change
                && change.command().needsOwnTransaction();
    }

    private @Nullable Task<?> await() {
        while (true) {
            try {
                Task<?> task = queue.poll(50, TimeUnit.MILLISECONDS);
                if (task != null || closing) {
                    return task;
                }
            } catch (InterruptedException e) {
                closing = true;
            }
        }
    }

    private void process(List<Task<?>> batch) {
        List<Task<?>> rest = batch;
        for (int attempt = 0; !rest.isEmpty(); attempt++) {
            rest = attempt(rest, attempt);
        }
    }

    /** Runs one transaction, answers the decided writes and returns those to apply again. */
    private List<Task<?>> attempt(List<Task<?>> gathered, int attempt) {
        List<Task<?>> batch = rejectBarred(gathered);
        if (batch.isEmpty()) {
            return batch;
        }
        CommitBatch.LeaseSlot hold = leases.hold(slot);
        List<StoreWrite<?>> writes = new ArrayList<>(batch.size());
        batch.forEach(task -> writes.add(task.write));
        List<Object> outcomes;
        try {
            outcomes = lane.apply(new CommitBatch(hold, writes));
        } catch (StoreFailure failure) {
            return recover(batch, failure, attempt);
        }
        // CRASH(batch-committed): the writes are durable and no caller has an answer; callers retry and find them.
        dependencies.environment().point("batch-committed");
        dependencies.counters().batches.increment();
        dependencies.counters().writes.add(batch.size());
        for (int i = 0; i < outcomes.size(); i++) {
            Object outcome = outcomes.get(i);
            if (outcome instanceof StoreWrite.AdmitResult.RetryNextBatch || outcome == StoreWrite.Deferred.DEFERRED) {
                again.add(batch.get(i));
            } else {
                if (outcome instanceof StoreWrite.OwnerWriteResult owned && !owned.recorded()) {
                    bar(batch.get(i).write, Optional.empty());
                }
                batch.get(i).answer(outcome);
            }
        }
        return List.of();
    }

    /** Applies under any lease: otherwise the journal would have a gap, and a recovery would replay a false history. */
    private List<Task<?>> rejectBarred(List<Task<?>> batch) {
        if (barred.isEmpty()) {
            return batch;
        }
        List<Task<?>> rest = new ArrayList<>(batch.size());
        for (Task<?> task : batch) {
            StoreWrite.RunExecution by = driver(task.write);
            Optional<StoreFailure.ValueRejected> why = by == null ? null : barred.get(by);
            if (why == null || (why.isPresent() && onlyParks(task.write))) {
                rest.add(task);
            } else if (why.isPresent()) {
                task.answer.completeExceptionally(why.get());
            } else {
                task.answer(StoreWrite.OwnerWriteResult.FENCED);
            }
        }
        return rest;
    }

    /** Whether it only parks its run, which must work even after a value that the store cannot hold. */
    private static boolean onlyParks(StoreWrite<?> write) {
        return write instanceof StoreWrite.AppendJournal append
                && append.suspension() != null
                && append.entries().isEmpty();
    }

    /** The execution ends when it gets the answer, so the list needs no more entries than active runs. */
    private void bar(StoreWrite<?> write, Optional<StoreFailure.ValueRejected> why) {
        StoreWrite.RunExecution by = driver(write);
        if (by != null && barred.putIfAbsent(by, why) == null && barred.size() > limits.activeRuns()) {
            barred.pollFirstEntry();
        }
    }

    private static StoreWrite.@Nullable RunExecution driver(StoreWrite<?> write) {
        return switch (write) {
            case StoreWrite.AppendJournal append -> append.by();
            case StoreWrite.EndRun end -> end.by();
            case StoreWrite.UserTransaction tx -> tx.by();
            case StoreWrite.AdmitRun _,
                    StoreWrite.RecordDuplicates _,
                    StoreWrite.SaveEvent _,
                    StoreWrite.ClaimRuns _,
                    StoreWrite.ExecuteCommand<?> _ -> null;
        };
    }

    private List<Task<?>> recover(List<Task<?>> batch, StoreFailure failure, int attempt) {
        return switch (failure) {
            case StoreFailure.ValueRejected poisoned -> split(batch, poisoned);
            case StoreFailure.LockConflict locked -> oneByOne(batch, locked, attempt);
            case StoreFailure.Fenced _ -> {
                dependencies.counters().fencedBatches.increment();
                leases.onLeaseLost();
                yield batch;
            }
            case StoreFailure.SchemaTooNew outdated -> {
                leases.outdated(outdated);
                batch.forEach(task -> task.answer.completeExceptionally(outdated));
                yield List.of();
            }
            case StoreFailure.CommitUnknown unknown -> {
                dependencies.counters().unknownCommits.increment();
                yield retry(batch, unknown, attempt);
            }
            case StoreFailure.Unreachable down -> retry(batch, down, attempt);
        };
    }

    /** Splits the batch, so that only the write that the store cannot hold fails. */
    private List<Task<?>> split(List<Task<?>> batch, StoreFailure.ValueRejected poisoned) {
        if (batch.size() == 1) {
            dependencies.counters().poisonedWrites.increment();
            bar(batch.getFirst().write, Optional.of(poisoned));
            batch.getFirst().answer.completeExceptionally(poisoned);
            return List.of();
        }
        process(batch.subList(0, batch.size() / 2));
        return batch.subList(batch.size() / 2, batch.size());
    }

    /** Applies the writes one by one while another transaction locks a key: only the trigger with that key waits. */
    private List<Task<?>> oneByOne(List<Task<?>> batch, StoreFailure.LockConflict locked, int attempt) {
        if (batch.size() > 1) {
            batch.forEach(task -> process(List.of(task)));
            return List.of();
        }
        Task<?> task = batch.getFirst();
        if (task.write instanceof StoreWrite.AdmitRun && locked.waited()) {
            task.answer(new StoreWrite.AdmitResult.InUse());
            return List.of();
        }
        return retry(batch, locked, attempt);
    }

    /** Applies the same writes again. Each is idempotent, so this also resolves a COMMIT whose response was lost. */
    private List<Task<?>> retry(List<Task<?>> batch, StoreFailure failure, int attempt) {
        dependencies.counters().storeFailures.increment();
        if (attempt == 0) {
            LOG.log(Level.WARNING, "the store failed; the worker repeats the failed writes: " + failure.getMessage());
        }
        long pause = Math.min(LONGEST_PAUSE_NANOS, FIRST_PAUSE_NANOS << Math.min(attempt, 10));
        LockSupport.parkNanos(pause);
        long now = dependencies.environment().nanos();
        List<Task<?>> rest = new ArrayList<>();
        for (Task<?> task : batch) {
            if (now > task.deadline || closing) {
                task.answer.completeExceptionally(failure);
            } else {
                rest.add(task);
            }
        }
        failLate(now, failure);
        return rest;
    }

    /** Fails queued triggers whose deadline passes while the store is down. */
    private void failLate(long now, StoreFailure failure) {
        queue.removeIf(task -> {
            boolean late = now > task.deadline;
            if (late) {
                task.answer.completeExceptionally(failure);
            }
            return late;
        });
    }

    @Override
    public void close() {
        closing = true;
        try {
            thread.join(30_000);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
