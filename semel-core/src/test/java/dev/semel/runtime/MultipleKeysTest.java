package dev.semel.runtime;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.semel.admission.TriggerResult;
import dev.semel.error.ErrorCode;
import dev.semel.error.SemelException;
import dev.semel.policy.SamePayloadDifferentKeyPolicy;
import dev.semel.store.Dialect;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.EnumSource;

/** The key decides, then the run id, then the payload; and run ids that callers choose. */
@ParameterizedClass
@EnumSource
final class MultipleKeysTest {
    private static final String FIVE = "{\"amount\":5}";
    private static final String SIX = "{\"amount\":6}";

    private final EngineTestBench bench;

    MultipleKeysTest(Dialect dialect) {
        bench = new EngineTestBench(dialect);
        bench.publish("plain", KeyPolicyBuilder.plain(), EngineTestBench.ECHO);
        bench.publish("pay", KeyPolicyBuilder.plain().fingerprint("amount"), EngineTestBench.ECHO);
    }

    @AfterEach
    void close() {
        bench.close();
    }

    private long names() {
        return bench.fixture.count("semel_key");
    }

    @Test
    void a_chosen_run_id_is_the_id_that_callers_see() {
        TriggerResult first = bench.ask("plain").runId("invoice-7").send();
        assertEquals("invoice-7", first.runId());
        assertFalse(first.replayed());
        TriggerResult again = bench.ask("plain").runId("invoice-7").send();
        assertTrue(again.replayed());
        assertEquals("invoice-7", again.runId());
        assertEquals(first.run(), again.run());
        assertEquals("invoice-7", bench.run(first.run()).runIdText());
    }

    @Test
    void a_chosen_run_id_applies_independent_of_the_key_window() {
        TriggerResult first = bench.ask("plain").key("K").runId("invoice-7").send();
        bench.ended(first.run());
        bench.fixture.advance(Duration.ofDays(1_000));
        assertEquals(first.run(), bench.ask("plain").runId("invoice-7").send().run());
        SemelException other = bench.ask("pay").runId("invoice-7").refused();
        assertEquals("workflow", other.members().get("reason"));
    }

    @Test
    void rows_3_to_5_apply_to_a_chosen_run_id() {
        TriggerResult first = bench.ask("pay").runId("r").input(FIVE).send();
        assertEquals(first.run(), bench.ask("pay").runId("r").input(FIVE).send().run());
        SemelException payload = bench.ask("pay").runId("r").input(SIX).refused();
        assertEquals(List.of("amount"), payload.members().get("changed"));
        bench.ask("plain").runId("s").input(FIVE).send();
        assertTrue(bench.ask("plain").runId("s").input(SIX).send().payloadMismatch());
        assertEquals(
                "workflow", bench.ask("plain").runId("r").refused().members().get("reason"));
    }

    @Test
    void key_and_run_id_of_one_run_are_one_run() {
        TriggerResult first = bench.ask("plain").key("K").runId("r").send();
        assertEquals(first.run(), bench.ask("plain").key("K").runId("r").send().run());
        assertEquals(first.run(), bench.ask("plain").key("K").send().run());
        assertEquals(first.run(), bench.ask("plain").runId("r").send().run());
        assertEquals(1, bench.runs());
    }

    @Test
    void a_key_and_a_run_id_of_different_runs_are_rejected_and_store_nothing() {
        TriggerResult byKey = bench.ask("plain").key("K").runId("r1").send();
        bench.ask("plain").runId("r2").send();
        long before = names();
        for (String runId : List.of("r2", "r3")) {
            SemelException refused = bench.ask("plain").key("K").runId(runId).refused();
            assertEquals(ErrorCode.IDEMPOTENCY_KEY_CONFLICT, refused.code());
            assertEquals("run_id", refused.members().get("reason"));
            assertEquals(byKey.runId(), refused.members().get("run_id"));
        }
        assertEquals(before, names());
        assertEquals(2, bench.runs());
        assertFalse(bench.ask("plain").runId("r3").send().replayed(), "the refusal left r3 free");
    }

    @Test
    void a_new_key_with_a_known_run_id_is_that_run_and_the_key_stays_free() {
        TriggerResult first = bench.ask("plain").runId("r").send();
        long before = names();
        TriggerResult again = bench.ask("plain").key("K").runId("r").send();
        assertTrue(again.replayed());
        assertEquals(first.run(), again.run());
        assertEquals(before, names());
        assertFalse(bench.ask("plain").key("K").send().replayed());
    }

    @Test
    void the_payload_decides_last() {
        bench.publish(
                "once",
                KeyPolicyBuilder.plain().duplicatePayload(SamePayloadDifferentKeyPolicy.REJECT),
                EngineTestBench.ECHO);
        TriggerResult first = bench.ask("once").key("K").runId("r").input(FIVE).send();
        assertEquals(
                first.run(),
                bench.ask("once").key("K").runId("r").input(FIVE).send().run());
        assertEquals(
                first.run(), bench.ask("once").runId("r").input(FIVE).send().run());
        long before = names();
        SemelException refused =
                bench.ask("once").key("L").runId("s").input(FIVE).refused();
        assertEquals(ErrorCode.DUPLICATE_PAYLOAD, refused.code());
        assertEquals(before, names());
        TriggerResult other = bench.ask("once").key("L").runId("s").input(SIX).send();
        assertFalse(other.replayed());
    }

    @Test
    void a_chosen_id_may_equal_the_id_of_a_generated_run() {
        TriggerResult first = bench.ask("pay").key("K").input(FIVE).send();
        TriggerResult named = bench.ask("pay").runId(first.runId()).input(FIVE).send();
        assertTrue(named.replayed());
        assertEquals(first.run(), named.run());
        assertEquals(
                first.run(),
                bench.ask("pay")
                        .key("K")
                        .runId(first.runId())
                        .input(FIVE)
                        .send()
                        .run());
        SemelException payload =
                bench.ask("pay").runId(first.runId()).input(SIX).refused();
        assertEquals(List.of("amount"), payload.members().get("changed"));
        SemelException workflow = bench.ask("plain").runId(first.runId()).refused();
        assertEquals("workflow", workflow.members().get("reason"));
        assertEquals(1, bench.runs());
    }

    @Test
    void a_chosen_id_that_looks_generated_but_is_unused_is_a_new_run() {
        String looks = "run_0000000000000000000001";
        TriggerResult first = bench.ask("plain").runId(looks).send();
        assertFalse(first.replayed());
        assertEquals(looks, first.runId());
        assertEquals(first.run(), bench.ask("plain").runId(looks).send().run());
        assertEquals(1, bench.runs());
    }

    @Test
    void the_longest_key_and_run_id_work() {
        String key = "k".repeat(255);
        String runId = "r".repeat(128);
        TriggerResult first = bench.ask("plain").key(key).runId(runId).send();
        assertEquals(runId, first.runId());
        assertEquals(
                first.run(), bench.ask("plain").key(key).runId(runId).send().run());
    }
}
