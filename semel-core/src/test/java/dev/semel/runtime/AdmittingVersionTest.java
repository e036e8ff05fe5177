package dev.semel.runtime;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.semel.admission.Trigger;
import dev.semel.admission.TriggerQuota;
import dev.semel.admission.TriggerResult;
import dev.semel.error.ErrorCode;
import dev.semel.error.SemelException;
import dev.semel.idempotency.IdempotencyKeyScope;
import dev.semel.policy.SameKeyDifferentPayloadPolicy;
import dev.semel.store.Dialect;
import java.util.List;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.EnumSource;

/** A known key is judged by the version that admitted it, whatever was published since. */
@ParameterizedClass
@EnumSource
final class AdmittingVersionTest {
    private static final String FIVE = "{\"amount\":5,\"note\":\"a\"}";
    private static final String OTHER_NOTE = "{\"amount\":5,\"note\":\"b\"}";
    private static final String SIX = "{\"amount\":6,\"note\":\"a\"}";

    private final EngineTestBench bench;

    AdmittingVersionTest(Dialect dialect) {
        bench = new EngineTestBench(dialect);
    }

    @AfterEach
    void close() {
        bench.close();
    }

    /** Every way in which a workflow may name and compare its keys. */
    private static List<Supplier<KeyPolicyBuilder>> policies() {
        return Stream.of(IdempotencyKeyScope.values())
                .<Supplier<KeyPolicyBuilder>>flatMap(scope -> Stream.of(
                        () -> KeyPolicyBuilder.plain().scope(scope),
                        () -> KeyPolicyBuilder.plain().scope(scope).fingerprint("amount"),
                        () -> KeyPolicyBuilder.plain().scope(scope).fingerprint("note"),
                        () -> KeyPolicyBuilder.plain().scope(scope).onMismatch(SameKeyDifferentPayloadPolicy.REJECT),
                        () -> KeyPolicyBuilder.plain().scope(scope).onMismatch(SameKeyDifferentPayloadPolicy.DISTINCT),
                        () -> KeyPolicyBuilder.plain()
                                .scope(scope)
                                .fingerprint("amount")
                                .onMismatch(SameKeyDifferentPayloadPolicy.DISTINCT),
                        () -> KeyPolicyBuilder.plain()
                                .scope(scope)
                                .fingerprint("note")
                                .onMismatch(SameKeyDifferentPayloadPolicy.DISTINCT)))
                .toList();
    }

    @Test
    void an_honest_retry_after_any_publish_is_the_original_run() {
        int n = 0;
        for (Supplier<KeyPolicyBuilder> before : policies()) {
            for (Supplier<KeyPolicyBuilder> after : policies()) {
                String workflow = "w" + n;
                String key = "K" + n++;
                bench.publish(workflow, before.get(), EngineTestBench.ECHO);
                TriggerResult first = bench.ask(workflow).key(key).input(FIVE).send();
                bench.publish(workflow, after.get(), EngineTestBench.ECHO);
                TriggerResult retry = bench.ask(workflow).key(key).input(FIVE).send();
                String pair =
                        n + ": " + before.get().build() + " then " + after.get().build();
                assertTrue(retry.replayed(), pair);
                assertFalse(retry.payloadMismatch(), pair);
                assertEquals(first.runId(), retry.runId(), pair);
            }
        }
        assertEquals(n, bench.runs());
    }

    @Test
    void an_honest_retry_after_many_publishes_is_the_original_run() {
        bench.publish("w", policies().getFirst().get(), EngineTestBench.ECHO);
        TriggerResult first = bench.ask("w").key("K").input(FIVE).send();
        for (Supplier<KeyPolicyBuilder> policy : policies()) {
            bench.publish("w", policy.get(), EngineTestBench.ECHO);
            assertEquals(
                    first.runId(), bench.ask("w").key("K").input(FIVE).send().runId());
        }
        assertEquals(1, bench.runs());
    }

    @Test
    void the_admitting_version_decides_what_is_a_conflict() {
        bench.publish("w", KeyPolicyBuilder.plain().fingerprint("amount"), EngineTestBench.ECHO);
        TriggerResult first = bench.ask("w").key("K").input(FIVE).send();
        bench.publish("w", KeyPolicyBuilder.plain().fingerprint("note"), EngineTestBench.ECHO);
        assertEquals(
                first.runId(), bench.ask("w").key("K").input(OTHER_NOTE).send().runId());
        assertEquals(
                ErrorCode.IDEMPOTENCY_KEY_CONFLICT,
                bench.ask("w").key("K").input(SIX).refused().code());

        TriggerResult second = bench.ask("w").key("L").input(FIVE).send();
        assertEquals(second.runId(), bench.ask("w").key("L").input(SIX).send().runId());
        assertEquals(
                ErrorCode.IDEMPOTENCY_KEY_CONFLICT,
                bench.ask("w").key("L").input(OTHER_NOTE).refused().code());
    }

    @Test
    void a_trigger_concurrent_with_a_publish_is_found_by_its_new_key() {
        int n = 0;
        for (Supplier<KeyPolicyBuilder> before : policies()) {
            for (Supplier<KeyPolicyBuilder> after : policies()) {
                String workflow = "w" + n;
                String key = "K" + n++;
                bench.publish(workflow, before.get(), EngineTestBench.ECHO);
                Trigger late = bench.ask(workflow).key(key).input(FIVE).trigger();
                bench.publish(workflow, after.get(), EngineTestBench.ECHO);
                TriggerResult first = bench.ask(workflow).key(key).input(FIVE).send();
                TriggerResult second = bench.semel().trigger(late);
                String pair =
                        n + ": " + before.get().build() + " then " + after.get().build();
                assertTrue(second.replayed(), pair);
                assertEquals(first.runId(), second.runId(), pair);
            }
        }
        assertEquals(n, bench.runs());
    }

