package dev.semel.engine.commit;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.semel.engine.ClockAndRandomSource;
import dev.semel.engine.EngineLimits;
import dev.semel.engine.EngineMetricCounters;
import dev.semel.store.Await;
import dev.semel.store.Dialect;
import dev.semel.store.StoreFailure;
import dev.semel.store.StoreFixture;
import dev.semel.store.WorkerLeases;
import dev.semel.store.WorkflowStore;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.security.SecureRandom;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** A worker keeps its own lease, whatever else it does with the leases of others. */
final class WorkerLeaseRenewerTest {
    private final AtomicLong nanos = new AtomicLong();
    private final List<Runnable> jumps = new CopyOnWriteArrayList<>();
    private final AtomicInteger renewals = new AtomicInteger();
    private final AtomicInteger takeovers = new AtomicInteger();
    private final CountDownLatch hangs = new CountDownLatch(1);
    private final CountDownLatch released = new CountDownLatch(1);
    private final EngineMetricCounters counters = new EngineMetricCounters();
    private volatile boolean hanging;
    private volatile boolean failing;

    private static <T> T proxy(Class<T> type, InvocationHandler handler) {
        return type.cast(Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] {type}, handler));
    }

    /** The real store, whose takeovers hang or fail on request. */
    private WorkflowStore observed(WorkflowStore real) {
        return proxy(WorkflowStore.class, (_, method, args) -> {
            Object result = call(() -> method.invoke(real, args));
            return result instanceof WorkerLeases leases ? observed(leases) : result;
        });
    }

    private WorkerLeases observed(WorkerLeases real) {
        return proxy(WorkerLeases.class, (_, method, args) -> {
            if (method.getName().equals("takeOverExpired")) {
                takeovers.incrementAndGet();
                if (hanging) {
                    hangs.countDown();
                    released.await();
                }
                if (failing) {
                    throw new StoreFailure.LockConflict(true, new IllegalStateException("a test"));
                }
            }
            Object result = call(() -> method.invoke(real, args));
            if (method.getName().equals("renew")) {
                renewals.incrementAndGet();
            }
            return result;
        });
    }

    @FunctionalInterface
    private interface Invocation {
        Object invoke() throws ReflectiveOperationException;
    }

    private static Object call(Invocation invocation) throws Throwable {
        try {
            return invocation.invoke();
        } catch (InvocationTargetException e) {
            throw e.getCause();
        }
    }

    private WorkerLeaseRenewer renewer(StoreFixture fixture, WorkflowStore store) {
        ClockAndRandomSource environment = new ClockAndRandomSource(
                fixture::time, nanos::get, new SecureRandom(), new ClockAndRandomSource.TestInstrumentation() {
                    @Override
                    public void onClockJump(Runnable callback) {
                        jumps.add(callback);
                    }
                });
        return new WorkerLeaseRenewer(
                store,
                new WorkerLeaseRenewer.WorkerIdentity("worker", "1"),
                EngineLimits.DEFAULT,
                new GroupCommitter.EngineDependencies(environment, counters));
    }

    /** A third of the lease passes, and the worker renews it. */
    private void renewAgain(WorkerLeaseRenewer renewer) {
        int before = renewals.get();
        nanos.addAndGet(EngineLimits.DEFAULT.lease().toNanos() / 3);
        jumps.forEach(Runnable::run);
        Await.until("the lease is renewed", () -> renewals.get() > before);
        Await.until("the worker uses the renewed lease", () -> renewer.hold(0) != null);
    }

    @ParameterizedTest
    @EnumSource
    void a_worker_renews_its_lease_while_a_takeover_hangs(Dialect dialect) {
        try (StoreFixture fixture = dialect.open();
                WorkflowStore real = fixture.store();
                WorkerLeaseRenewer renewer = renewer(fixture, observed(real))) {
            long lease = Objects.requireNonNull(renewer.hold(0)).lease();
            hanging = true;
            renewAgain(renewer);
            Await.until("a takeover hangs", () -> hangs.getCount() == 0);
            for (int i = 0; i < 5; i++) {
                renewAgain(renewer);
            }
            assertEquals(lease, Objects.requireNonNull(renewer.hold(0)).lease(), "the lease was never lost");
            hanging = false;
            int begun = takeovers.get();
            released.countDown();
            renewAgain(renewer);
            Await.until("takeovers continue", () -> takeovers.get() > begun);
        }
    }

    /** On PostgreSQL, where several processes have leases. */
    @Test
    void a_failed_takeover_is_tried_again_and_costs_no_lease() {
        try (StoreFixture fixture = Dialect.POSTGRES.open();
                WorkflowStore real = fixture.store();
                WorkerLeaseRenewer renewer = renewer(fixture, observed(real));
                WorkerLeases others = real.openLeases()) {
            others.start(7, "dead", 1, -1);
            failing = true;
            int begun = takeovers.get();
            renewAgain(renewer);
            Await.until("a takeover fails", () -> takeovers.get() > begun);
            failing = false;
            renewAgain(renewer);
            Await.until("the dead worker's lease ended", () -> counters.takeovers.sum() == 1);
        }
    }
}
