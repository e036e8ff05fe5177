package dev.semel.runtime;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.semel.RunStatus;
import dev.semel.runtime.OutageBench.Answer;
import dev.semel.store.Dialect;
import dev.semel.workflow.Workflow;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** A provider that is down for an hour: every run completes by itself, and the provider does each effect once. */
final class OutageTest {
    private static final int RUNS = 200;

    @ParameterizedTest
    @EnumSource
    void an_outage_of_an_hour_heals_by_itself(Dialect dialect) {
        try (OutageBench bench = new OutageBench(dialect)) {
            Workflow<String, String> charge = bench.register(Workflow.define("charge", String.class, String.class)
                    .body((ctx, in) -> ctx.effect("charge")
                            .providerHonoursKey(Duration.ofHours(24))
                            .call(String.class, step -> bench.provider.call(step.key()))));
            bench.provider.answers(
                    Answer.UNAVAILABLE, Answer.TIMEOUT, Answer.RESET, Answer.REFUSED, Answer.UNAVAILABLE);
            List<RunHandle<String>> runs = new ArrayList<>();
            for (int i = 0; i < RUNS; i++) {
                runs.add(bench.start(charge, "order-" + i));
            }
            bench.settle();
            for (int minutes = 0; minutes < 60; minutes += 2) {
                bench.clock.advance(Duration.ofMinutes(2));
                if (minutes == 30) {
                    bench.kill();
                    runs.replaceAll(run -> bench.again(charge, run));
                }
                bench.settle();
            }
            assertTrue(runs.stream().noneMatch(run -> run.status() == RunStatus.IN_DOUBT));
            bench.provider.answers(Answer.OK);
            bench.advanceUntil(
                    "all complete",
                    Duration.ofMinutes(1),
                    6,
                    () -> runs.stream().allMatch(run -> run.status() == RunStatus.COMPLETED));
            assertEquals(RUNS, bench.provider.effects());
            assertEquals(RUNS, bench.provider.keys().size(), "each run sent one key, byte-identical");
            assertEquals(List.of(), bench.inbox());
        }
    }

    @ParameterizedTest
    @EnumSource
    void a_run_that_waits_for_its_next_attempt_keeps_its_entity_and_returns_its_concurrency_place(Dialect dialect) {
        try (OutageBench bench = new OutageBench(dialect)) {
            Workflow<String, String> charge = bench.register(Workflow.define("charge", String.class, String.class)
                    .serialBy(input -> input.substring(0, 1))
                    .maxConcurrent(1)
                    .body((ctx, in) -> in.endsWith("!")
                            ? "not sent"
                            : ctx.effect("charge")
                                    .providerHonoursKey(Duration.ofHours(24))
                                    .call(String.class, step -> bench.provider.call(step.key()))));
            bench.provider.answers(Answer.UNAVAILABLE);
            RunHandle<String> first = bench.start(charge, "a1");
            bench.settle();
            RunHandle<String> sameEntity = bench.start(charge, "a2!");
            RunHandle<String> other = bench.start(charge, "b1!");
            bench.advance(Duration.ofSeconds(1));
            bench.advance(Duration.ofSeconds(2));
            assertEquals(RunStatus.WAITING, first.status());
            OutageBench.untilEnded(other, RunStatus.COMPLETED);
            assertEquals(RunStatus.QUEUED, sameEntity.status());
            RunHandle<String> third = bench.start(charge, "c1");
            bench.settle();
            bench.advance(Duration.ofSeconds(30));
            assertEquals(0, bench.semel().testAccess().ownedRuns().size(), "both wait outside the memory");
            assertEquals(RunStatus.WAITING, first.status());
            assertEquals(RunStatus.WAITING, third.status());
            bench.provider.answers(Answer.OK);
            bench.advance(Duration.ofMinutes(5));
            bench.advance(Duration.ofMinutes(5));
            for (RunHandle<String> run : List.of(first, sameEntity, third)) {
                OutageBench.untilEnded(run, RunStatus.COMPLETED);
            }
            assertEquals(2, bench.provider.effects());
        }
    }

    @ParameterizedTest
    @EnumSource
    void a_run_that_waits_for_the_effect_of_another_run_returns_its_concurrency_place(Dialect dialect) {
        try (OutageBench bench = new OutageBench(dialect)) {
            Workflow<String, String> charge = bench.register(Workflow.define("charge", String.class, String.class)
                    .maxConcurrent(1)
                    .body((ctx, in) -> in.endsWith("!")
                            ? "not sent"
                            : ctx.effect("charge")
                                    .key(in.substring(1))
                                    .oncePer(Duration.ofHours(1))
                                    .providerHonoursKey(Duration.ofHours(24))
                                    .call(String.class, step -> bench.provider.call(step.key()))));
            bench.provider.answers(Answer.UNAVAILABLE);
            RunHandle<String> holder = bench.start(charge, "bK1");
            bench.settle();
            RunHandle<String> waiter = bench.start(charge, "aK1");
            RunHandle<String> third = bench.start(charge, "c!");
            bench.advanceUntil(
                    "a run behind the two starts",
                    Duration.ofSeconds(5),
                    24,
                    () -> third.status() == RunStatus.COMPLETED);
            assertEquals(RunStatus.WAITING, waiter.status());
            bench.provider.answers(Answer.OK);
            bench.advanceUntil(
                    "both complete",
                    Duration.ofSeconds(30),
                    40,
                    () -> holder.status() == RunStatus.COMPLETED && waiter.status() == RunStatus.COMPLETED);
            assertEquals(1, bench.provider.effects());
        }
    }
}