    @Test
    void a_fresh_trigger_concurrent_with_a_publish_runs_the_new_version() {
        bench.publish("w", KeyPolicyBuilder.plain(), (_, _) -> dev.semel.json.StrictJsonCodec.parse("1"));
        Trigger late = bench.ask("w").key("K").trigger();
        bench.publish("w", KeyPolicyBuilder.plain(), (_, _) -> dev.semel.json.StrictJsonCodec.parse("2"));
        TriggerResult answer = bench.semel().trigger(late);
        assertFalse(answer.replayed());
        assertEquals(2, bench.run(answer.run()).version());
        assertEquals(2, bench.output(answer.run()).intValue());
    }

    @Test
    void a_rejection_by_an_outdated_version_is_ignored() {
        bench.publish("a", KeyPolicyBuilder.plain(), EngineTestBench.ECHO);
        bench.publish("w", KeyPolicyBuilder.plain(), EngineTestBench.ECHO);
        bench.ask("a").key("K").send();
        TriggerBuilder limited = bench.ask("w").key("K").freshOnly(() -> {});
        Trigger late = limited.trigger();
        bench.publish("w", KeyPolicyBuilder.plain().scope(IdempotencyKeyScope.WORKFLOW), EngineTestBench.ECHO);
        assertFalse(limited.send(bench.semel(), late).replayed(), "workspace-wide it would be a conflict");
        assertEquals(0, bench.semel().count("conflicts"));

        for (boolean early : new boolean[] {true, false}) {
            Trigger trigger = bench.ask("w").key("early " + early).trigger();
            int version = trigger.workflow().version();
            bench.publish("w", KeyPolicyBuilder.plain(), EngineTestBench.ECHO);
            TriggerResult answer = bench.semel()
                    .trigger(bench.workspace(), trigger.current(), TriggerQuota.NONE, current -> {
                        SemelException rejection = current.published().version() == version
                                ? new SemelException(ErrorCode.INVALID_INPUT, "by the old version", "")
                                : null;
                        if (early && rejection != null) {
                            throw rejection;
                        }
                        return bench.ask("w")
                                .key("early " + early)
                                .rejection(rejection)
                                .trigger()
                                .withWorkflow(current);
                    });
            assertFalse(answer.replayed());
        }
    }

    @Test
    void a_rejection_by_the_current_version_applies() {
        bench.publish("w", KeyPolicyBuilder.plain(), EngineTestBench.ECHO);
        SemelException refusal = new SemelException(ErrorCode.INVALID_INPUT, "by the current version", "");
        Trigger trigger = bench.ask("w").key("K").trigger();
        assertSame(
                refusal,
                assertThrows(
                        SemelException.class,
                        () -> bench.semel().trigger(1, trigger.current(), TriggerQuota.NONE, _ -> {
                            throw refusal;
                        })));
    }

    @Test
    void a_workflow_published_without_pause_returns_a_retryable_error() {
        bench.publish("w", KeyPolicyBuilder.plain(), EngineTestBench.ECHO);
        Trigger trigger = bench.ask("w").key("K").trigger();
        SemelException refused = assertThrows(
                SemelException.class,
                () -> bench.semel().trigger(bench.workspace(), trigger.current(), TriggerQuota.NONE, current -> {
                    bench.publish("w", KeyPolicyBuilder.plain(), EngineTestBench.ECHO);
                    return trigger.withWorkflow(current);
                }));
        assertTrue(refused.code().retryable());
        assertEquals(0, bench.runs());
    }

    @Test
    void a_window_stays_as_it_was_when_the_key_was_admitted() {
        bench.publish("w", KeyPolicyBuilder.plain().window(java.time.Duration.ofHours(2)), EngineTestBench.ECHO);
        TriggerResult first = bench.ask("w").key("K").send();
        bench.ended(first.run());
        bench.publish("w", KeyPolicyBuilder.plain().window(java.time.Duration.ofMinutes(1)), EngineTestBench.ECHO);
        bench.fixture.advance(java.time.Duration.ofHours(1));
        assertEquals(first.runId(), bench.ask("w").key("K").send().runId());
    }

    @Test
    void a_key_of_another_workflow_in_an_older_scope_is_no_repeat() {
        bench.publish("a", KeyPolicyBuilder.plain(), EngineTestBench.ECHO);
        bench.publish("b", KeyPolicyBuilder.plain(), EngineTestBench.ECHO);
        bench.ask("a").key("K").send();
        bench.publish("b", KeyPolicyBuilder.plain().scope(IdempotencyKeyScope.WORKFLOW), EngineTestBench.ECHO);
        assertFalse(bench.ask("b").key("K").send().replayed());
        assertEquals(2, bench.runs());
    }

    @Test
    void a_run_continues_with_the_version_that_admitted_it() {
        bench.publish("w", KeyPolicyBuilder.plain(), (_, _) -> dev.semel.json.StrictJsonCodec.parse("1"));
        TriggerResult first = bench.ask("w").key("K").send();
        bench.publish("w", KeyPolicyBuilder.plain(), (_, _) -> dev.semel.json.StrictJsonCodec.parse("2"));
        TriggerResult second = bench.ask("w").key("L").send();
        assertEquals(1, bench.output(first.run()).intValue());
        assertEquals(2, bench.output(second.run()).intValue());
        assertEquals(1, bench.run(first.run()).version());
        assertEquals(2, bench.run(second.run()).version());
    }
}
