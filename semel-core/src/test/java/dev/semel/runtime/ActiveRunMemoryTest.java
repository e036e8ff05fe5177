package dev.semel.runtime;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.semel.engine.EngineLimits;
import dev.semel.engine.RunSizeLimits;
import dev.semel.run.RunId;
import dev.semel.run.RunState;
import dev.semel.store.Await;
import dev.semel.store.ClaimMemory;
import dev.semel.store.Dialect;
import dev.semel.store.StoreWriteCommand;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import tools.jackson.databind.node.StringNode;

/** A worker holds only as many runs in memory as fit; the others stay queued in the store. */
final class ActiveRunMemoryTest {
    private static final int FIT = 4;
    private static final String INPUT = "{\"text\":\"" + "x".repeat(10_000) + "\"}";
    private static final EngineLimits LIMITS = EngineLimits.DEFAULT.withRunSize(
            RunSizeLimits.DEFAULT.withActiveBytes(FIT * ClaimMemory.UNLIMITED.estimate(INPUT.length(), 0)));

    private final AtomicInteger active = new AtomicInteger();
    private final AtomicInteger mostActive = new AtomicInteger();

    @ParameterizedTest
    @EnumSource
    void runs_beyond_the_memory_limit_stay_queued_and_run_later(Dialect dialect) {
        try (EngineTestBench bench = new EngineTestBench(dialect, LIMITS)) {
            CountDownLatch go = new CountDownLatch(1);
            bench.publish("large", KeyPolicyBuilder.plain(), (_, input) -> {
                mostActive.accumulateAndGet(active.incrementAndGet(), Math::max);
                go.await();
                active.decrementAndGet();
                return input;
            });
            List<RunId> runs = new ArrayList<>();
            for (int i = 0; i < 3 * FIT; i++) {
                runs.add(bench.ask("large").input(INPUT).send().run());
            }
            Await.until("the first runs are active", () -> active.get() == FIT);
            long queued = runs.stream()
                    .filter(run ->
                            java.util.Objects.requireNonNull(bench.run(run).progress())
                                            .claims()
                                    == 0)
                    .count();
            assertEquals(2 * FIT, queued, "no worker has claimed the others");
            go.countDown();
            for (RunId run : runs) {
                assertEquals(RunState.COMPLETED, bench.ended(run).state());
            }
            assertTrue(mostActive.get() <= FIT, "at most " + FIT + " at once, not " + mostActive);
        }
    }

    @ParameterizedTest
    @EnumSource
    void runs_that_grow_together_beyond_the_memory_limit_take_turns_and_complete(Dialect dialect) {
        try (EngineTestBench bench = new EngineTestBench(dialect, LIMITS)) {
            StringNode large = StringNode.valueOf("x".repeat(10_000));
            AtomicInteger executed = new AtomicInteger();
            CountDownLatch together = new CountDownLatch(2 * FIT);
            bench.publish("grows", KeyPolicyBuilder.plain(), (context, input) -> {
                together.countDown();
                together.await();
                for (int i = 0; i < 30; i++) {
                    context.step("step " + i, () -> {
                        executed.incrementAndGet();
                        return large;
                    });
                }
                return input;
            });
            List<RunId> runs = new ArrayList<>();
            for (int i = 0; i < 2 * FIT; i++) {
                runs.add(bench.ask("grows").send().run());
            }
            for (RunId run : runs) {
                assertEquals(RunState.COMPLETED, bench.ended(run).state());
            }
            assertEquals(2 * FIT * 30, executed.get(), "no step ran twice");
            assertTrue(bench.semel().count("parkedRuns") > 0, "some waited until others had ended");
        }
    }

    @ParameterizedTest
    @EnumSource
    void runs_that_get_a_large_signal_together_take_turns(Dialect dialect) {
        try (EngineTestBench bench = new EngineTestBench(dialect, LIMITS)) {
            CountDownLatch go = new CountDownLatch(1);
            bench.publish("waits", KeyPolicyBuilder.plain(), (context, input) -> {
                context.await("go", "go", null);
                mostActive.accumulateAndGet(active.incrementAndGet(), Math::max);
                go.await();
                active.decrementAndGet();
                return input;
            });
            List<RunId> runs = new ArrayList<>();
            for (int i = 0; i < 3 * FIT; i++) {
                runs.add(bench.ask("waits").send().run());
            }
            for (RunId run : runs) {
                Await.until("it waits", () -> bench.run(run).state() == RunState.WAITING);
                bench.semel().change(new StoreWriteCommand.SendSignal(bench.workspace(), run, "go", "once", INPUT));
            }
            bench.semel().lookForWork();
            Await.until(
                    "some wait in the store for memory",
                    () -> active.get() > 0
                            && runs.stream().filter(run -> isOwned(bench, run)).count() <= FIT);
            go.countDown();
            for (RunId run : runs) {
                assertEquals(RunState.COMPLETED, bench.ended(run).state());
            }
            assertTrue(mostActive.get() <= FIT, "at most " + FIT + " at once, not " + mostActive);
        }
    }

    private static boolean isOwned(EngineTestBench bench, RunId run) {
        return bench.run(run).state() == RunState.RUNNING;
    }

    @ParameterizedTest
    @EnumSource
    void after_a_restart_only_as_many_as_fit_are_claimed(Dialect dialect) {
        try (EngineTestBench bench = new EngineTestBench(dialect, LIMITS)) {
            CountDownLatch go = new CountDownLatch(1);
            bench.publish("large", KeyPolicyBuilder.plain(), (context, input) -> {
                context.sleep("pause", Duration.ofHours(1));
                mostActive.accumulateAndGet(active.incrementAndGet(), Math::max);
                go.await();
                active.decrementAndGet();
                return input;
            });
            List<RunId> runs = new ArrayList<>();
            for (int i = 0; i < 3 * FIT; i++) {
                runs.add(bench.ask("large").input(INPUT).send().run());
            }
            Await.until(
                    "all sleep",
                    () -> runs.stream().allMatch(run -> bench.run(run).state() == RunState.WAITING));
            bench.stop(bench.semel());
            bench.fixture.advance(Duration.ofHours(2));
            bench.start();
            // The journal counts too, so one less may fit.
            Await.until("the first runs are active", () -> active.get() >= FIT - 1);
            assertTrue(
                    runs.stream()
                                    .filter(run -> bench.run(run).state() == RunState.WAITING)
                                    .count()
                            >= 2 * FIT,
                    "no worker has claimed the others");
            go.countDown();
            for (RunId run : runs) {
                assertEquals(RunState.COMPLETED, bench.ended(run).state());
            }
            assertTrue(mostActive.get() <= FIT, "at most " + FIT + " at once, not " + mostActive);
        }
    }
}
