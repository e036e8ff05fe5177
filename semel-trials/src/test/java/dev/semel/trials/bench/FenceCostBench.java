package dev.semel.trials.bench;

import dev.semel.admission.RunDeduplicationKey;
import dev.semel.admission.RunDeduplicationKeyClaim;
import dev.semel.admission.TriggerSource;
import dev.semel.engine.ClockAndRandomSource;
import dev.semel.journal.JournalCodec;
import dev.semel.run.RunId;
import dev.semel.run.RunState;
import dev.semel.runtime.RuntimeOptions;
import dev.semel.runtime.SemelRuntime;
import dev.semel.store.CommitBatch;
import dev.semel.store.NewRun;
import dev.semel.store.StoreQueries;
import dev.semel.store.StoreWrite;
import dev.semel.store.StoreWriteCommand;
import dev.semel.store.WorkerLeases;
import dev.semel.store.WorkflowStore;
import dev.semel.store.postgres.PostgresStore;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import javax.sql.DataSource;

/**
 * What the fence costs, and what counting costs: the same batches with that statement and without, in turns. The
 * connections of this trial leave it out by answering it themselves; nothing in the store knows of that.
 */
final class FenceCostBench {
    /** A statement of a batch that can be left out. */
    enum OptionalStatement {
        FENCE("FROM semel_fence WHERE lease = ? AND slot = ? FOR NO KEY UPDATE", "executeQuery"),
        COUNTS("INSERT INTO semel_metric_count", "executeBatch");

        private final String text;
        private final String method;

        OptionalStatement(String text, String method) {
            this.text = text;
            this.method = method;
        }
    }

    private static final int MOST_TRIGGERS = 40_000;
    private static final long HOUR = 3_600_000_000L;
    private static final long DAY = 24 * HOUR;

    private final ClockAndRandomSource ambient = ClockAndRandomSource.real();
    private final OptionalStatement part;
    private final int workspace;
    private final long change;
    private final WorkflowStore.BatchWriter lane;
    private List<RunId> unfinished = List.of();
    private volatile boolean leftOut;
    private volatile double inside;

    private FenceCostBench(String url, OptionalStatement part) {
        this.part = part;
        try (SemelRuntime semel = SemelRuntime.open(RuntimeOptions.of(url, version -> {
            throw new IllegalStateException("no workflow runs here, not even " + version.name());
        }))) {
            this.workspace = semel.change(new StoreWriteCommand.CreateWorkspace("default", new byte[32]))
                    .ws();
            semel.change(new StoreWriteCommand.PublishVersion(workspace, "bench", "wf_bench", "{}", "bench"));
        }
        PostgresStore store = new PostgresStore(source(url), null, () -> 0, ambient.idSupplier());
        try (WorkerLeases leases = store.openLeases();
                StoreQueries reads = store.openQueries()) {
            leases.start(4711, "bench", 1, 10 * HOUR);
            this.change = reads.catalogVersion();
        }
        this.lane = store.openLane();
    }

    static void measure(String url, OptionalStatement part) throws Exception {
        FenceCostBench cost = new FenceCostBench(url, part);
        try (WorkflowStore.BatchWriter _ = cost.lane) {
            for (int triggers : new int[] {13, 64, 256}) {
                cost.compare(triggers);
            }
        }
    }

    /** In turns, batch by batch, so that whatever else the machine does falls on both alike. */
    private void compare(int triggers) {
        int pairs = Math.max(300, MOST_TRIGGERS / triggers);
        double[] with = new double[pairs];
        double[] without = new double[pairs];
        double[] statement = new double[pairs];
        for (int i = -pairs / 5; i < pairs; i++) { // the first ones warm up
            boolean first = i % 2 == 0;
            double one = millis(triggers, first);
            double other = millis(triggers, !first);
            if (i >= 0) {
                with[i] = first ? other : one;
                without[i] = first ? one : other;
                statement[i] = inside;
            }
        }
        double fenced = WorkersBench.median(with);
        double open = WorkersBench.median(without);
        WorkersBench.say(
                "batch of %d triggers and as many ends: %.3f ms with the %s, %.3f ms without (%.1f %%); its"
                        + " statement takes %.3f ms, %.1f %% of the batch (medians of %d)",
                triggers,
                fenced,
                part.name().toLowerCase(Locale.ROOT),
                open,
                100 * (fenced - open) / fenced,
                WorkersBench.median(statement),
                100 * WorkersBench.median(statement) / fenced,
                pairs);
    }

