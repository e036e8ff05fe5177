package dev.semel.trials.chaos;

import dev.semel.effect.EffectLedger;
import dev.semel.engine.ClockAndRandomSource;
import dev.semel.store.CommitBatch;
import dev.semel.store.StoreFailure;
import dev.semel.store.StoreQueries;
import dev.semel.store.StoreWrite;
import dev.semel.store.WorkerLeases;
import dev.semel.store.WorkflowStore;
import dev.semel.store.postgres.PostgresStore;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/** The store as a worker of the trial sees it: PostgreSQL, with a count of refused writes, and with planted bugs. */
final class ChildStore {
    private static final String ZOMBIE_ENTRIES = """
        INSERT INTO semel_journal (run, seq, at, entries) VALUES (?, 1000 + ?, 0, ?) ON CONFLICT (run, seq) DO NOTHING
        """;
    private static final String ZOMBIE_END = """
        WITH gone AS (DELETE FROM semel_unfinished_run WHERE run = ? RETURNING run)
        INSERT INTO semel_finished_run (run, state, ended_at, output, entries) SELECT run, 10, 0, '"zombie"', ? FROM gone
        """;

    private final ChaosChild.WorkerConfig life;
    private final TamperingDataSource tampering;
    private final WorkerEventLog events;
    private final WorkerEnvironment environment;
    private final WorkflowStore real;

    /** @param lapsing whether the lease cannot be renewed now */
    record WorkerEnvironment(ClockAndRandomSource ambient, BooleanSupplier lapsing) {}

    ChildStore(
            ChaosChild.WorkerConfig life,
            TamperingDataSource tampering,
            WorkerEventLog events,
            WorkerEnvironment environment) {
        this.life = life;
        this.tampering = tampering;
        this.events = events;
        this.environment = environment;
        this.real = new PostgresStore(
                tampering, null, () -> 0, environment.ambient().idSupplier());
    }

    ClockAndRandomSource ambient() {
        return environment.ambient();
    }

    /** Under the bug of a lease id that is used again: the same for all lives of this worker. */
    private long lease(long wanted) {
        if (life.bug() == PlantedBug.LEASE_REUSED) {
            tampering.planted("lease");
        }
        return life.bug() == PlantedBug.LEASE_REUSED ? life.worker().charAt(1) : wanted;
    }

    private CommitBatch.LeaseSlot hold(CommitBatch.LeaseSlot wanted) {
        return new CommitBatch.LeaseSlot(lease(wanted.lease()), wanted.slot());
    }

    /** Everything is PostgreSQL's own, but for what is watched or planted. */
    WorkflowStore store() {
        return proxy(WorkflowStore.class, real, (method, args) -> switch (method.getName()) {
            case "openLane" -> new CountingLane(real.openLane());
            case "openTxLane" -> new CountingLane(real.openTxLane());
            case "openReads" -> reads(real.openQueries());
            case "openLeases" -> leases(real.openLeases());
            default -> method.invoke(real, args);
        });
    }

    /** Only the question for the runs of a lease has to know of a lease that is used again. */
    private StoreQueries reads(StoreQueries reads) {
        return proxy(StoreQueries.class, reads, (method, args) -> {
            if (method.getName().equals("owned") && args != null) {
                args[0] = lease((Long) args[0]);
            }
            return method.invoke(reads, args);
        });
    }

    private WorkerLeases leases(WorkerLeases leases) {
        return proxy(WorkerLeases.class, leases, (method, args) -> {
            boolean renews = method.getName().equals("renew");
            if (renews && environment.lapsing().getAsBoolean()) {
                throw new StoreFailure.Unreachable("the lease cannot be renewed", new IllegalStateException("a fault"));
            }
            if (args != null && args.length > 0 && args[0] instanceof Long wanted) {
                args[0] = lease(wanted);
            }
            Object answer = method.invoke(leases, args);
            return renews && life.bug() == PlantedBug.FENCED_WORKER_GOES_ON ? Boolean.TRUE : answer;
        });
    }

    @FunctionalInterface
    private interface ConnectionCall {
        @Nullable
        Object on(Method method, Object @Nullable [] args) throws Exception;
    }

