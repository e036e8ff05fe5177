package dev.semel.engine.step;

import dev.semel.definition.CurrentStepScopedValue;
import dev.semel.definition.DurableWorkflowOperations;
import dev.semel.definition.StepSpec;
import dev.semel.engine.ClockAndRandomSource;
import dev.semel.engine.commit.GroupCommitter;
import dev.semel.engine.commit.WorkerLeaseRenewer;
import dev.semel.error.ErrorCode;
import dev.semel.error.SemelException;
import dev.semel.journal.JournalCodec;
import dev.semel.journal.JournalEntry;
import dev.semel.json.StrictJsonCodec;
import dev.semel.run.MicrosecondConverter;
import dev.semel.store.CommitBatch;
import dev.semel.store.StoreFailure;
import dev.semel.store.StoreQueries;
import dev.semel.store.StoreWrite;
import dev.semel.store.WorkflowStore;
import dev.semel.workflow.Step;
import java.sql.Connection;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/**
 * Commits the user's rows and the journal entry in one transaction. PostgreSQL uses dedicated connections, each with
 * its own fence slot; on SQLite the rows join the transaction of the single writer.
 */
public final class TransactionStepExecutor implements AutoCloseable {
    private static final long PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(50);
    private static final int CONFLICTS = 20;

    /** On a store with one writer, all writes wait for the code of a tx step. */
    private static final Duration LONGEST_WITH_ONE_WRITER = Duration.ofSeconds(1);

    private static final ScopedValue<String> INSIDE = ScopedValue.newInstance();

    private final GroupCommitter committer;
    private final WorkerLeaseRenewer leases;
    private final List<TxConnection> connections = new ArrayList<>();
    private final ArrayBlockingQueue<TxConnection> free;

    private record TxConnection(int slot, WorkflowStore.BatchWriter lane) {}

    public TransactionStepExecutor(WorkflowStore store, GroupCommitter committer, WorkerLeaseRenewer leases) {
        this.committer = committer;
        this.leases = leases;
        this.free = new ArrayBlockingQueue<>(Math.max(1, store.txLanes()));
        for (int i = 0; i < store.txLanes(); i++) {
            connections.add(new TxConnection(store.lanes() + i, store.openTxLane()));
        }
        free.addAll(connections);
    }

    /** With one writer the call would wait for itself; on any store it would outlive a rollback of the rows. */
    public static void rejectInside(String what) {
        if (INSIDE.isBound()) {
            throw new SemelException(
                            ErrorCode.INVALID_DEFINITION,
                            "The code of tx step \"" + INSIDE.get() + "\" tried to " + what
                                    + ", which is not possible in a tx step. Semel rejected the call and rolled back"
                                    + " the database changes of this step.",
                            "Move the call to a separate step before or after the tx step.")
                    .with("step", INSIDE.get());
        }
    }

    public JsonNode run(StepJournalMatcher scope, StepSpec plan, DurableWorkflowOperations.TxWork work) {
        StepJournalMatcher.StepState state = scope.enter(plan, JournalEntry.EntryKind.TX);
        JsonNode known = state.result();
        if (known != null) {
            return known;
        }
        InMemoryRunExecutionState execution = scope.execution();
        JsonNode before = PreviousRunResultFinder.findTransactionResult(execution, state.path());
        if (before != null) {
            return reused(execution, state, before);
        }
        for (int attempt = state.attempts() + 1; ; attempt++) {
            scope.waitForRetry(state.retryDue(), state.path(), state.history());
            scope.checkMayBegin();
            execution.awaitDurable();
            TransactionWork unit = new TransactionWork(scope, state, longest(plan), new Try(work, attempt));
            int seq = execution.nextSequence();
            StoreWrite.TransactionResult outcome = apply(
                    execution, new StoreWrite.UserTransaction(execution.run().driver(), seq, unit));
            // CRASH(tx-committed): the user's rows and the entry are both committed; a restart replays the entry.
            execution.ambient().point("tx-committed");
            switch (outcome) {
                case StoreWrite.OwnerWriteResult owned -> {
                    execution.checkOwned(owned);
                    execution.size().addBytes(unit.bytes);
                    return unit.result(execution, seq);
                }
                case StoreWrite.RolledBack undone ->
                    state = again(scope, state, plan, new Failure(attempt, undone.failure()));
            }
        }
    }

