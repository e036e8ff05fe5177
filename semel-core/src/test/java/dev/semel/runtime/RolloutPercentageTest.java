package dev.semel.runtime;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.semel.admission.Trigger;
import dev.semel.admission.TriggerQuota;
import dev.semel.admission.TriggerResult;
import dev.semel.admission.VersionRolloutBucket;
import dev.semel.idempotency.IdempotencyKeyScope;
import dev.semel.policy.SameKeyDifferentPayloadPolicy;
import dev.semel.store.Dialect;
import dev.semel.store.StoreWriteCommand;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.EnumSource;

/** A new version goes to a share of the fresh triggers; a repeat never changes its version. */
@ParameterizedClass
@EnumSource
final class RolloutPercentageTest {
    private static final String DATA = "{\"amount\":5,\"note\":\"a\"}";
    private static final int MANY = 40;

    private final EngineTestBench bench;

    RolloutPercentageTest(Dialect dialect) {
        bench = new EngineTestBench(dialect);
    }

    @AfterEach
    void close() {
        bench.close();
    }

    /** Every way in which a workflow may name its keys, and some in which it may compare them. */
    private static List<Supplier<KeyPolicyBuilder>> policies() {
        return Stream.of(IdempotencyKeyScope.values())
                .<Supplier<KeyPolicyBuilder>>flatMap(scope -> Stream.of(
                        () -> KeyPolicyBuilder.plain().scope(scope),
                        () -> KeyPolicyBuilder.plain().scope(scope).fingerprint("note"),
                        () -> KeyPolicyBuilder.plain()
                                .scope(scope)
                                .fingerprint("amount")
                                .onMismatch(SameKeyDifferentPayloadPolicy.DISTINCT)))
                .toList();
    }

    private TriggerResult ask(String workflow, String key) {
        return bench.ask(workflow).key(key).input(DATA).send();
    }

    /** First asks of many keys; by key, the run of each. */
    private Map<String, TriggerResult> many(String workflow) {
        Map<String, TriggerResult> first = new LinkedHashMap<>();
        for (int i = 0; i < MANY; i++) {
            String key = workflow + " " + i;
            first.put(key, ask(workflow, key));
            assertFalse(first.get(key).replayed(), key);
        }
        return first;
    }

    private void assertRepeats(String when, String workflow, Map<String, TriggerResult> first) {
        long runs = bench.runs();
        first.forEach((key, answer) -> {
            TriggerResult again = ask(workflow, key);
            assertTrue(again.replayed(), when + ": " + key);
            assertFalse(again.payloadMismatch(), when + ": " + key);
            assertEquals(answer.runId(), again.runId(), when + ": " + key);
        });
        assertEquals(runs, bench.runs(), when);
    }

    private void promote(String workflow) {
        assertNotNull(bench.semel()
                .changeOrNull(
                        new StoreWriteCommand.PromoteCandidate(bench.workspace(), "wf_" + workflow, 0, "tester")));
    }

    private void rollback(String workflow, int version) {
        var edit = new StoreWriteCommand.RollBackVersion(bench.workspace(), "wf_" + workflow, version, "tester", "");
        assertNotNull(bench.semel().changeOrNull(edit));
    }

    private long ofVersion(int version, Map<String, TriggerResult> answers) {
        return answers.values().stream()
                .filter(answer -> bench.run(answer.run()).version() == version)
                .count();
    }

    @Test
    void an_honest_retry_keeps_its_run_after_the_candidate_ends() {
        int n = 0;
        for (Supplier<KeyPolicyBuilder> current : policies()) {
            for (Supplier<KeyPolicyBuilder> candidate : policies()) {
                String w = "w" + n++;
                String pair =
                        current.get().build() + " beside " + candidate.get().build();
                bench.publish(w, current.get(), EngineTestBench.ECHO);
                Map<String, TriggerResult> all = new LinkedHashMap<>();
                all.put("before", ask(w, w + "before"));
                bench.stage(w, candidate.get(), EngineTestBench.ECHO, 50);
                Map<String, TriggerResult> during = many(w);
                assertTrue(ofVersion(2, during) > 5 && ofVersion(1, during) > 5, pair);
                assertEquals(all.get("before").runId(), ask(w, w + "before").runId(), pair);
                assertRepeats("beside, " + pair, w, during);
                if (n % 2 == 0) {
                    promote(w);
                    assertRepeats("promoted, " + pair, w, during);
                    rollback(w, 1);
                    assertRepeats("promoted and back, " + pair, w, during);
                } else {
                    rollback(w, 0);
                    assertRepeats("back, " + pair, w, during);
                    bench.stage(w, current.get(), EngineTestBench.ECHO, 30);
                    assertRepeats("another candidate, " + pair, w, during);
                    bench.publish(w, candidate.get(), EngineTestBench.ECHO);
                    assertRepeats("published for all, " + pair, w, during);
                }
                assertEquals(all.get("before").runId(), ask(w, w + "before").runId(), pair);
            }
        }
    }

