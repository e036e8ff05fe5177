package dev.semel.testing;

import dev.semel.Run;
import dev.semel.Semel;
import dev.semel.Settings;
import dev.semel.engine.Catalog;
import dev.semel.store.Store;
import dev.semel.store.Write;
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
final class Crew implements Run.Line, AutoCloseable {
    private static final int MOST_DEATHS_IN_ONE_QUESTION = 100;
    private static final long LONGEST_RECOVERY_NANOS = TimeUnit.SECONDS.toNanos(30);

    private final Store store;
    private final ManualClock clock;
    private final Points points;
    private final List<Workflow<?, ?>> workflows;
    private final ReentrantLock lock = new ReentrantLock();
    private final Condition change = lock.newCondition();
    private final List<Member> living = new ArrayList<>();
    private final List<Thread> supervisors = new CopyOnWriteArrayList<>();
    private int recovering;
    private int turn;
    private boolean abandoned;
    private @Nullable Throwable failure;

    private record Member(Life life, Mortal store, Semel semel) {}

    /** @param workflows the workflows of the test kit; it may add more later */
    Crew(Store store, ManualClock clock, Points points, List<Workflow<?, ?>> workflows) {
        this.store = store;
        this.clock = clock;
        this.points = points;
        this.workflows = workflows;
    }

    Crew open(int engines) {
        for (int i = 0; i < engines; i++) {
            living.add(member());
        }
        return this;
    }

    private Member member() {
        Life life = new Life(points, clock, this::replace);
        Mortal mortal = new Mortal(store, life);
        Settings settings = Settings.of("the lab's own", Crew::noFiles)
                .withClock(clock.ambient().withHooks(life), () -> 0);
        return new Member(life, mortal, Semel.over(mortal, settings, List.copyOf(workflows)));
    }

    private static dev.semel.workflow.Published noFiles(dev.semel.store.Rows.Version version) {
        throw new Catalog.NotKnownHere(version.name(), version.workflowId());
    }

    void register(Workflow<?, ?> workflow) {
        for (Member member : members()) {
            member.semel().register(workflow);
        }
    }

    /** Crashes all engines; returns when new engines have taken over. */
    void crash() {
        members().forEach(member -> member.life().die());
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
        members().forEach(member -> member.life().die());
    }

    /** Called by the crashing thread, which may hold locks of the store; another thread therefore does the work. */
    private void replace(Life life) {
        lock.lock();
        try {
            if (abandoned) {
                return;
            }
            recovering++;
            supervisors.add(
                    Thread.ofPlatform().name("lab-supervisor").daemon(true).start(() -> recover(life)));
        } finally {
            lock.unlock();
        }
    }

    private void recover(Life life) {
        Member dead = bury(life);
        Throwable problem = null;
        Member next = null;
        try {
            if (!life.isOver()) {
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

    private Member bury(Life life) {
        lock.lock();
        try {
            Member dead = living.stream()
                    .filter(member -> member.life().equals(life))
                    .findFirst()
                    .orElseThrow();
            living.remove(dead);
            return dead;
        } finally {
            lock.unlock();
        }
    }

    private List<Member> members() {
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
                throw new AssertionError("the engine that was to take over did not start", failure);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new AssertionError("interrupted while an engine took over", e);
        } finally {
            lock.unlock();
        }
    }

    /** The next running engine, in round-robin order. */
    private Member next() {
        awaitRecovery();
        lock.lock();
        try {
            return living.get(Math.floorMod(turn++, living.size()));
        } finally {
            lock.unlock();
        }
    }

    Semel semel() {
        awaitRecovery();
        return members().getFirst().semel();
    }

    @Override
    public <T> T ask(Function<Semel, T> question) {
        for (int deaths = 0; ; deaths++) {
            Member member = next();
            try {
                return question.apply(member.semel());
            } catch (RuntimeException | Error e) {
                if (!member.life().isDead() || deaths >= MOST_DEATHS_IN_ONE_QUESTION) {
                    throw e;
                }
            }
        }
    }

    /** As {@link dev.semel.Backstage#quietUntil}, for all engines together. */
    OptionalLong quietUntil() {
        awaitRecovery();
        List<Member> members = members();
        long before = movements(members);
        long first = Write.Rest.NEVER;
        for (Member member : members) {
            OptionalLong one = quietUntil(member);
            if (one.isEmpty()) {
                return one;
            }
            first = Math.min(first, one.getAsLong());
        }
        boolean same = movements(members) == before
                && members.stream().noneMatch(member -> member.life().isDead());
        return same ? OptionalLong.of(first) : OptionalLong.empty();
    }

    private static OptionalLong quietUntil(Member member) {
        try {
            return member.semel().backstage().quietUntil();
        } catch (RuntimeException | Error e) {
            if (member.life().isDead()) {
                return OptionalLong.empty();
            }
            throw e;
        }
    }

    private static long movements(List<Member> members) {
        return members.stream()
                .mapToLong(member -> member.semel().backstage().movements())
                .sum();
    }

    void lookForWork() {
        members().forEach(member -> member.semel().backstage().lookForWork());
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