    /** Reuses the result of a replayed run, which has written these rows. */
    private static JsonNode reused(
            InMemoryRunExecutionState execution, StepJournalMatcher.StepState state, JsonNode result) {
        long at = execution.ambient().micros();
        execution.counters().reused.increment();
        execution.record(
                new JournalEntry.StepResult(
                        state.path(),
                        JournalEntry.EntryKind.TX,
                        at,
                        result,
                        JournalEntry.StepOutcome.REUSED,
                        state.attempts(),
                        null),
                StrictJsonCodec.write(result).length());
        return result.deepCopy();
    }

    private record Failure(int attempt, Throwable cause) {}

    private @Nullable Duration longest(StepSpec plan) {
        Duration timeout = plan.timeout();
        boolean alone = connections.isEmpty();
        return alone && (timeout == null || timeout.compareTo(LONGEST_WITH_ONE_WRITER) > 0)
                ? LONGEST_WITH_ONE_WRITER
                : timeout;
    }

    private static StepJournalMatcher.StepState again(
            StepJournalMatcher scope, StepJournalMatcher.StepState state, StepSpec plan, Failure failure) {
        if (failure.cause() instanceof RunExecutionAbort unwind) {
            throw unwind;
        }
        InMemoryRunExecutionState execution = scope.execution();
        JournalEntry.ErrorDetails problem = StepResultSerializer.toProblem(failure.cause());
        long now = execution.storeNow();
        if (failure.attempt() >= plan.retry().attempts() || StepAttemptRunner.isFinal(plan, failure.cause())) {
            execution.record(
                    new JournalEntry.StepFailure(
                            state.path(), JournalEntry.EntryKind.TX, now, problem, failure.attempt()),
                    256);
            throw StepResultSerializer.toFailure(state.path(), problem, failure.attempt(), failure.cause());
        }
        long pause = StepAttemptRunner.retryDelayMicros(
                plan.retry(), failure.attempt(), failure.cause(), execution.ambient());
        execution.counters().retries.increment();
        JournalEntry.AttemptFailure failed = new JournalEntry.AttemptFailure(
                state.path(), JournalEntry.EntryKind.TX, now, problem, failure.attempt(), now + pause);
        execution.record(failed, 256);
        return state.afterFailed(failed);
    }

    private StoreWrite.TransactionResult apply(InMemoryRunExecutionState execution, StoreWrite.UserTransaction tx) {
        if (connections.isEmpty()) {
            CompletableFuture<StoreWrite.TransactionResult> answer = committer
                    .submit(execution.run().lane(), tx)
                    .exceptionally(TransactionStepExecutor::rolledBackIfRejected);
            return execution.awaitWrite(answer);
        }
        TxConnection own = takeConnection();
        try {
            return apply(execution, tx, own);
        } finally {
            free.add(own);
        }
    }

    /** Treats a transaction that the store rejects for its content as rolled back, like any failed one. */
    private static StoreWrite.TransactionResult rolledBackIfRejected(Throwable failure) {
        Throwable cause =
                failure instanceof CompletionException && failure.getCause() != null ? failure.getCause() : failure;
        if (cause instanceof StoreFailure.ValueRejected) {
            return new StoreWrite.RolledBack(cause);
        }
        throw failure instanceof CompletionException known ? known : new CompletionException(failure);
    }

    private TxConnection takeConnection() {
        while (true) {
            try {
                return free.take();
            } catch (InterruptedException _) {
                // User code interrupted the thread. It must not decide how long a run waits.
            }
        }
    }

    /** Applies the transaction until its outcome is known: after a lost response the journal entry shows it. */
    private StoreWrite.TransactionResult apply(
            InMemoryRunExecutionState execution, StoreWrite.UserTransaction tx, TxConnection own) {
        for (int conflicts = 0; ; ) {
            CommitBatch.LeaseSlot hold = leases.hold(own.slot());
            if (hold == null) {
                throw execution.end(new RunExecutionAbort.OwnershipLost());
            }
            try {
                return (StoreWrite.TransactionResult)
                        own.lane().apply(new CommitBatch(hold, List.of(tx))).getFirst();
            } catch (StoreFailure.Fenced e) {
                leases.onLeaseLost();
                throw execution.end(new RunExecutionAbort.OwnershipLost());
            } catch (StoreFailure.LockConflict e) {
                if (++conflicts > CONFLICTS) {
                    return new StoreWrite.RolledBack(e);
                }
            } catch (StoreFailure.ValueRejected e) {
                return new StoreWrite.RolledBack(e);
            } catch (StoreFailure.Unreachable | StoreFailure.CommitUnknown e) {
                LockSupport.parkNanos(PAUSE_NANOS);
            }
        }
    }

