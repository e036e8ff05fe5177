package dev.semel.engine;

import dev.semel.error.ErrorCode;
import dev.semel.error.SemelException;
import dev.semel.journal.Entry;
import dev.semel.journal.Journal;
import dev.semel.json.Json;
import dev.semel.store.Batch;
import dev.semel.store.Lane;
import dev.semel.store.Reads;
import dev.semel.store.Store;
import dev.semel.store.StoreFailure;
import dev.semel.store.Write;
import dev.semel.workflow.Durable;
import dev.semel.workflow.Step;
import dev.semel.workflow.StepPlan;
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
public final class TxDesk implements AutoCloseable {
    private static final long PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(50);
    private static final int CONFLICTS = 20;

    /** On a store with one writer, all writes wait for the code of a tx step. */
    private static final Duration LONGEST_WITH_ONE_WRITER = Duration.ofSeconds(1);

    private static final ScopedValue<String> INSIDE = ScopedValue.newInstance();

    private final Committer committer;
    private final LeaseKeeper leases;
    private final List<TxConnection> connections = new ArrayList<>();
    private final ArrayBlockingQueue<TxConnection> free;

    /** A connection and its slot number in the fence. */
    private record TxConnection(int slot, Lane lane) {}

    public TxDesk(Store store, Committer committer, LeaseKeeper leases) {
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
    public static void refuseInside(String what) {
        if (INSIDE.isBound()) {
            throw new SemelException(
                            ErrorCode.INVALID_DEFINITION,
                            "The code of tx step \"" + INSIDE.get() + "\" called " + what
                                    + ". The call did not run, and the rows of the step are rolled back.",
                            "Call it before or after the tx step, in a separate step.")
                    .with("step", INSIDE.get());
        }
    }

    JsonNode tx(Scope scope, StepPlan plan, Durable.TxWork work) {
        Scope.Place place = scope.enter(plan, Entry.Kind.TX);
        JsonNode known = place.result();
        if (known != null) {
            return known;
        }
        Execution execution = scope.execution();
        JsonNode before = Earlier.committed(execution, place.path());
        if (before != null) {
            return reused(execution, place, before);
        }
        for (int attempt = place.tries() + 1; ; attempt++) {
            scope.waitFor(place.retryDue(), "retry", place.path());
            scope.mayBegin();
            execution.durable();
            TransactionWork unit = new TransactionWork(scope, place, longest(plan), new Try(work, attempt));
            int seq = execution.takeSeq();
            Write.TxOutcome outcome =
                    apply(execution, new Write.Tx(execution.run().driver(), seq, unit));
            // CRASH(tx-committed): the user's rows and the entry are both committed; a restart replays the entry.
            execution.ambient().point("tx-committed");
            switch (outcome) {
                case Write.Owned owned -> {
                    execution.check(owned);
                    return unit.result(execution, seq);
                }
                case Write.Undone undone -> place = again(scope, place, plan, new Failure(attempt, undone.failure()));
            }
        }
    }

    /** Reuses the result of a replayed run, which has written these rows. */
    private static JsonNode reused(Execution execution, Scope.Place place, JsonNode result) {
        long at = execution.ambient().micros();
        execution.counters().reused.increment();
        execution.record(
                new Entry.Done(place.path(), Entry.Kind.TX, at, result, Entry.How.REUSED, place.tries(), null),
                Json.write(result).length());
        return result.deepCopy();
    }

    private record Failure(int attempt, Throwable cause) {}

    private @Nullable Duration longest(StepPlan plan) {
        Duration timeout = plan.timeout();
        boolean alone = connections.isEmpty();
        return alone && (timeout == null || timeout.compareTo(LONGEST_WITH_ONE_WRITER) > 0)
                ? LONGEST_WITH_ONE_WRITER
                : timeout;
    }

    private static Scope.Place again(Scope scope, Scope.Place place, StepPlan plan, Failure failure) {
        if (failure.cause() instanceof Unwind unwind) {
            throw unwind;
        }
        Execution execution = scope.execution();
        Entry.Problem problem = Results.problem(failure.cause());
        long now = execution.storeNow();
        if (failure.attempt() >= plan.retry().attempts() || Attempt.isFinal(plan, failure.cause())) {
            execution.record(new Entry.Failed(place.path(), Entry.Kind.TX, now, problem, failure.attempt()), 256);
            throw Results.failure(place.path(), problem, failure.attempt(), failure.cause());
        }
        long pause = Attempt.pauseMicros(plan.retry(), failure.attempt(), failure.cause(), execution.ambient());
        execution.counters().retries.increment();
        execution.record(
                new Entry.Tried(place.path(), Entry.Kind.TX, now, problem, failure.attempt(), now + pause), 256);
        return place.triedUntil(now + pause);
    }

    private Write.TxOutcome apply(Execution execution, Write.Tx tx) {
        if (connections.isEmpty()) {
            CompletableFuture<Write.TxOutcome> answer =
                    committer.submit(execution.run().lane(), tx).exceptionally(TxDesk::refused);
            return execution.joined(answer);
        }
        TxConnection own = takeConnection();
        try {
            return apply(execution, tx, own);
        } finally {
            free.add(own);
        }
    }

    /** Treats a transaction that the store rejects for its content as rolled back, like any failed one. */
    private static Write.TxOutcome refused(Throwable failure) {
        Throwable cause =
                failure instanceof CompletionException && failure.getCause() != null ? failure.getCause() : failure;
        if (cause instanceof StoreFailure.Poisoned) {
            return new Write.Undone(cause);
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
    private Write.TxOutcome apply(Execution execution, Write.Tx tx, TxConnection own) {
        for (int conflicts = 0; ; ) {
            Batch.Hold hold = leases.hold(own.slot());
            if (hold == null) {
                throw execution.end(new Unwind.NotOurs());
            }
            try {
                return (Write.TxOutcome)
                        own.lane().apply(new Batch(hold, List.of(tx))).getFirst();
            } catch (StoreFailure.Fenced e) {
                leases.lost();
                throw execution.end(new Unwind.NotOurs());
            } catch (StoreFailure.Locked e) {
                if (++conflicts > CONFLICTS) {
                    return new Write.Undone(e);
                }
            } catch (StoreFailure.Poisoned e) {
                return new Write.Undone(e);
            } catch (StoreFailure.Down | StoreFailure.CommitUnknown e) {
                LockSupport.parkNanos(PAUSE_NANOS);
            }
        }
    }

    private record Try(Durable.TxWork work, int attempt) {}

    /** The user's code, and the journal entry that is committed with its rows. */
    private static final class TransactionWork implements Write.Deed {
        private final Scope scope;
        private final Scope.Place place;
        private final @Nullable Duration longest;
        private final Try tried;
        private int done;
        private long begun;
        private boolean stopped;
        private @Nullable JsonNode result;

        TransactionWork(Scope scope, Scope.Place place, @Nullable Duration longest, Try tried) {
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
            Results.Fit fit =
                    Results.fit(answer, place.path(), execution.engine().limits());
            if (fit.problem() != null) {
                throw new SemelException(
                        ErrorCode.INVALID_INPUT,
                        fit.problem().message(),
                        "Return a small value; the rows of the step were rolled back.");
            }
            result = fit.kept();
            done++;
            // CRASH(tx-done): the rows are written and not committed; a restart finds neither rows nor entry.
            execution.ambient().point("tx-done");
            long at = execution.ambient().micros();
            return Journal.encode(List.of(
                    new Entry.Done(place.path(), Entry.Kind.TX, at, fit.kept(), Entry.How.DONE, attempt, null)));
        }

        /** Runs the code. Code that exceeds its time is rolled back, so that its author notices before the users do. */
        private JsonNode run(Connection sql, Ambient ambient) throws Exception {
            Step step = new StepRunner.Doing(place.stepId(), place.stepId(), tried.attempt());
            if (longest != null && stopped) {
                throw new Slow(longest);
            }
            begun = ambient.nanos();
            JsonNode answer;
            scope.codeBegins();
            try {
                answer = ScopedValue.where(INSIDE, place.path())
                        .call(() -> Step.during(step, () -> tried.work().run(sql, step)));
            } catch (Exception e) {
                // The store cancels a late statement, and the driver reports that as a failure of the statement.
                stopped = isLate();
                throw longest != null && stopped ? new Slow(longest) : e;
            } finally {
                scope.codeEnded();
            }
            if (longest != null && isLate()) {
                throw new Slow(longest);
            }
            return answer;
        }

        @Override
        public @Nullable Duration longest() {
            return longest;
        }

        @Override
        public boolean isLate() {
            return longest != null && scope.execution().ambient().nanos() - begun > Micros.nanos(longest);
        }

        /** Returns the recorded result; if the code ran more than once, only the store knows which run counted. */
        JsonNode result(Execution execution, int seq) {
            JsonNode answer = result;
            if (done == 1 && answer != null) {
                return answer.deepCopy();
            }
            List<Reads.Chunk> chunks =
                    execution.ask(reads -> reads.journal(execution.run().id()));
            for (Reads.Chunk chunk : chunks) {
                if (chunk.seq() == seq && Journal.decode(chunk.entries()).getFirst() instanceof Entry.Done one) {
                    return one.result();
                }
            }
            throw new IllegalStateException("the journal lacks the entry of a committed step");
        }
    }

    /** The code of a tx step exceeded its time limit, in which other writers may have been blocked. */
    static final class Slow extends RuntimeException {
        Slow(Duration longest) {
            super("the code of a tx step took longer than " + longest + " and may have blocked other writers; its rows "
                    + "were rolled back. Move the slow part to a step before it");
        }
    }

    @Override
    public void close() {
        connections.forEach(own -> own.lane().close());
    }
}