    /** Of one batch. */
    private double millis(int triggers, boolean withoutFence) {
        List<StoreWrite<?>> writes = new ArrayList<>();
        List<RunId> fresh = new ArrayList<>();
        for (int n = 0; n < triggers; n++) {
            RunId run = ambient.newId();
            fresh.add(run);
            writes.add(admit(run));
        }
        String nothing = JournalCodec.encode(List.of());
        unfinished.forEach(run -> writes.add(new StoreWrite.EndRun(
                new StoreWrite.RunExecution(run, 1),
                RunState.COMPLETED,
                StoreWrite.RunResult.output("null"),
                nothing,
                List.of(),
                false)));
        leftOut = withoutFence;
        long began = System.nanoTime();
        List<?> outcomes = lane.apply(new CommitBatch(new CommitBatch.LeaseSlot(4711, 0), writes));
        double took = (System.nanoTime() - began) / 1e6;
        if (!(outcomes.getFirst() instanceof StoreWrite.AdmitResult.Fresh)) {
            throw new IllegalStateException("not admitted: " + outcomes.getFirst());
        }
        unfinished = fresh;
        return took;
    }

    private StoreWrite.AdmitRun admit(RunId run) {
        RunDeduplicationKeyClaim key = new RunDeduplicationKeyClaim(
                new RunDeduplicationKey(workspace, RunDeduplicationKey.KeyKind.KEY, run.text()),
                new byte[32],
                DAY,
                1,
                true);
        NewRun wanted = new NewRun(
                run,
                workspace,
                null,
                "wf_bench",
                1,
                RunState.STARTED,
                new NewRun.TriggerOrigin(TriggerSource.HTTP, "bench", run.text(), null),
                "{\"payment_id\":\"pay_abc\",\"amount\":4900}",
                new byte[0],
                NewRun.RunParentage.NONE,
                null);
        return new StoreWrite.AdmitRun(wanted, List.of(key), true, change);
    }

    private DataSource source(String url) {
        return proxy(DataSource.class, (method, args) -> {
            Connection real = DriverManager.getConnection(url);
            return proxy(Connection.class, (call, values) -> {
                Object made = call.invoke(real, values);
                return values != null
                                && values.length == 1
                                && made instanceof PreparedStatement statement
                                && ((String) values[0]).contains(part.text)
                        ? watched(statement)
                        : made;
            });
        });
    }

    private PreparedStatement watched(PreparedStatement real) {
        return proxy(PreparedStatement.class, (method, args) -> {
            if (!method.getName().equals(part.method)) {
                return method.invoke(real, args);
            }
            if (leftOut && part == OptionalStatement.COUNTS) {
                real.clearBatch();
                return new int[0];
            }
            if (leftOut) {
                return made();
            }
            long began = System.nanoTime();
            Object answer = method.invoke(real, args);
            inside = (System.nanoTime() - began) / 1e6;
            return answer;
        });
    }

    /** The row that the fence would have answered. */
    private ResultSet made() {
        return proxy(ResultSet.class, (method, args) -> switch (method.getName()) {
            case "next" -> true;
            case "getLong" -> args != null && Integer.valueOf(1).equals(args[0]) ? ambient.micros() : change;
            default -> null;
        });
    }

    @FunctionalInterface
    private interface ConnectionCall {
        @org.jspecify.annotations.Nullable
        Object on(java.lang.reflect.Method method, Object @org.jspecify.annotations.Nullable [] args) throws Exception;
    }

    private static <T> T proxy(Class<T> type, ConnectionCall call) {
        return type.cast(Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] {type}, (_, method, args) -> {
            try {
                return call.on(method, args);
            } catch (InvocationTargetException e) {
                throw e.getCause() == null ? e : e.getCause();
            }
        }));
    }
}
