package dev.semel.engine.timer;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import dev.semel.admission.TriggerResult;
import dev.semel.admission.TriggerSource;
import dev.semel.engine.EngineLimits;
import dev.semel.engine.step.RunExecutionAbort;
import dev.semel.journal.JournalCodec;
import dev.semel.journal.JournalEntry;
import dev.semel.json.StrictJsonCodec;
import dev.semel.run.RunId;
import dev.semel.run.RunState;
import dev.semel.runtime.EngineTestBench;
import dev.semel.runtime.KeyPolicyBuilder;
import dev.semel.store.Await;
import dev.semel.store.CommitBatch;
import dev.semel.store.Dialect;
import dev.semel.store.NewRun;
import dev.semel.store.StoreWrite;
import dev.semel.store.WorkerLeases;
import dev.semel.store.WorkflowStore;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicIntegerArray;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import tools.jackson.databind.node.IntNode;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;
import tools.jackson.databind.node.StringNode;

/** Runs go on after their worker is gone, and a recorded step never runs again. */
final class RecoveryTest {
    private static final int STEPS = 40;
    private static final int CHUNK = EngineLimits.DEFAULT.bufferedEntries();

    /** Forty steps that count themselves; halts once before the step, as a process does that is killed there. */
    private static dev.semel.definition.WorkflowBody counting(
            AtomicIntegerArray times, int haltBefore, CountDownLatch halted) {
        AtomicBoolean first = new AtomicBoolean(true);
        return (context, _) -> {
            int sum = 0;
            for (int i = 0; i < STEPS; i++) {
                if (i == haltBefore && first.getAndSet(false)) {
                    context.awaitDurable();
                    halted.countDown();
                    throw new RunExecutionAbort.OwnershipLost();
                }
                int n = i;
                sum += context.step("step " + i, () -> {
                            times.incrementAndGet(n);
                            return IntNode.valueOf(n);
                        })
                        .intValue();
            }
            return IntNode.valueOf(sum);
        };
    }

    @ParameterizedTest
    @EnumSource
    void a_cold_start_continues_after_the_last_recorded_step(Dialect dialect) throws InterruptedException {
        for (int haltBefore : new int[] {0, 1, CHUNK, CHUNK + 1, 35, STEPS - 1}) {
            AtomicIntegerArray times = new AtomicIntegerArray(STEPS);
            CountDownLatch halted = new CountDownLatch(1);
            try (EngineTestBench bench = new EngineTestBench(dialect)) {
                bench.publish("steps", KeyPolicyBuilder.plain(), counting(times, haltBefore, halted));
                TriggerResult answer = bench.ask("steps").key("K").send();
                halted.await();
                assertFalse(bench.run(answer.run()).state().hasEnded());
                bench.restart();
                assertEquals(STEPS * (STEPS - 1) / 2, bench.output(answer.run()).intValue());
                for (int i = 0; i < STEPS; i++) {
                    assertEquals(1, times.get(i), "step " + i + ", halted before " + haltBefore);
                }
                assertEquals(1, bench.fixture.count("semel_finished_run"));
            }
        }
    }

    @ParameterizedTest
    @EnumSource
    void a_run_that_was_never_started_is_started_by_the_next_worker(Dialect dialect) {
        try (EngineTestBench bench = new EngineTestBench(dialect, EngineLimits.DEFAULT.withActiveRuns(1))) {
            CountDownLatch go = new CountDownLatch(1);
            bench.publish("slow", KeyPolicyBuilder.plain(), (_, input) -> {
                go.await();
                return input;
            });
            bench.publish("plain", KeyPolicyBuilder.plain(), EngineTestBench.ECHO);
            TriggerResult first = bench.ask("slow").key("K").send();
            TriggerResult second = bench.ask("plain").key("L").send();
            assertEquals(
                    0,
                    java.util.Objects.requireNonNull(bench.run(second.run()).progress())
                            .claims(),
                    "there was room for one");
            go.countDown();
            bench.ended(first.run());
            assertEquals(RunState.COMPLETED, bench.ended(second.run()).state());
        }
    }

    @ParameterizedTest
    @EnumSource
    void a_worker_with_little_capacity_runs_every_run(Dialect dialect) {
        try (EngineTestBench bench = new EngineTestBench(dialect, EngineLimits.DEFAULT.withActiveRuns(2))) {
            bench.publish("plain", KeyPolicyBuilder.plain(), (context, input) -> context.step("one", () -> input));
            for (int i = 0; i < 60; i++) {
                bench.ask("plain").send();
            }
            Await.until("all runs have ended", () -> bench.fixture.count("semel_finished_run") == 60);
        }
    }

    @ParameterizedTest
    @EnumSource
    void an_unreadable_run_delays_no_other(Dialect dialect) throws Exception {
        CountDownLatch halted = new CountDownLatch(2);
        AtomicBoolean halts = new AtomicBoolean(true);
        EngineLimits limits =
                EngineLimits.DEFAULT.withLease(Duration.ofMinutes(5)); // it outlives what is skipped below
        try (EngineTestBench bench = new EngineTestBench(dialect, limits)) {
            dev.semel.definition.WorkflowBody body = (_, input) -> {
                if (halts.get()) {
                    halted.countDown();
                    throw new RunExecutionAbort.OwnershipLost();
                }
                return input;
            };
            bench.publish("fine", KeyPolicyBuilder.plain(), body);
            bench.publish("odd", KeyPolicyBuilder.plain(), body);
            TriggerResult odd = bench.ask("odd").send();
            TriggerResult fine = bench.ask("fine").send();
            halted.await();
            bench.stop(bench.semel());
            halts.set(false); // only now: the stopped worker must not complete the run
            try (AutoCloseable _ = bench.forget("odd")) {
                bench.start();
                assertEquals(RunState.COMPLETED, bench.ended(fine.run()).state());
                assertFalse(bench.run(odd.run()).state().hasEnded());
            }
            bench.skip(
                    Duration.ofSeconds(31)); // after half a minute a worker looks again for runs that it does not drive
            assertEquals(RunState.COMPLETED, bench.ended(odd.run()).state(), "once it can be read it goes on");
        }
    }

