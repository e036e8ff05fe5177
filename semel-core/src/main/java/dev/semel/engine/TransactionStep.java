package dev.semel.engine;

import dev.semel.definition.CurrentStep;
import dev.semel.error.ErrorCode;
import dev.semel.error.SemelException;
import dev.semel.journal.JournalEntry;
import dev.semel.journal.JournalCodec;
import dev.semel.json.StrictJson;
import dev.semel.store.CommitBatch;
import dev.semel.store.WriteLane;
import dev.semel.store.StoreQueries;
import dev.semel.store.Store;
import dev.semel.store.StoreFailure;
import dev.semel.store.StoreWrite;
import dev.semel.definition.DurableOperations;
import dev.semel.workflow.Step;
import dev.semel.definition.StepSpec;
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
 * Runs a tx step: commits the user's own rows and the journal entry of the step in one transaction.
 * PostgreSQL uses dedicated connections, each with its own fence slot; on SQLite the rows join the transaction of the
 * single writer.
 */
public final class TransactionStep implements AutoCloseable {
    private static final long PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(50);
    private static final int CONFLICTS = 20;

    /** On a store with one writer, all writes wait for the code of a tx step. */
    private static final Duration LONGEST_WITH_ONE_WRITER = Duration.ofSeconds(1);

    private static final ScopedValue<String> INSIDE = ScopedValue.newInstance();

    private final GroupCommitter committer;
    private final LeaseKeeper leases;
    private final List<TxConnection> connections = new ArrayList<>();
    private final ArrayBlockingQueue<TxConnection> free;

    /** A connection and its slot number in the fence. */
    private record TxConnection(int slot, WriteLane lane) {}

    public TransactionStep(Store store, GroupCommitter committer, LeaseKeeper leases) {
        this.committer = committer;
        this.leases = leases;
        this.free = new ArrayBlockingQueue<>(Math.max(1, store.txLanes()));
        for (int i = 0; i < store.txLanes(); i++) {
            connections.add(new TxConnection(store.lanes() + i, store.openTxLane()));
        }
        free.addAll(connections);
    }

    /**
     * Rejects calls that the code of a tx step must not make.
     * On a store with one writer the call would wait for itself; on any store it would persist although the rows are
     * rolled back.
     */
    public static void rejectInside(String what) {
        if (INSIDE.isBound()) {
            throw new SemelException(
                            ErrorCode.INVALID_DEFINITION,
                            "The code of tx step \"" + INSIDE.get() + "\" called " + what
                                    + ". The call did not run, and the rows of the step are rolled back.",
                            "Call it before or after the tx step, in a separate step.")
                    .with("step", INSIDE.get());
        }
    }

    JsonNode run(ExecutionScope scope, StepSpec plan, DurableOperations.TxWork work) {
        ExecutionScope.StepState place = scope.enter(plan, JournalEntry.EntryKind.TX);
        JsonNode known = place.result();
        if (known != null) {
            return known;
        }
        Execution execution = scope.execution();
        JsonNode before = LineageResults.findTransactionResult(execution, place.path());
        if (before != null) {
            return reused(execution, place, before);
        }
        for (int attempt = place.attempts() + 1; ; attempt++) {
            scope.waitUntil(place.retryDue(), "retry", place.path());
            scope.checkMayBegin();
            execution.awaitDurable();
            TransactionWork unit = new TransactionWork(scope, place, longest(plan), new Try(work, attempt));
            int seq = execution.nextSequence();
            StoreWrite.TransactionResult outcome =
                    apply(execution, new StoreWrite.UserTransaction(execution.run().driver(), seq, unit));
            // CRASH(tx-committed): the user's rows and the entry are both committed; a restart replays the entry.
            execution.ambient().point("tx-committed");
            switch (outcome) {
                case StoreWrite.OwnerWriteResult owned -> {
                    execution.checkOwned(owned);
                    return unit.result(execution, seq);
                }
                case StoreWrite.RolledBack undone -> place = again(scope, place, plan, new Failure(attempt, undone.failure()));
            }
        }
    }

