package dev.semel.runtime;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.semel.admission.TriggerResult;
import dev.semel.policy.SameKeyDifferentPayloadPolicy;
import dev.semel.policy.SamePayloadDifferentKeyPolicy;
import dev.semel.store.Dialect;
import dev.semel.store.Invariants;
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
    private static List<TriggerResult> atOnce(IntFunction<TriggerBuilder> asking) throws Exception {
        CountDownLatch go = new CountDownLatch(1);
        List<FutureTask<TriggerResult>> callers = new ArrayList<>();
        for (int i = 0; i < CALLERS; i++) {
            TriggerBuilder one = asking.apply(i);
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
    void of_64_equal_concurrent_triggers_one_is_fresh(Dialect dialect) throws Exception {
        try (EngineTestBench bench = new EngineTestBench(dialect)) {
            bench.publish("plain", KeyPolicyBuilder.plain(), EngineTestBench.ECHO);
            for (int round = 0; round < 5; round++) {
                String key = "K" + round;
                TriggerResult first =
                        assertOneRun(atOnce(_ -> bench.ask("plain").key(key)));
                bench.ended(first.run());
            }
            assertEquals(5, bench.runs());
            Invariants.oneRunPerLiveKey(bench.fixture);
        }
    }

    @ParameterizedTest
    @EnumSource
    void an_expired_key_under_64_concurrent_triggers_is_taken_over_once(Dialect dialect) throws Exception {
        try (EngineTestBench bench = new EngineTestBench(dialect)) {
            bench.publish("plain", KeyPolicyBuilder.plain().window(Duration.ofMinutes(1)), EngineTestBench.ECHO);
            TriggerResult old = bench.ask("plain").key("K").send();
            bench.ended(old.run());
            bench.fixture.advance(Duration.ofMinutes(1));
            TriggerResult first = assertOneRun(atOnce(_ -> bench.ask("plain").key("K")));
            assertNotEquals(old.runId(), first.runId());
            assertEquals(old.runId(), first.previousRunId());
            assertEquals(1, bench.semel().count("expiredKeyRetries"));
            assertEquals(2, bench.runs());
        }
    }

    @ParameterizedTest
    @EnumSource
    void concurrent_triggers_with_several_keys_are_one_run(Dialect dialect) throws Exception {
        try (EngineTestBench bench = new EngineTestBench(dialect)) {
            bench.publish(
                    "flag",
                    KeyPolicyBuilder.plain().duplicatePayload(SamePayloadDifferentKeyPolicy.FLAG),
                    EngineTestBench.ECHO);
            assertOneRun(atOnce(_ -> bench.ask("flag").key("K").runId("chosen")));
            assertEquals(1, bench.runs());
            assertEquals(3, bench.fixture.count("semel_key"));
        }
    }

    @ParameterizedTest
    @EnumSource
    void distinct_concurrent_payloads_are_one_run_each(Dialect dialect) throws Exception {
        try (EngineTestBench bench = new EngineTestBench(dialect)) {
            bench.publish(
                    "notify",
                    KeyPolicyBuilder.plain().onMismatch(SameKeyDifferentPayloadPolicy.DISTINCT),
                    EngineTestBench.ECHO);
            List<TriggerResult> answers =
                    atOnce(i -> bench.ask("notify").key("K").input("{\"n\":" + i % 4 + "}"));
            assertEquals(
                    4, answers.stream().filter(answer -> !answer.replayed()).count());
            assertEquals(4, bench.runs());
        }
    }

    @Test
    void of_64_equal_concurrent_triggers_at_two_workers_one_is_fresh() throws Exception {
        try (EngineTestBench bench = new EngineTestBench(Dialect.POSTGRES)) {
            bench.publish("plain", KeyPolicyBuilder.plain(), EngineTestBench.ECHO);
            SemelRuntime other = bench.start();
            for (int round = 0; round < 5; round++) {
                String key = "K" + round;
                TriggerResult first =
                        assertOneRun(atOnce(i -> bench.ask("plain").key(key).at(i % 2 == 0 ? bench.semel() : other)));
                bench.ended(first.run());
                assertTrue(bench.ask("plain").key(key).at(other).send().replayed());
            }
            assertEquals(5, bench.runs());
            Invariants.oneRunPerLiveKey(bench.fixture);
        }
    }

    @Test
    void an_expired_key_at_two_workers_is_taken_over_once() throws Exception {
        try (EngineTestBench bench = new EngineTestBench(Dialect.POSTGRES)) {
            bench.publish("plain", KeyPolicyBuilder.plain().window(Duration.ofMinutes(1)), EngineTestBench.ECHO);
            SemelRuntime other = bench.start();
            for (int round = 0; round < 3; round++) {
                TriggerResult first = assertOneRun(atOnce(i -> bench.ask("plain")
                        .key("K")
                        .runId("round" + bench.runs())
                        .at(i % 2 == 0 ? bench.semel() : other)));
                bench.ended(first.run());
                bench.fixture.advance(Duration.ofMinutes(1));
            }
            assertEquals(3, bench.runs());
            Invariants.oneRunPerLiveKey(bench.fixture);
        }
    }
}
