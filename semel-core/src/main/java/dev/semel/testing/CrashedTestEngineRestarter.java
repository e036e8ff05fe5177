package dev.semel.testing;

import dev.semel.engine.run.WorkflowCatalog;
import dev.semel.runtime.ManualClock;
import dev.semel.runtime.RunHandle;
import dev.semel.runtime.RuntimeOptions;
import dev.semel.runtime.SemelRuntime;
import dev.semel.store.StoreWrite;
import dev.semel.store.WorkflowStore;
import dev.semel.workflow.Workflow;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalLong;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * The engines of a test over one store; replaces an engine after a simulated crash, as a process supervisor would.
 * The new engine takes over the lease. Calls that got no response are repeated, which is safe.
 */
final class CrashedTestEngineRestarter implements RunHandle.EngineRouter, AutoCloseable {
    private static final int MOST_DEATHS_IN_ONE_QUESTION = 100;
    private static final long LONGEST_RECOVERY_NANOS = TimeUnit.SECONDS.toNanos(30);

    private final WorkflowStore store;
    private final ManualClock clock;
    private final CrashInjectionPointTracker points;
    private final List<Workflow<?, ?>> workflows;
    private final ReentrantLock lock = new ReentrantLock();
    private final Condition change = lock.newCondition();
    private final List<EngineInstance> living = new ArrayList<>();
    private final List<Thread> supervisors = new CopyOnWriteArrayList<>();
    private int recovering;
    private int turn;
    private boolean abandoned;
    private @Nullable Throwable failure;

    private record EngineInstance(SimulatedEngineCrashState life, CrashableStore store, SemelRuntime semel) {}

    /** @param workflows the workflows of the test kit; it may add more later */
    CrashedTestEngineRestarter(
            WorkflowStore store, ManualClock clock, CrashInjectionPointTracker points, List<Workflow<?, ?>> workflows) {
        this.store = store;
        this.clock = clock;
        this.points = points;
        this.workflows = workflows;
    }

    CrashedTestEngineRestarter open(int engines) {
        for (int i = 0; i < engines; i++) {
            living.add(member());
        }
        return this;
    }

    private EngineInstance member() {
        SimulatedEngineCrashState life = new SimulatedEngineCrashState(points, clock, this::replace);
        CrashableStore crashable = new CrashableStore(store, life);
        RuntimeOptions settings = RuntimeOptions.of("the kit's own", CrashedTestEngineRestarter::noFiles)
                .withClock(clock.ambient().withInstrumentation(life), () -> 0);
        return new EngineInstance(
                life, crashable, SemelRuntime.openForTest(crashable, settings, List.copyOf(workflows)));
    }

    private static dev.semel.definition.WorkflowVersion noFiles(dev.semel.store.DatabaseRows.VersionRow version) {
        throw new WorkflowCatalog.WorkflowNotRegistered(version.name(), version.workflowId());
    }

    void register(Workflow<?, ?> workflow) {
        for (EngineInstance member : members()) {
            member.semel().register(workflow);
        }
    }

    /** Crashes all engines; returns when new engines have taken over. */
    void crash() {
        members().forEach(member -> member.life().crash());
        awaitRecovery();
    }

    /** Crashes all engines without replacement, because the test no longer uses this environment. */
    void abandon() {
        lock.lock();
        try {
            abandoned = true;
        } finally {
            lock.unlock();
        }
        members().forEach(member -> member.life().crash());
    }

    /** Called by the crashing thread, which may hold locks of the store; another thread therefore does the work. */
    private void replace(SimulatedEngineCrashState life) {
        lock.lock();
        try {
            if (abandoned) {
                return;
            }
            recovering++;
            supervisors.add(
                    Thread.ofPlatform().name("kit-supervisor").daemon(true).start(() -> recover(life)));
        } finally {
            lock.unlock();
        }
    }

    private void recover(SimulatedEngineCrashState life) {
        EngineInstance dead = bury(life);
        Throwable problem = null;
        EngineInstance next = null;
        try {
            if (!life.awaitCrashed()) {
                throw new IllegalStateException("a living engine is not replaced");
            }
            dead.store().takeOver();
            next = member();
        } catch (RuntimeException | Error e) {
            problem = e;
        }
        lock.lock();
        try {
            if (next == null) {
                failure = problem;
            } else {
                living.add(next);
            }
            recovering--;
            change.signalAll();
        } finally {
            lock.unlock();
        }
        dead.semel().close();
    }

    private EngineInstance bury(SimulatedEngineCrashState life) {
        lock.lock();
        try {
            EngineInstance dead = living.stream()
                    .filter(member -> member.life().equals(life))
                    .findFirst()
                    .orElseThrow();
            living.remove(dead);
            return dead;
        } finally {
            lock.unlock();
        }
    }

    private List<EngineInstance> members() {
        lock.lock();
        try {
            return List.copyOf(living);
        } finally {
            lock.unlock();
        }
    }

    private void awaitRecovery() {
        lock.lock();
        try {
            long left = LONGEST_RECOVERY_NANOS;
            while (recovering > 0 && left > 0) {
                left = change.awaitNanos(left);
            }
            if (failure != null || recovering > 0) {
                throw new AssertionError("no new engine started to replace the crashed engine", failure);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new AssertionError("interrupted while an engine took over", e);
        } finally {
            lock.unlock();
        }
    }

    /** The next running engine, in round-robin order. */
    private EngineInstance next() {
        awaitRecovery();
        lock.lock();
        try {
            return living.get(Math.floorMod(turn++, living.size()));
        } finally {
            lock.unlock();
        }
    }

    SemelRuntime semel() {
        awaitRecovery();
        return members().getFirst().semel();
    }

    @Override
    public <T> T query(Function<SemelRuntime, T> question) {
        for (int deaths = 0; ; deaths++) {
            EngineInstance member = next();
            try {
                return question.apply(member.semel());
            } catch (RuntimeException | Error e) {
                if (!member.life().hasCrashed() || deaths >= MOST_DEATHS_IN_ONE_QUESTION) {
                    throw e;
                }
            }
        }
    }

    /** As {@link dev.semel.runtime.EngineIdleTestProbe#nextDueIfIdle}, for all engines together. */
    OptionalLong nextDueIfIdle() {
        awaitRecovery();
        List<EngineInstance> members = members();
        long before = movements(members);
        long first = StoreWrite.Suspension.NEVER;
        for (EngineInstance member : members) {
            OptionalLong one = nextDueIfIdle(member);
            if (one.isEmpty()) {
                return one;
            }
            first = Math.min(first, one.getAsLong());
        }
        boolean same = movements(members) == before
                && members.stream().noneMatch(member -> member.life().hasCrashed());
        return same ? OptionalLong.of(first) : OptionalLong.empty();
    }

    private static OptionalLong nextDueIfIdle(EngineInstance member) {
        try {
            return member.semel().testAccess().nextDueIfIdle();
        } catch (RuntimeException | Error e) {
            if (member.life().hasCrashed()) {
                return OptionalLong.empty();
            }
            throw e;
        }
    }

    private static long movements(List<EngineInstance> members) {
        return members.stream()
                .mapToLong(member -> member.semel().testAccess().writeCount())
                .sum();
    }

    void lookForWork() {
        members().forEach(member -> member.semel().testAccess().lookForWork());
    }

    @Override
    public void close() {
        for (Thread supervisor : supervisors) {
            try {
                supervisor.join();
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                return;
            }
        }
        members().forEach(member -> member.semel().close());
    }
}
