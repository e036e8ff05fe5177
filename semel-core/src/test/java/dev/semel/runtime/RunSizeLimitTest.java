package dev.semel.runtime;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.semel.definition.DurableWorkflowOperations;
import dev.semel.definition.WorkflowBody;
import dev.semel.engine.EngineLimits;
import dev.semel.engine.RunSizeLimits;
import dev.semel.error.SemelException;
import dev.semel.run.RunId;
import dev.semel.run.RunState;
import dev.semel.store.DatabaseRows;
import dev.semel.store.Dialect;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import tools.jackson.databind.node.IntNode;
import tools.jackson.databind.node.StringNode;

/** A run that records too much fails, and takes nobody with it. */
final class RunSizeLimitTest {
    private static final int STEPS = 50;
    private static final int MANY = 10 * STEPS;
    private static final int JOURNAL = 20_000;
    private static final EngineLimits LIMITS = EngineLimits.DEFAULT.withRunSize(
            RunSizeLimits.DEFAULT.withSteps(STEPS).withJournalBytes(JOURNAL));

    private final AtomicInteger executed = new AtomicInteger();

    private static RunId start(EngineTestBench bench, WorkflowBody body) {
        bench.publish("large", KeyPolicyBuilder.plain(), body);
        return bench.ask("large").send().run();
    }

    private static void assertTooLarge(EngineTestBench bench, RunId run, String limit) {
        DatabaseRows.RunRow ended = bench.ended(run);
        assertEquals(RunState.FAILED, ended.state());
        var result = Objects.requireNonNull(ended.end()).result();
        assertEquals("run-too-large", result.errorCode());
        assertTrue(String.valueOf(result.errorMessage()).contains(limit), result.errorMessage());
        bench.publish("other", KeyPolicyBuilder.plain(), (context, input) -> context.step("one", () -> input));
        assertEquals(
                RunState.COMPLETED,
                bench.ended(bench.ask("other").send().run()).state(),
                "other runs are not affected");
    }

    private void count(DurableWorkflowOperations context, int from, int to) {
        for (int i = from; i < to; i++) {
            context.step("step " + i, () -> IntNode.valueOf(executed.incrementAndGet()));
        }
    }

    @ParameterizedTest
    @EnumSource
    void a_run_with_too_many_steps_fails_and_others_continue(Dialect dialect) {
        try (EngineTestBench bench = new EngineTestBench(dialect, LIMITS)) {
            RunId run = start(bench, (context, input) -> {
                count(context, 0, MANY);
                return input;
            });
            assertTooLarge(bench, run, STEPS + " steps");
            assertEquals(STEPS, executed.get());
        }
    }

    @ParameterizedTest
    @EnumSource
    void a_run_with_exactly_as_many_steps_completes(Dialect dialect) {
        try (EngineTestBench bench = new EngineTestBench(dialect, LIMITS)) {
            RunId run = start(bench, (context, input) -> {
                count(context, 0, STEPS);
                return input;
            });
            assertEquals(RunState.COMPLETED, bench.ended(run).state());
        }
    }

    @ParameterizedTest
    @EnumSource
    void a_run_with_too_large_a_journal_fails(Dialect dialect) {
        try (EngineTestBench bench = new EngineTestBench(dialect, LIMITS)) {
            StringNode large = StringNode.valueOf("x".repeat(JOURNAL / 10));
            RunId run = start(bench, (context, input) -> {
                for (int i = 0; i < STEPS; i++) {
                    context.step("step " + i, () -> {
                        executed.incrementAndGet();
                        return large;
                    });
                }
                return input;
            });
            assertTooLarge(bench, run, JOURNAL + " bytes");
            assertTrue(executed.get() <= 10, "it stops at the limit, not at " + executed);
        }
    }

    @ParameterizedTest
    @EnumSource
    void code_that_handles_the_rejection_cannot_complete_the_run(Dialect dialect) {
        try (EngineTestBench bench = new EngineTestBench(dialect, LIMITS)) {
            RunId run = start(bench, (context, input) -> {
                for (int i = 0; i < MANY; i++) {
                    try {
                        count(context, i, i + 1);
                    } catch (SemelException ignored) {
                        continue;
                    }
                }
                return input;
            });
            assertTooLarge(bench, run, STEPS + " steps");
            assertEquals(STEPS, executed.get());
        }
    }

    @ParameterizedTest
    @EnumSource
    void nested_loops_that_record_nothing_are_limited_too(Dialect dialect) {
        try (EngineTestBench bench = new EngineTestBench(dialect, LIMITS)) {
            List<String> keys =
                    IntStream.range(0, STEPS).mapToObj(String::valueOf).toList();
            var items = new DurableWorkflowOperations.KeyedItems<>(keys, keys, 1);
            RunId run = start(bench, (context, input) -> {
                context.forEach(
                        "outer",
                        items,
                        (outer, _) -> outer.forEach("inner", items, (_, _) -> executed.incrementAndGet()));
                return input;
            });
            assertTooLarge(bench, run, STEPS + " items");
            assertTrue(executed.get() < STEPS, "it stops at the limit, not at " + executed);
        }
    }

    @ParameterizedTest
    @EnumSource
    void steps_of_an_earlier_worker_count(Dialect dialect) throws Exception {
        try (EngineTestBench bench = new EngineTestBench(dialect, LIMITS)) {
            RunId run = start(bench, (context, input) -> {
                count(context, 0, STEPS - 1);
                context.sleep("pause", java.time.Duration.ofHours(1));
                count(context, STEPS - 1, MANY);
                return input;
            });
            dev.semel.store.Await.until("it sleeps", () -> bench.run(run).state() == RunState.WAITING);
            bench.restart();
            bench.fixture.setTime(
                    bench.fixture.time() + java.time.Duration.ofHours(2).toNanos() / 1_000);
            assertTooLarge(bench, run, STEPS + " steps");
            assertEquals(STEPS - 1, executed.get());
        }
    }

    @ParameterizedTest
    @EnumSource
    void a_run_that_became_too_large_is_compensated(Dialect dialect) {
        try (EngineTestBench bench = new EngineTestBench(dialect, LIMITS)) {
            AtomicInteger undone = new AtomicInteger();
            RunId run = start(bench, (context, input) -> {
                context.compensate("first", undo -> {
                    for (int i = 0; i < 3; i++) {
                        undo.step("undo " + i, () -> IntNode.valueOf(undone.incrementAndGet()));
                    }
                });
                count(context, 0, MANY);
                return input;
            });
            assertTooLarge(bench, run, STEPS + " steps");
            assertEquals(3, undone.get());
        }
    }
}
