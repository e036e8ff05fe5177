package dev.semel.runtime;

import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.semel.RunStatus;
import dev.semel.engine.WorkflowCatalog;
import dev.semel.store.Await;
import dev.semel.store.Dialect;
import dev.semel.store.StoreFixture;
import dev.semel.store.StoreQueries;
import dev.semel.store.WorkflowStore;
import dev.semel.workflow.Key;
import dev.semel.workflow.Signal;
import dev.semel.workflow.Workflow;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** The store is read for signals once for each wake-up of a run, and not once for each of its waits. */
final class SignalReadsTest {
    private static final Signal<String> OTHER = Signal.of("other", String.class);
    private static final int SIGNALS = 20;

    private final AtomicLong reads = new AtomicLong();

    @Test
    void a_signal_costs_the_same_reads_with_64_waits_as_with_8() {
        long few = readsWith(8);
        long many = readsWith(64);
        assertTrue(many <= 2 * few, few + " reads with 8 waits, " + many + " with 64");
    }

    private long readsWith(int waits) {
        Workflow<String, Integer> flow = Workflow.define("flow", String.class, Integer.class)
                .body((ctx, _) -> ctx.forEach(
                                "item", IntStream.range(0, waits).boxed().toList(), item -> item)
                        .concurrency(waits)
                        .run((branch, item) -> branch.await(Signal.of("go-" + item, String.class)))
                        .size());
        try (StoreFixture fixture = Dialect.SQLITE.emptied();
                SemelRuntime semel = SemelRuntime.open(
                        counting(fixture.store(), WorkflowStore.class), RuntimeOptions.of(fixture.url(), version -> {
                            throw new WorkflowCatalog.WorkflowNotRegistered(version.name(), version.workflowId());
                        }))) {
            semel.register(flow);
            RunHandle<Integer> run = semel.start(flow, "x");
            Await.until("it waits", () -> run.status() == RunStatus.WAITING);
            long before = reads.get();
            for (int i = 0; i < SIGNALS; i++) {
                long last = reads.get();
                run.signal(OTHER, "x", Key.of("k" + i));
                Await.until("it has looked", () -> reads.get() > last && run.status() == RunStatus.WAITING);
            }
            long spent = reads.get() - before;
            for (int i = 0; i < waits; i++) {
                run.signal(Signal.of("go-" + i, String.class), "x", Key.of("k"));
            }
            Await.until("it has ended", () -> run.status() == RunStatus.COMPLETED);
            return spent;
        }
    }

    /** Passes all calls on and counts the queries for signals. */
    private <T> T counting(T real, Class<T> type) {
        return type.cast(Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] {type}, (_, method, values) -> {
            try {
                reads.addAndGet(method.getName().equals("unreadSignals") ? 1 : 0);
                Object result = method.invoke(real, values);
                return result instanceof StoreQueries queries ? counting(queries, StoreQueries.class) : result;
            } catch (InvocationTargetException e) {
                throw e.getCause();
            }
        }));
    }
}