    private record Try(DurableWorkflowOperations.TxWork work, int attempt) {}

    private static final class TransactionWork implements StoreWrite.TransactionBody {
        private final StepJournalMatcher scope;
        private final StepJournalMatcher.StepState state;
        private final @Nullable Duration longest;
        private final Try tried;
        private int done;
        private long begun;
        private volatile int bytes;
        private boolean stopped;
        private @Nullable JsonNode result;

        TransactionWork(
                StepJournalMatcher scope, StepJournalMatcher.StepState state, @Nullable Duration longest, Try tried) {
            this.scope = scope;
            this.state = state;
            this.longest = longest;
            this.tried = tried;
        }

        @Override
        public String apply(Connection connection) throws Exception {
            InMemoryRunExecutionState execution = scope.execution();
            int attempt = tried.attempt();
            JsonNode answer = run(connection, execution.ambient());
            StepResultSerializer.StorableResult fit = StepResultSerializer.toStorable(
                    answer, state.path(), execution.engine().limits());
            if (fit.problem() != null) {
                throw new SemelException(
                        ErrorCode.INVALID_INPUT,
                        fit.problem().message(),
                        "The database changes of this step were rolled back. Return a smaller value.");
            }
            result = fit.value();
            bytes = fit.bytes();
            done++;
            // CRASH(tx-done): the rows are written and not committed; a restart finds neither rows nor entry.
            execution.ambient().point("tx-done");
            long at = execution.ambient().micros();
            return JournalCodec.encode(List.of(new JournalEntry.StepResult(
                    state.path(),
                    JournalEntry.EntryKind.TX,
                    at,
                    fit.value(),
                    JournalEntry.StepOutcome.DONE,
                    attempt,
                    null)));
        }

        /** Runs the code. Code that exceeds its time is rolled back, so that its author notices before the users do. */
        private JsonNode run(Connection sql, ClockAndRandomSource ambient) throws Exception {
            Step step = new AtLeastOnceStepExecutor.StepHandle(state.stepId(), state.stepId(), tried.attempt());
            if (longest != null && stopped) {
                throw new TransactionTooSlow(longest);
            }
            begun = ambient.nanos();
            JsonNode answer;
            scope.enterUserCode();
            try {
                answer = ScopedValue.where(INSIDE, state.path())
                        .call(() -> CurrentStepScopedValue.runWith(
                                step, () -> tried.work().run(sql, step)));
            } catch (Exception e) {
                // The store cancels a late statement, and the driver reports that as a failure of the statement.
                stopped = isOverdue();
                throw longest != null && stopped ? new TransactionTooSlow(longest) : e;
            } finally {
                scope.leaveUserCode();
            }
            if (longest != null && isOverdue()) {
                throw new TransactionTooSlow(longest);
            }
            return answer;
        }

        @Override
        public @Nullable Duration timeLimit() {
            return longest;
        }

        @Override
        public boolean isOverdue() {
            return longest != null && scope.execution().ambient().nanos() - begun > MicrosecondConverter.nanos(longest);
        }

        /** Returns the recorded result; if the code ran more than once, only the store knows which run counted. */
        JsonNode result(InMemoryRunExecutionState execution, int seq) {
            JsonNode answer = result;
            if (done == 1 && answer != null) {
                return answer.deepCopy();
            }
            List<StoreQueries.JournalChunk> chunks =
                    execution.read(reads -> reads.journal(execution.run().id()));
            for (StoreQueries.JournalChunk chunk : chunks) {
                if (chunk.seq() == seq
                        && JournalCodec.decode(chunk.entries()).getFirst() instanceof JournalEntry.StepResult one) {
                    return one.result();
                }
            }
            throw new IllegalStateException("the journal lacks the entry of a committed step");
        }
    }

    /** The code of a tx step exceeded its time limit, in which other writers may have been blocked. */
    static final class TransactionTooSlow extends RuntimeException {
        TransactionTooSlow(Duration longest) {
            super("the code of a tx step took longer than " + longest
                    + " and may have blocked other writers; its database changes were rolled back. Move the"
                    + " slow part to an earlier step");
        }
    }

    @Override
    public void close() {
        connections.forEach(own -> own.lane().close());
    }
}