    /** Reuses the result of a replayed run, which has written these rows. */
    private static JsonNode reused(Execution execution, ExecutionScope.StepState place, JsonNode result) {
        long at = execution.ambient().micros();
        execution.counters().reused.increment();
        execution.record(
                new JournalEntry.StepResult(place.path(), JournalEntry.EntryKind.TX, at, result, JournalEntry.StepOutcome.REUSED, place.attempts(), null),
                StrictJson.write(result).length());
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

    private static ExecutionScope.StepState again(ExecutionScope scope, ExecutionScope.StepState place, StepSpec plan, Failure failure) {
        if (failure.cause() instanceof ExecutionAbort unwind) {
            throw unwind;
        }
        Execution execution = scope.execution();
        JournalEntry.ErrorDetails problem = StepResults.toProblem(failure.cause());
        long now = execution.storeNow();
        if (failure.attempt() >= plan.retry().attempts() || StepAttempt.isFinal(plan, failure.cause())) {
            execution.record(new JournalEntry.StepFailure(place.path(), JournalEntry.EntryKind.TX, now, problem, failure.attempt()), 256);
            throw StepResults.toFailure(place.path(), problem, failure.attempt(), failure.cause());
        }
        long pause = StepAttempt.retryDelayMicros(plan.retry(), failure.attempt(), failure.cause(), execution.ambient());
        execution.counters().retries.increment();
        execution.record(
                new JournalEntry.AttemptFailure(place.path(), JournalEntry.EntryKind.TX, now, problem, failure.attempt(), now + pause), 256);
        return place.withRetryAt(now + pause);
    }

    private StoreWrite.TransactionResult apply(Execution execution, StoreWrite.UserTransaction tx) {
        if (connections.isEmpty()) {
            CompletableFuture<StoreWrite.TransactionResult> answer =
                    committer.submit(execution.run().lane(), tx).exceptionally(TransactionStep::refused);
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
    private static StoreWrite.TransactionResult refused(Throwable failure) {
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
    private StoreWrite.TransactionResult apply(Execution execution, StoreWrite.UserTransaction tx, TxConnection own) {
        for (int conflicts = 0; ; ) {
            CommitBatch.LeaseSlot hold = leases.hold(own.slot());
            if (hold == null) {
                throw execution.end(new ExecutionAbort.OwnershipLost());
            }
            try {
                return (StoreWrite.TransactionResult)
                        own.lane().apply(new CommitBatch(hold, List.of(tx))).getFirst();
            } catch (StoreFailure.Fenced e) {
                leases.onLeaseLost();
                throw execution.end(new ExecutionAbort.OwnershipLost());
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

    private record Try(DurableOperations.TxWork work, int attempt) {}

    /** The user's code, and the journal entry that is committed with its rows. */
    private static final class TransactionWork implements StoreWrite.TransactionBody {
        private final ExecutionScope scope;
        private final ExecutionScope.StepState place;
        private final @Nullable Duration longest;
        private final Try tried;
        private int done;
        private long begun;
        private boolean stopped;
        private @Nullable JsonNode result;

        TransactionWork(ExecutionScope scope, ExecutionScope.StepState place, @Nullable Duration longest, Try tried) {
            this.scope = scope;
            this.place = place;
            this.longest = longest;
            this.tried = tried;
        }

        @Override
        public String apply(Connection connection) throws Exception {
            Execution execution = scope.execution();
            int attempt = tried.attempt();
            JsonNode answer = run(connection, execution.ambient());
            StepResults.StorableResult fit =
                    StepResults.toStorable(answer, place.path(), execution.engine().limits());
            if (fit.problem() != null) {
                throw new SemelException(
                        ErrorCode.INVALID_INPUT,
                        fit.problem().message(),
                        "Return a small value; the rows of the step were rolled back.");
            }
            result = fit.value();
            done++;
            // CRASH(tx-done): the rows are written and not committed; a restart finds neither rows nor entry.
            execution.ambient().point("tx-done");
            long at = execution.ambient().micros();
            return JournalCodec.encode(List.of(
                    new JournalEntry.StepResult(place.path(), JournalEntry.EntryKind.TX, at, fit.value(), JournalEntry.StepOutcome.DONE, attempt, null)));
        }

        /** Runs the code. Code that exceeds its time is rolled back, so that its author notices before the users do. */
        private JsonNode run(Connection sql, EngineEnvironment ambient) throws Exception {
            Step step = new StepRunner.StepHandle(place.stepId(), place.stepId(), tried.attempt());
            if (longest != null && stopped) {
                throw new TransactionTooSlow(longest);
            }
            begun = ambient.nanos();
            JsonNode answer;
            scope.enterUserCode();
            try {
                answer = ScopedValue.where(INSIDE, place.path())
                        .call(() -> CurrentStep.runWith(step, () -> tried.work().run(sql, step)));
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
            return longest != null && scope.execution().ambient().nanos() - begun > Micros.nanos(longest);
        }

        /** Returns the recorded result; if the code ran more than once, only the store knows which run counted. */
        JsonNode result(Execution execution, int seq) {
            JsonNode answer = result;
            if (done == 1 && answer != null) {
                return answer.deepCopy();
            }
            List<StoreQueries.JournalChunk> chunks =
                    execution.read(reads -> reads.journal(execution.run().id()));
            for (StoreQueries.JournalChunk chunk : chunks) {
                if (chunk.seq() == seq && JournalCodec.decode(chunk.entries()).getFirst() instanceof JournalEntry.StepResult one) {
                    return one.result();
                }
            }
            throw new IllegalStateException("the journal lacks the entry of a committed step");
        }
    }

    /** The code of a tx step exceeded its time limit, in which other writers may have been blocked. */
    static final class TransactionTooSlow extends RuntimeException {
        TransactionTooSlow(Duration longest) {
            super("the code of a tx step took longer than " + longest + " and may have blocked other writers; its rows "
                    + "were rolled back. Move the slow part to a step before it");
        }
    }

    @Override
    public void close() {
        connections.forEach(own -> own.lane().close());
    }
}