    @ParameterizedTest
    @EnumSource
    void a_result_is_recorded_as_it_was_when_its_step_ended(Dialect dialect) throws InterruptedException {
        CountDownLatch halted = new CountDownLatch(1);
        try (EngineTestBench bench = new EngineTestBench(dialect)) {
            bench.publish("changes", KeyPolicyBuilder.plain(), (context, _) -> {
                ObjectNode cart = (ObjectNode) context.step(
                        "cart", () -> JsonNodeFactory.instance.objectNode().put("items", 1));
                cart.put("items", cart.get("items").intValue() + 1); // the body's own business
                for (int i = 0; i < CHUNK; i++) {
                    context.step("step " + i, () -> IntNode.valueOf(0));
                }
                if (halted.getCount() > 0) {
                    halted.countDown();
                    throw new RunExecutionAbort.OwnershipLost();
                }
                return cart;
            });
            TriggerResult answer = bench.ask("changes").send();
            halted.await();
            bench.restart();
            assertEquals(StrictJsonCodec.parse("{\"items\":2}"), bench.output(answer.run()));
        }
    }

    /** A worker that died: it has a lease and a run with one recorded step, and renews nothing. */
    private static RunId dying(EngineTestBench bench, WorkflowStore store, long ttlMicros) {
        long lease = 4711;
        try (WorkerLeases leases = store.openLeases();
                WorkflowStore.BatchWriter lane = store.openLane()) {
            leases.start(lease, "dead", 1, ttlMicros);
            var run = new NewRun(
                    new RunId(1, 1),
                    bench.workspace(),
                    null,
                    "wf_steps",
                    1,
                    RunState.STARTED,
                    new NewRun.TriggerOrigin(TriggerSource.LIBRARY, "actor", null, null),
                    "{}",
                    new byte[0],
                    NewRun.RunParentage.NONE,
                    null);
            var hold = new CommitBatch.LeaseSlot(lease, 0);
            long change = bench.fixture.number("SELECT revision FROM semel_catalog");
            lane.apply(new CommitBatch(hold, List.of(new StoreWrite.AdmitRun(run, List.of(), true, change))));
            String entries = JournalCodec.encode(List.of(JournalEntry.StepResult.plain(
                    "one", JournalEntry.EntryKind.STEP, 1, StringNode.valueOf("recorded"))));
            lane.apply(new CommitBatch(
                    hold,
                    List.of(new StoreWrite.AppendJournal(
                            new StoreWrite.RunExecution(run.id(), 1), 0, entries, RunState.RUNNING, List.of(), null))));
            return run.id();
        }
    }

    @Test
    void the_runs_of_a_dead_worker_are_taken_over_and_completed() {
        EngineLimits limits = EngineLimits.DEFAULT.withLease(Duration.ofSeconds(1));
        try (EngineTestBench bench = new EngineTestBench(Dialect.POSTGRES, limits);
                WorkflowStore store = bench.fixture.store()) {
            bench.publish("steps", KeyPolicyBuilder.plain(), (context, _) -> {
                var one = context.step("one", () -> StringNode.valueOf("ran again"));
                return context.step("two", () -> StringNode.valueOf(one.stringValue() + ", then two"));
            });
            RunId run = dying(bench, store, Duration.ofSeconds(60).toNanos() / 1_000);
            assertEquals(RunState.RUNNING, bench.run(run).state());
            bench.fixture.advance(Duration.ofSeconds(61));
            assertEquals("recorded, then two", bench.output(run).stringValue());
            assertEquals(1, bench.semel().count("takeovers"));
        }
    }

    @Test
    void an_execution_whose_run_has_a_new_owner_records_nothing() throws InterruptedException {
        CountDownLatch executed = new CountDownLatch(1);
        CountDownLatch go = new CountDownLatch(1);
        AtomicInteger executions = new AtomicInteger();
        try (EngineTestBench bench = new EngineTestBench(Dialect.POSTGRES)) {
            bench.publish("slow", KeyPolicyBuilder.plain(), (_, _) -> {
                int n = executions.incrementAndGet();
                executed.countDown();
                go.await();
                return IntNode.valueOf(n);
            });
            TriggerResult answer = bench.ask("slow").send();
            executed.await();
            bench.fixture.execute(
                    "INSERT INTO semel_lease (lease, worker, started_at, expires_at) SELECT 4712, 'other', 0,"
                            + " max(expires_at) + 1000000000 FROM semel_lease");
            bench.fixture.execute("UPDATE semel_unfinished_run SET owner = 4712");
            go.countDown();
            bench.restart(); // waits for the execution that was fenced
            assertEquals(RunState.STARTED, bench.run(answer.run()).state());
            assertEquals(0, bench.fixture.count("semel_finished_run"));
            bench.fixture.advance(Duration.ofHours(1));
            bench.restart();
            assertEquals(2, bench.output(answer.run()).intValue());
        }
    }
}
