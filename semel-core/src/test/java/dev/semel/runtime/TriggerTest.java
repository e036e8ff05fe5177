package dev.semel.runtime;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.semel.admission.TriggerResult;
import dev.semel.error.ErrorCode;
import dev.semel.error.SemelException;
import dev.semel.idempotency.IdempotencyKeyScope;
import dev.semel.policy.SameKeyDifferentPayloadPolicy;
import dev.semel.policy.SamePayloadDifferentKeyPolicy;
import dev.semel.run.RunState;
import dev.semel.store.DatabaseRows;
import dev.semel.store.Dialect;
import dev.semel.store.Invariants;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.EnumSource;

/** The rows of the contract's table that need no HTTP. */
@ParameterizedClass
@EnumSource
final class TriggerTest {
    private static final String FIVE = "{\"amount\":5,\"note\":\"a\"}";
    private static final String SIX = "{\"amount\":6,\"note\":\"a\"}";

    private final EngineTestBench bench;

    TriggerTest(Dialect dialect) {
        bench = new EngineTestBench(dialect);
        bench.publish("plain", KeyPolicyBuilder.plain(), EngineTestBench.ECHO);
    }

    @AfterEach
    void close() {
        bench.close();
    }

    @Test
    void row_1_without_a_key_every_trigger_is_a_new_run() {
        TriggerResult first = bench.ask("plain").input(FIVE).send();
        TriggerResult second = bench.ask("plain").input(FIVE).send();
        assertNotEquals(first.runId(), second.runId());
        assertFalse(first.replayed() || second.replayed());
        assertEquals(0, first.expiresAt());
        assertEquals(2, bench.semel().count("unkeyed"));
        assertEquals(bench.output(first.run()), bench.output(second.run()));
    }

    @Test
    void row_2_a_new_key_is_a_new_run_with_an_expiry() {
        TriggerResult answer = bench.ask("plain").key("K").input(FIVE).send();
        assertFalse(answer.replayed());
        assertEquals(RunState.STARTED, answer.state());
        assertEquals("wf_plain", answer.workflowId());
        assertEquals(
                bench.fixture.time() + KeyPolicyBuilder.plain().build().window().toNanos() / 1_000, answer.expiresAt());
        assertNull(answer.previousRunId());
        DatabaseRows.RunRow run = bench.ended(answer.run());
        assertEquals("K", run.origin().key());
        assertEquals("tester", run.origin().actor());
        assertEquals("correlation", run.origin().correlationId());
        assertEquals(FIVE, run.input());
    }

    @Test
    void row_3_the_same_action_again_is_the_same_run_in_any_state() throws InterruptedException {
        CountDownLatch go = new CountDownLatch(1);
        bench.publish("slow", KeyPolicyBuilder.plain(), (_, input) -> {
            go.await();
            return input;
        });
        TriggerResult first = bench.ask("slow").key("K").input(FIVE).send();
        TriggerResult running = bench.ask("slow")
                .key("K")
                .input("{ \"note\": \"a\", \"amount\": 5.0 }")
                .send();
        go.countDown();
        bench.ended(first.run());
        TriggerResult completed = bench.ask("slow").key("K").input(FIVE).send();
        for (TriggerResult again : List.of(running, completed)) {
            assertTrue(again.replayed());
            assertFalse(again.payloadMismatch());
            assertEquals(first.runId(), again.runId());
            assertEquals(first.workflowId(), again.workflowId());
            assertEquals(first.expiresAt(), again.expiresAt());
        }
        assertEquals(RunState.STARTED, running.state());
        assertEquals(RunState.COMPLETED, completed.state());
        assertEquals(1, bench.runs());
    }

    @Test
    void row_3_a_failed_run_is_returned_as_failed() {
        bench.publish("fails", KeyPolicyBuilder.plain(), (_, _) -> {
            throw new IllegalStateException("no");
        });
        TriggerResult first = bench.ask("fails").key("K").send();
        bench.ended(first.run());
        TriggerResult again = bench.ask("fails").key("K").send();
        assertTrue(again.replayed());
        assertEquals(RunState.FAILED, again.state());
        assertEquals(first.runId(), again.runId());
    }