    private static <T> T proxy(Class<T> type, T real, ConnectionCall call) {
        return type.cast(Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] {type}, (_, method, args) -> {
            try {
                return method.getDeclaringClass() == Object.class ? method.invoke(real, args) : call.on(method, args);
            } catch (InvocationTargetException e) {
                throw e.getCause() == null ? e : e.getCause();
            }
        }));
    }

    /** A lane that counts what was refused. */
    private final class CountingLane implements WorkflowStore.BatchWriter {
        private final WorkflowStore.BatchWriter lane;
        private final List<CommitBatch> answeredBefore = new ArrayList<>();

        CountingLane(WorkflowStore.BatchWriter lane) {
            this.lane = lane;
        }

        @Override
        public List<Object> apply(CommitBatch batch) {
            CommitBatch.LeaseSlot wanted = batch.leaseSlot();
            CommitBatch own = wanted == null ? batch : new CommitBatch(hold(wanted), batch.writes());
            List<Object> outcomes;
            try {
                outcomes = life.bug() == PlantedBug.ACK_BEFORE_COMMIT ? early(own) : lane.apply(own);
            } catch (StoreFailure.Fenced e) {
                note(own, "refused at the fence");
                if (life.bug() != PlantedBug.FENCED_WORKER_GOES_ON) {
                    throw e;
                }
                tampering.planted("fence");
                outcomes = lane.apply(new CommitBatch(null, own.writes()));
            }
            for (int i = 0; i < outcomes.size(); i++) {
                if (outcomes.get(i) instanceof StoreWrite.OwnerWriteResult owned && !owned.recorded()) {
                    events.note(own.leaseSlot() == null ? "held back" : "refused by the claim", "");
                    outcomes = tampered(own.writes().get(i), i, outcomes);
                }
            }
            return outcomes;
        }

        private void note(CommitBatch batch, String what) {
            for (StoreWrite<?> write : batch.writes()) {
                boolean owns = write instanceof StoreWrite.AppendJournal
                        || write instanceof StoreWrite.EndRun
                        || write instanceof StoreWrite.UserTransaction
                        || write instanceof StoreWrite.ClaimRuns
                        || write instanceof StoreWrite.AdmitRun admit && admit.hasCapacity();
                if (owns) {
                    events.note(what, write.getClass().getSimpleName());
                }
            }
        }

        /** Triggers are answered at once, and their transaction comes with the next batch. */
        private List<Object> early(CommitBatch batch) {
            List<CommitBatch> late = List.copyOf(answeredBefore);
            answeredBefore.clear();
            late.forEach(lane::apply);
            if (!batch.writes().stream().allMatch(StoreWrite.AdmitRun.class::isInstance)) {
                return lane.apply(batch);
            }
            tampering.planted("admission");
            answeredBefore.add(new CommitBatch(null, batch.writes()));
            List<Object> outcomes = new ArrayList<>();
            for (StoreWrite<?> write : batch.writes()) {
                StoreWrite.AdmitRun admit = (StoreWrite.AdmitRun) write;
                outcomes.add(new StoreWrite.AdmitResult.Fresh(
                        environment.ambient().micros(), false, admit.run().id(), null, null, false));
            }
            return outcomes;
        }

        private List<Object> tampered(StoreWrite<?> write, int at, List<Object> outcomes) {
            if (life.bug() == PlantedBug.ZOMBIE_RECORDS) {
                recordAnyway(write);
            } else if (life.bug() == PlantedBug.FENCED_WORKER_GOES_ON) {
                tampering.planted("owner");
                List<Object> changed = new ArrayList<>(outcomes);
                changed.set(at, new StoreWrite.OwnerWriteResult(true, false, granted(write)));
                return changed;
            }
            return outcomes;
        }

        @Override
        public void close() {
            lane.close();
        }
    }

    private static List<EffectLedger.LedgerDecision> granted(StoreWrite<?> write) {
        List<EffectLedger.LedgerDecision> verdicts = new ArrayList<>();
        if (write instanceof StoreWrite.AppendJournal append) {
            append.ops().forEach(_ -> verdicts.add(new EffectLedger.LedgerDecision.SendGranted(1, 1, 0, false)));
        }
        return verdicts;
    }

    /** As if there were neither fence nor owner in the statements. */
    private void recordAnyway(StoreWrite<?> write) {
        tampering.planted("record");
        try (Connection connection = DriverManager.getConnection(life.url())) {
            if (write instanceof StoreWrite.AppendJournal append && append.isProgress()) {
                try (PreparedStatement insert = connection.prepareStatement(ZOMBIE_ENTRIES)) {
                    insert.setBytes(1, append.run().bytes());
                    insert.setInt(2, append.seq());
                    insert.setString(3, append.entries());
                    insert.executeUpdate();
                }
            } else if (write instanceof StoreWrite.EndRun end) {
                try (PreparedStatement insert = connection.prepareStatement(ZOMBIE_END)) {
                    insert.setBytes(1, end.run().bytes());
                    insert.setString(2, end.entries());
                    insert.executeUpdate();
                }
            }
        } catch (SQLException e) {
            System.err.println("a zombie could not write: " + e.getMessage());
        }
    }
}