    @Test
    void a_trigger_concurrent_with_the_end_of_a_candidate_gets_the_same_key() {
        int n = 0;
        for (Supplier<KeyPolicyBuilder> current : policies()) {
            for (Supplier<KeyPolicyBuilder> candidate : policies()) {
                String w = "w" + n++;
                bench.publish(w, current.get(), EngineTestBench.ECHO);
                bench.stage(w, candidate.get(), EngineTestBench.ECHO, 50);
                List<Trigger> late = new ArrayList<>();
                for (int i = 0; i < 8; i++) {
                    late.add(bench.ask(w).key(w + i).input(DATA).trigger());
                }
                if (n % 2 == 0) {
                    promote(w);
                } else {
                    rollback(w, 0);
                }
                int wanted = n % 2 == 0 ? 2 : 1;
                for (int i = 0; i < 8; i++) {
                    TriggerResult first = ask(w, w + i);
                    assertEquals(wanted, bench.run(first.run()).version());
                    TriggerResult second = bench.semel().trigger(late.get(i));
                    assertTrue(second.replayed());
                    assertEquals(first.runId(), second.runId());
                }
            }
        }
    }

    @Test
    void the_rollout_percentage_applies_and_assigned_keys_stay_when_it_grows() {
        TreeSet<String> before = new TreeSet<>();
        for (int share : new int[] {1, 10, 50, 99}) {
            TreeSet<String> in = new TreeSet<>();
            for (int i = 0; i < 2_000; i++) {
                if (VersionRolloutBucket.isInRollout("wf_1 2", "key evt_" + i, share)) {
                    in.add("key evt_" + i);
                }
            }
            assertEquals(share * 20, in.size(), 45, "of 2,000 at " + share + " %");
            assertTrue(in.containsAll(before));
            before = in;
        }
        assertFalse(VersionRolloutBucket.isInRollout("any", "any", 0));
        assertTrue(VersionRolloutBucket.isInRollout("any", "any", 100));
    }

    @Test
    void a_run_executes_the_version_that_it_was_assigned() {
        bench.publish("w", KeyPolicyBuilder.plain(), (_, _) -> dev.semel.json.StrictJsonCodec.parse("1"));
        bench.stage("w", KeyPolicyBuilder.plain(), (_, _) -> dev.semel.json.StrictJsonCodec.parse("2"), 50);
        many("w").forEach((key, answer) -> {
            int version = VersionRolloutBucket.isInRollout("wf_w 2", "key " + key, 50) ? 2 : 1;
            assertEquals(version, bench.run(answer.run()).version(), key);
            assertEquals(version, bench.output(answer.run()).intValue(), key);
        });
    }

    @Test
    void without_a_key_the_run_id_determines_the_rollout_bucket() {
        bench.publish("w", KeyPolicyBuilder.plain(), EngineTestBench.ECHO);
        bench.stage("w", KeyPolicyBuilder.plain(), EngineTestBench.ECHO, 50);
        for (int i = 0; i < MANY; i++) {
            TriggerResult result = bench.ask("w").send();
            int version = VersionRolloutBucket.isInRollout(
                            "wf_w 2", "run " + result.run().text(), 50)
                    ? 2
                    : 1;
            assertEquals(version, bench.run(result.run()).version());
            TriggerResult chosen = bench.ask("w").runId("order-" + i).send();
            int other = VersionRolloutBucket.isInRollout("wf_w 2", "run order-" + i, 50) ? 2 : 1;
            assertEquals(other, bench.run(chosen.run()).version());
            assertEquals(
                    chosen.runId(), bench.ask("w").runId("order-" + i).send().runId());
        }
    }

    @Test
    void a_trigger_is_checked_by_the_version_that_it_was_assigned() {
        bench.publish("w", KeyPolicyBuilder.plain(), EngineTestBench.ECHO);
        bench.stage("w", KeyPolicyBuilder.plain(), EngineTestBench.ECHO, 50);
        Map<String, TriggerResult> first = many("w");
        List<Integer> asked = new ArrayList<>();
        first.keySet().forEach(key -> {
            Trigger trigger = bench.ask("w").key(key).input(DATA).trigger();
            TriggerResult again = bench.semel()
                    .trigger(bench.workspace(), trigger.current(), TriggerQuota.NONE, current -> {
                        asked.add(current.published().version());
                        return trigger.withWorkflow(current);
                    });
            int version = bench.run(again.run()).version();
            assertEquals(version, asked.getLast(), key);
        });
    }
}
