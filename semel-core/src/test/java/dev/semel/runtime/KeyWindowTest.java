package dev.semel.runtime;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.semel.admission.RunDeduplicationKey;
import dev.semel.admission.TriggerResult;
import dev.semel.policy.SamePayloadDifferentKeyPolicy;
import dev.semel.run.RunState;
import dev.semel.store.Dialect;
import dev.semel.store.StoreWriteCommand;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.EnumSource;

/** How long a key stands for its run. */
@ParameterizedClass
@EnumSource
final class KeyWindowTest {
    private static final Duration WINDOW = Duration.ofMinutes(10);
    private static final Duration TICK = Duration.ofNanos(1_000);

    private final EngineTestBench bench;
    private final CountDownLatch go = new CountDownLatch(1);

    KeyWindowTest(Dialect dialect) {
        bench = new EngineTestBench(dialect);
        bench.publish("plain", KeyPolicyBuilder.plain().window(WINDOW), EngineTestBench.ECHO);
    }

    @AfterEach
    void close() {
        go.countDown();
        bench.close();
    }

    private long expiredKeyRetries() {
        return bench.semel().count("expiredKeyRetries");
    }

    @Test
    void row_7_at_the_end_of_the_window_the_key_is_free() {
        TriggerResult first = bench.ask("plain").key("K").send();
        bench.ended(first.run());
        bench.fixture.advance(WINDOW.minus(TICK));
        TriggerResult within = bench.ask("plain").key("K").send();
        assertTrue(within.replayed());
        assertEquals(first.expiresAt(), within.expiresAt(), "a repeat does not make the window longer");
        assertEquals(0, expiredKeyRetries());

        bench.fixture.advance(TICK);
        TriggerResult after = bench.ask("plain").key("K").send();
        assertFalse(after.replayed());
        assertNotEquals(first.runId(), after.runId());
        assertEquals(first.runId(), after.previousRunId());
        assertEquals(first.expiresAt() + WINDOW.toNanos() / 1_000, after.expiresAt());
        assertEquals(1, expiredKeyRetries());
        assertEquals(after.run(), bench.run(after.run()).lineage(), "after expiry a new lineage begins");
        assertEquals(after.runId(), bench.ask("plain").key("K").send().runId());
    }

    @Test
    void a_key_is_held_while_its_run_is_unfinished() {
        bench.publish("slow", KeyPolicyBuilder.plain().window(WINDOW), (_, input) -> {
            go.await();
            return input;
        });
        TriggerResult first = bench.ask("slow").key("K").send();
        bench.fixture.advance(Duration.ofDays(400));
        assertEquals(first.runId(), bench.ask("slow").key("K").send().runId());
        go.countDown();
        bench.ended(first.run());
        assertFalse(bench.ask("slow").key("K").send().replayed());
    }

    @Test
    void a_key_that_is_not_held_expires_under_its_running_run() {
        bench.publish("slow", KeyPolicyBuilder.plain().window(WINDOW).expiresWhileRunning(), (_, input) -> {
            go.await();
            return input;
        });
        TriggerResult first = bench.ask("slow").key("K").send();
        bench.fixture.advance(WINDOW);
        TriggerResult second = bench.ask("slow").key("K").send();
        assertFalse(second.replayed());
        assertEquals(first.runId(), second.previousRunId());
        assertEquals(1, expiredKeyRetries());
    }

    @Test
    void a_failed_run_may_run_again_under_its_key_in_the_same_lineage() {
        AtomicInteger tries = new AtomicInteger();
        bench.publish("flaky", KeyPolicyBuilder.plain().runAgainWhenFailed(), (_, input) -> {
            if (tries.incrementAndGet() < 3) {
                throw new IllegalStateException("not yet");
            }
            return input;
        });
        TriggerResult first = bench.ask("flaky").key("K").send();
        bench.ended(first.run());
        TriggerResult second = bench.ask("flaky").key("K").send();
        bench.ended(second.run());
        TriggerResult third = bench.ask("flaky").key("K").send();
        assertEquals(RunState.COMPLETED, bench.ended(third.run()).state());
        assertFalse(second.replayed() || third.replayed());
        assertEquals(first.runId(), second.previousRunId());
        assertEquals(second.runId(), third.previousRunId());
        assertEquals(first.run(), bench.run(third.run()).lineage());
        assertTrue(bench.ask("flaky").key("K").send().replayed(), "a completed run keeps its key");
        assertEquals(0, expiredKeyRetries());
    }

    @Test
    void a_failed_run_may_run_again_also_with_unique_payloads() {
        AtomicInteger tries = new AtomicInteger();
        KeyPolicyBuilder policy =
                KeyPolicyBuilder.plain().runAgainWhenFailed().duplicatePayload(SamePayloadDifferentKeyPolicy.REJECT);
        bench.publish("flaky", policy, (_, input) -> {
            if (tries.incrementAndGet() < 2) {
                throw new IllegalStateException("not yet");
            }
            return input;
        });
        TriggerResult first = bench.ask("flaky").key("K").send();
        bench.ended(first.run());
        TriggerResult second = bench.ask("flaky").key("K").send();
        assertFalse(second.replayed());
        assertEquals(first.runId(), second.previousRunId());
        assertEquals(RunState.COMPLETED, bench.ended(second.run()).state());
    }

    @Test
    void an_expired_key_is_free_also_with_unique_payloads() {
        KeyPolicyBuilder policy =
                KeyPolicyBuilder.plain().window(WINDOW).duplicatePayload(SamePayloadDifferentKeyPolicy.REJECT);
        bench.publish("once", policy, EngineTestBench.ECHO);
        TriggerResult first = bench.ask("once").key("K").send();
        bench.ended(first.run());
        bench.fixture.advance(WINDOW);
        TriggerResult second = bench.ask("once").key("K2").send();
        assertNull(second.previousRunId(), "nobody used this key before");
        assertEquals(0, expiredKeyRetries());
    }

    @Test
    void a_released_key_starts_a_new_run() {
        TriggerResult first = bench.ask("plain").key("K").send();
        var name = new RunDeduplicationKey(bench.workspace(), RunDeduplicationKey.KeyKind.KEY, "K");
        assertTrue(bench.semel()
                .change(new StoreWriteCommand.ReleaseKey(
                        name,
                        first.run(),
                        new StoreWriteCommand.ChangeAuthor(bench.semel().newId(), "op", "the customer called"))));
        TriggerResult second = bench.ask("plain").key("K").send();
        assertFalse(second.replayed());
        assertEquals(first.runId(), second.previousRunId());
        assertEquals(0, expiredKeyRetries());
        assertEquals(second.runId(), bench.ask("plain").key("K").send().runId());
    }

    @Test
    void tombstones_are_deleted_and_their_runs_stay() {
        TriggerResult first = bench.ask("plain").key("K").send();
        bench.ended(first.run());
        bench.fixture.advance(WINDOW.plus(Duration.ofDays(8)));
        TriggerResult other = bench.ask("plain").key("L").send();
        bench.ended(other.run());
        bench.restart(); // the sweep walks when a worker starts, and rests afterwards
        dev.semel.store.Await.until("the tombstone is gone", () -> bench.fixture.count("semel_key") == 1);
        assertEquals(first.run(), bench.run(first.run()).id());
        TriggerResult again = bench.ask("plain").key("K").send();
        assertFalse(again.replayed());
        assertNull(again.previousRunId(), "what was swept is forgotten");
        assertTrue(bench.ask("plain").key("L").send().replayed());
    }
}