    @Test
    void row_4a_another_payload_without_a_fingerprint_is_a_flagged_duplicate() {
        TriggerResult first = bench.ask("plain").key("K").input(FIVE).send();
        TriggerResult other = bench.ask("plain").key("K").input(SIX).send();
        assertTrue(other.replayed());
        assertTrue(other.payloadMismatch());
        assertEquals(List.of("amount"), other.changedFields());
        assertEquals(first.runId(), other.runId());
        assertEquals(1, bench.semel().count("mismatched"));
        assertEquals(1, bench.runs());
    }

    @Test
    void row_4b_a_changed_declared_field_is_rejected_and_others_may_change() {
        bench.publish("pay", KeyPolicyBuilder.plain().fingerprint("amount"), EngineTestBench.ECHO);
        TriggerResult first = bench.ask("pay").key("K").input(FIVE).send();
        SemelException refused = bench.ask("pay").key("K").input(SIX).refused();
        assertEquals(ErrorCode.IDEMPOTENCY_KEY_CONFLICT, refused.code());
        assertEquals(422, refused.code().status());
        assertEquals("payload", refused.members().get("reason"));
        assertEquals(List.of("amount"), refused.members().get("changed"));
        assertEquals(first.runId(), refused.members().get("run_id"));
        assertEquals("K", refused.members().get("idempotency_key"));
        assertTrue(refused.detail().contains("No run was started"), refused.detail());
        assertFalse(String.valueOf(refused.getMessage()).contains("6"), "never a value: " + refused.getMessage());
        TriggerResult noise = bench.ask("pay")
                .key("K")
                .input("{\"amount\":5,\"note\":\"other\"}")
                .send();
        assertTrue(noise.replayed());
        assertFalse(noise.payloadMismatch());
        assertEquals(1, bench.runs());
    }

    @Test
    void row_4b_a_strict_caller_gets_a_conflict_instead_of_a_duplicate() {
        bench.ask("plain").key("K").input(FIVE).send();
        SemelException refused = bench.ask("plain").key("K").input(SIX).strict().refused();
        assertEquals(ErrorCode.IDEMPOTENCY_KEY_CONFLICT, refused.code());
        assertEquals(List.of("amount"), refused.members().get("changed"));
        assertTrue(bench.ask("plain").key("K").input(FIVE).strict().send().replayed());
    }

    @Test
    void row_4c_with_distinct_another_payload_is_another_run() {
        bench.publish(
                "notify",
                KeyPolicyBuilder.plain().onMismatch(SameKeyDifferentPayloadPolicy.DISTINCT),
                EngineTestBench.ECHO);
        TriggerResult first = bench.ask("notify").key("K").input(FIVE).send();
        TriggerResult other = bench.ask("notify").key("K").input(SIX).send();
        assertFalse(other.replayed());
        assertNotEquals(first.runId(), other.runId());
        assertEquals(
                first.runId(), bench.ask("notify").key("K").input(FIVE).send().runId());
        assertEquals(
                other.runId(), bench.ask("notify").key("K").input(SIX).send().runId());
        assertEquals(2, bench.runs());
    }

    @Test
    void row_5_a_key_of_another_workflow_is_rejected() {
        bench.publish("other", KeyPolicyBuilder.plain(), EngineTestBench.ECHO);
        TriggerResult first = bench.ask("plain").key("K").send();
        SemelException refused = bench.ask("other").key("K").refused();
        assertEquals(422, refused.code().status());
        assertEquals("workflow", refused.members().get("reason"));
        assertEquals(first.runId(), refused.members().get("run_id"));
        assertTrue(refused.fix().contains("scope: workflow"), refused.fix());
    }

