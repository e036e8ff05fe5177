package dev.semel.runtime;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.semel.workflow.DuplicatePayload;
import dev.semel.workflow.OnMismatch;
import dev.semel.store.Dialect;
import dev.semel.store.Invariants;
import dev.semel.trigger.TriggerResult;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.FutureTask;
import java.util.function.IntFunction;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** N equal requests at once: exactly one is fresh, the others get its run, and nothing but answers. */
final class ConcurrencyTest {
    private static final int CALLERS = 64;

    /** Sends all at once, each on a thread of its own. */
    private static List<TriggerResult> atOnce(IntFunction<Asking> asking) throws Exception {
        CountDownLatch go = new CountDownLatch(1);
        List<FutureTask<TriggerResult>> callers = new ArrayList<>();
        for (int i = 0; i < CALLERS; i++) {
            Asking one = asking.apply(i);
            FutureTask<TriggerResult> caller = new FutureTask<>(() -> {
                go.await();
                return one.send();
            });
            callers.add(caller);
            Thread.ofVirtual().start(caller);
        }
        go.countDown();
        List<TriggerResult> answers = new ArrayList<>();
        for (FutureTask<TriggerResult> caller : callers) {
            answers.add(caller.get());
        }
        return answers;
    }

    private static TriggerResult assertOneRun(List<TriggerResult> answers) {
        List<TriggerResult> fresh =
                answers.stream().filter(answer -> !answer.replayed()).toList();
        assertEquals(1, fresh.size());
        assertEquals(1, answers.stream().map(TriggerResult::runId).distinct().count());
        return fresh.getFirst();
    }

    @ParameterizedTest
    @EnumSource
    void of_64_equal_triggers_at_once_one_is_fresh(Dialect dialect) throws Exception {
        try (Bench bench = new Bench(dialect)) {
            bench.publish("plain", Policy.plain(), Bench.ECHO);
            for (int round = 0; round < 5; round++) {
                String key = "K" + round;
                TriggerResult first = assertOneRun(atOnce(_ -> bench.ask("plain").key(key)));
                bench.ended(first.run());
            }
            assertEquals(5, bench.runs());
            Invariants.oneRunPerLiveKey(bench.place);
        }
    }

    @ParameterizedTest
    @EnumSource
    void an_expired_key_under_64_triggers_at_once_is_taken_over_once(Dialect dialect) throws Exception {
        try (Bench bench = new Bench(dialect)) {
            bench.publish("plain", Policy.plain().window(Duration.ofMinutes(1)), Bench.ECHO);
            TriggerResult old = bench.ask("plain").key("K").send();
            bench.ended(old.run());
            bench.place.advance(Duration.ofMinutes(1));
            TriggerResult first = assertOneRun(atOnce(_ -> bench.ask("plain").key("K")));
            assertNotEquals(old.runId(), first.runId());
            assertEquals(old.runId(), first.previousRunId());
            assertEquals(1, bench.semel().count("expiredKeyRetries"));
            assertEquals(2, bench.runs());
        }
    }

    @ParameterizedTest
    @EnumSource
    void triggers_with_several_names_at_once_are_one_run(Dialect dialect) throws Exception {
        try (Bench bench = new Bench(dialect)) {
            bench.publish("flag", Policy.plain().duplicatePayload(DuplicatePayload.FLAG), Bench.ECHO);
            assertOneRun(atOnce(_ -> bench.ask("flag").key("K").runId("chosen")));
            assertEquals(1, bench.runs());
            assertEquals(3, bench.place.count("semel_key"));
        }
    }

    @ParameterizedTest
    @EnumSource
    void distinct_payloads_at_once_are_one_run_each(Dialect dialect) throws Exception {
        try (Bench bench = new Bench(dialect)) {
            bench.publish("notify", Policy.plain().onMismatch(OnMismatch.DISTINCT), Bench.ECHO);
            List<TriggerResult> answers = atOnce(i -> bench.ask("notify").key("K").input("{\"n\":" + i % 4 + "}"));
            assertEquals(
                    4, answers.stream().filter(answer -> !answer.replayed()).count());
            assertEquals(4, bench.runs());
        }
    }

    @Test
    void of_64_equal_triggers_at_two_workers_at_once_one_is_fresh() throws Exception {
        try (Bench bench = new Bench(Dialect.POSTGRES)) {
            bench.publish("plain", Policy.plain(), Bench.ECHO);
            SemelRuntime other = bench.start();
            for (int round = 0; round < 5; round++) {
                String key = "K" + round;
                TriggerResult first =
                        assertOneRun(atOnce(i -> bench.ask("plain").key(key).at(i % 2 == 0 ? bench.semel() : other)));
                bench.ended(first.run());
                assertTrue(bench.ask("plain").key(key).at(other).send().replayed());
            }
            assertEquals(5, bench.runs());
            Invariants.oneRunPerLiveKey(bench.place);
        }
    }

    @Test
    void an_expired_key_at_two_workers_at_once_is_taken_over_once() throws Exception {
        try (Bench bench = new Bench(Dialect.POSTGRES)) {
            bench.publish("plain", Policy.plain().window(Duration.ofMinutes(1)), Bench.ECHO);
            SemelRuntime other = bench.start();
            for (int round = 0; round < 3; round++) {
                TriggerResult first = assertOneRun(atOnce(i -> bench.ask("plain")
                        .key("K")
                        .runId("round" + bench.runs())
                        .at(i % 2 == 0 ? bench.semel() : other)));
                bench.ended(first.run());
                bench.place.advance(Duration.ofMinutes(1));
            }
            assertEquals(3, bench.runs());
            Invariants.oneRunPerLiveKey(bench.place);
        }
    }
}