    @Test
    void row_5_keys_scoped_to_a_workflow_do_not_collide() {
        bench.publish("a", KeyPolicyBuilder.plain().scope(IdempotencyKeyScope.WORKFLOW), EngineTestBench.ECHO);
        bench.publish("b", KeyPolicyBuilder.plain().scope(IdempotencyKeyScope.WORKFLOW), EngineTestBench.ECHO);
        TriggerResult a = bench.ask("a").key("K").send();
        TriggerResult b = bench.ask("b").key("K").send();
        TriggerResult plain = bench.ask("plain").key("K").send();
        assertFalse(a.replayed() || b.replayed() || plain.replayed());
        assertEquals(a.runId(), bench.ask("a").key("K").send().runId());
        assertEquals(b.runId(), bench.ask("b").key("K").send().runId());
        assertEquals(plain.runId(), bench.ask("plain").key("K").send().runId());
        assertEquals(3, bench.runs());
    }

    @Test
    void row_10_the_same_payload_under_another_key_is_rejected_if_the_workflow_says_so() {
        bench.publish(
                "once",
                KeyPolicyBuilder.plain().duplicatePayload(SamePayloadDifferentKeyPolicy.REJECT),
                EngineTestBench.ECHO);
        TriggerResult first = bench.ask("once").key("K1").input(FIVE).send();
        SemelException refused = bench.ask("once").key("K2").input(FIVE).refused();
        assertEquals(ErrorCode.DUPLICATE_PAYLOAD, refused.code());
        assertFalse(refused.code().retryable());
        assertEquals(first.runId(), refused.members().get("run_id"));
        assertEquals(
                ErrorCode.DUPLICATE_PAYLOAD,
                bench.ask("once").input(FIVE).refused().code());
        assertTrue(bench.ask("once").key("K1").input(FIVE).send().replayed(), "the same key is a plain repeat");
        assertFalse(bench.ask("once").key("K2").input(SIX).send().replayed(), "the refusal left the key free");
        assertEquals(2, bench.runs());
    }

    @Test
    void row_10_a_flagged_duplicate_is_a_run_that_names_the_original() {
        bench.publish(
                "flag",
                KeyPolicyBuilder.plain().duplicatePayload(SamePayloadDifferentKeyPolicy.FLAG),
                EngineTestBench.ECHO);
        TriggerResult first = bench.ask("flag").key("K1").input(FIVE).send();
        TriggerResult second = bench.ask("flag").key("K2").input(FIVE).send();
        assertNull(first.duplicateOf());
        assertFalse(second.replayed());
        assertEquals(first.runId(), second.duplicateOf());
        assertNull(second.previousRunId());
        assertEquals(first.run(), bench.run(second.run()).duplicateOf());
    }

    @Test
    void a_known_key_returns_before_quota_and_schema_checks() {
        Runnable refuse = () -> {
            throw new SemelException(ErrorCode.OVER_QUOTA, "Over quota. No run was started.", "Wait.");
        };
        assertThrows(
                SemelException.class,
                () -> bench.ask("plain").key("K").freshOnly(refuse).send());
        TriggerResult first = bench.ask("plain").key("K").send();
        assertFalse(first.replayed(), "the refusal left the key free");
        assertEquals(
                first.runId(),
                bench.ask("plain").key("K").freshOnly(refuse).send().runId());
        assertEquals(1, bench.runs());
        Invariants.oneRunPerLiveKey(bench.fixture);
    }

    @Test
    void two_workspaces_use_the_same_key_independently() {
        TriggerResult here = bench.ask("plain").key("K").send();
        DatabaseRows.WorkspaceRow other =
                bench.semel().change(new dev.semel.store.StoreWriteCommand.CreateWorkspace("other", new byte[32]));
        assertNull(bench.semel().workflow(other.ws(), "plain"));
        assertNull(bench.semel().workflow(other.ws(), "wf_plain"));
        assertNull(bench.semel().view(reads -> reads.run(other.ws(), here.run())));
    }
}
