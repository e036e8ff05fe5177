package dev.semel.runtime;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.semel.RunStatus;
import dev.semel.engine.ClockAndRandomSource;
import dev.semel.error.HttpStatusException;
import dev.semel.error.SemelException;
import dev.semel.error.StepFailed;
import dev.semel.json.StrictJsonCodec;
import dev.semel.policy.SameKeyDifferentPayloadPolicy;
import dev.semel.store.Await;
import dev.semel.workflow.Context;
import dev.semel.workflow.Key;
import dev.semel.workflow.Signal;
import dev.semel.workflow.Start;
import dev.semel.workflow.Workflow;
import dev.semel.workflow.WorkflowBuilder;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;

/** Gates that meet: a wait for quiet in front of a queue, and a run that would wait behind the one that called it. */
final class ConcurrencyControlTest extends SqliteTestBase {
    private static final Signal<String> GO = Signal.of("go", String.class);

    private final ManualClock clock = ManualClock.startingNow();

    @Override
    protected ClockAndRandomSource ambient() {
        return clock.ambient();
    }

    record Change(String cart, String customer, int n) {}

    private static WorkflowBuilder<Change, Integer> carts() {
        return Workflow.define("carts", Change.class, Integer.class)
                .debounce(Change::cart, Duration.ofSeconds(30), Duration.ofMinutes(10));
    }

    @Test
    void a_debounced_run_does_not_absorb_a_trigger_for_another_entity() {
        Workflow<Change, Integer> flow = carts().serialBy(Change::customer).body((ctx, change) -> {
            ctx.await(GO);
            return change.n();
        });
        semel.register(flow);
        RunHandle<Integer> ann = semel.start(flow, new Change("c-1", "ann", 1));
        RunHandle<Integer> bob = semel.start(flow, new Change("c-1", "bob", 2));
        assertNotEquals(ann.id(), bob.id(), "its place is in another queue");
        assertEquals(ann.id(), semel.start(flow, new Change("c-1", "ann", 3)).id(), "each is quiet for itself");
        assertEquals(bob.id(), semel.start(flow, new Change("c-1", "bob", 4)).id());
        clock.advance(Duration.ofSeconds(31));
        untilWaiting(ann, "signal");
        untilWaiting(bob, "signal");
        RunHandle<Integer> next = semel.start(flow, new Change("c-2", "bob", 5));
        clock.advance(Duration.ofSeconds(31));
        assertEquals(RunStatus.QUEUED, next.status(), "runs of one entity do not overlap");
        bob.signal(GO, "", Key.of("k"));
        assertEquals(4, bob.result(SOON), "the newest input of its own entity");
        untilWaiting(next, "signal");
        ann.signal(GO, "", Key.of("k"));
        assertEquals(3, ann.result(SOON));
    }

    @Test
    void a_debounced_run_does_not_absorb_a_trigger_under_another_rate() {
        Workflow<Change, Integer> flow =
                carts().rateLimit(Change::customer, 1, Duration.ofMinutes(5)).body((_, change) -> change.n());
        semel.register(flow);
        RunHandle<Integer> ann = semel.start(flow, new Change("c-1", "ann", 1));
        RunHandle<Integer> bob = semel.start(flow, new Change("c-1", "bob", 2));
        assertNotEquals(ann.id(), bob.id());
        assertEquals(ann.id(), semel.start(flow, new Change("c-1", "ann", 3)).id());
        clock.advance(Duration.ofSeconds(31));
        assertEquals(3, ann.result(SOON));
        assertEquals(2, bob.result(SOON));
    }

    private void callsItself(Workflow<String, String> flow) {
        semel.register(flow);
        RunHandle<String> run = semel.start(flow, "x");
        StepFailed failed = failure(run);
        says(failed, "wait");
        assertEquals("waits-for-itself", failed.reason());
        assertEquals(RunStatus.FAILED, run.status());
    }

    @Test
    void a_serial_workflow_that_calls_itself_for_the_same_entity_fails() {
        List<Workflow<String, String>> self = new ArrayList<>();
        self.add(Workflow.define("serial", String.class, String.class)
                .serialBy(in -> in)
                .body((ctx, in) -> ctx.call(self.getFirst(), in)));
        callsItself(self.getFirst());
    }

    @Test
    void a_serial_workflow_that_calls_itself_for_another_entity_continues() {
        List<Workflow<String, String>> self = new ArrayList<>();
        self.add(Workflow.define("serial", String.class, String.class)
                .serialBy(in -> in)
                .body((ctx, in) -> in.length() > 2 ? in : ctx.call(self.getFirst(), in + "x")));
        semel.register(self.getFirst());
        assertEquals("xxx", semel.start(self.getFirst(), "x").result(SOON));
    }

    @Test
    void a_limited_workflow_that_calls_itself_indirectly_fails_even_with_free_capacity() {
        List<Workflow<String, String>> self = new ArrayList<>();
        Workflow<String, String> between =
                Workflow.define("between", String.class, String.class).body((ctx, in) -> ctx.call(self.getFirst(), in));
        self.add(Workflow.define("bounded", String.class, String.class)
                .maxConcurrent(2)
                .body((ctx, in) -> ctx.call(between, in)));
        semel.register(between);
        callsItself(self.getFirst());
    }

    @Test
    void a_run_that_calls_itself_by_its_own_key_fails() {
        List<Workflow<String, String>> self = new ArrayList<>();
        Workflow<String, String> between = Workflow.define("between", String.class, String.class)
                .body((ctx, in) -> ctx.call(self.getFirst(), in, Start.withKey("mine")));
        self.add(Workflow.define("looping", String.class, String.class).body((ctx, in) -> ctx.call(between, in)));
        semel.register(between, self.getFirst());
        RunHandle<String> run = semel.start(self.getFirst(), "x", Start.withKey("mine"));
        assertEquals("waits-for-itself", failure(run).reason());
        Await.until("nothing is left", () -> residents() == 0);
    }

    @Test
    void a_delayed_run_takes_no_place_before_it_is_due() {
        Workflow<String, String> flow = Workflow.define("bounded", String.class, String.class)
                .maxConcurrent(1)
                .body((_, in) -> in);
        semel.register(flow);
        RunHandle<String> later = semel.start(flow, "later", Start.fresh().delay(Duration.ofHours(1)));
        assertEquals("now", semel.start(flow, "now").result(SOON));
        assertEquals(RunStatus.QUEUED, later.status());
        clock.advance(Duration.ofHours(1));
        assertEquals("later", later.result(SOON));
    }

    @Test
    void a_delayed_run_waits_for_a_place_when_it_is_due() {
        Workflow<String, String> flow = Workflow.define("bounded", String.class, String.class)
                .maxConcurrent(1)
                .body((ctx, in) -> ctx.await(GO));
        semel.register(flow);
        RunHandle<String> later = semel.start(flow, "later", Start.fresh().delay(Duration.ofHours(1)));
        RunHandle<String> now = semel.start(flow, "now");
        untilWaiting(now, "signal");
        clock.advance(Duration.ofHours(1));
        Await.until("it queues", () -> String.valueOf(later.waitingFor()).contains("queue"));
        now.signal(GO, "1", Key.of("k"));
        assertEquals("1", now.result(SOON));
        untilWaiting(later, "signal");
        later.signal(GO, "2", Key.of("k"));
        assertEquals("2", later.result(SOON));
    }

    @Test
    void a_run_that_waits_for_its_entity_takes_no_place() {
        Workflow<String, String> flow = Workflow.define("bounded", String.class, String.class)
                .serialBy(in -> in)
                .maxConcurrent(2)
                .body((ctx, in) -> ctx.await(GO));
        semel.register(flow);
        RunHandle<String> ann = semel.start(flow, "ann");
        RunHandle<String> next = semel.start(flow, "ann");
        RunHandle<String> bob = semel.start(flow, "bob");
        untilWaiting(ann, "signal");
        untilWaiting(bob, "signal");
        assertEquals(RunStatus.QUEUED, next.status());
        ann.signal(GO, "1", Key.of("k"));
        untilWaiting(next, "signal");
        for (RunHandle<String> run : List.of(next, bob)) {
            run.signal(GO, "2", Key.of("k"));
            assertEquals("2", run.result(SOON));
        }
    }

    @Test
    void a_raised_limit_starts_runs_that_are_already_queued() {
        semel.register(bounded(1));
        List<RunHandle<String>> runs = new ArrayList<>();
        for (int i = 0; i < 4; i++) {
            runs.add(semel.start(bounded(1), "x"));
        }
        untilWaiting(runs.getFirst(), "signal");
        assertEquals(RunStatus.QUEUED, runs.get(1).status());
        semel.register(bounded(3));
        untilWaiting(runs.get(1), "signal");
        untilWaiting(runs.get(2), "signal");
        assertEquals(RunStatus.QUEUED, runs.get(3).status());
        for (RunHandle<String> run : runs) {
            untilWaiting(run, "signal");
            run.signal(GO, "done", Key.of("k"));
            assertEquals("done", run.result(SOON));
        }
    }

    private static Workflow<String, String> bounded(int most) {
        return Workflow.define("bounded", String.class, String.class)
                .maxConcurrent(most)
                .body((ctx, in) -> ctx.await(GO));
    }

    @Test
    void a_conflict_after_a_debounce_names_the_fields_that_differ_from_the_trigger_of_its_key() {
        Workflow<Change, Integer> flow =
                carts().onMismatch(SameKeyDifferentPayloadPolicy.REJECT).body((_, change) -> change.n());
        semel.register(flow);
        RunHandle<Integer> run = semel.start(flow, new Change("c-1", "ann", 1), Start.withKey("first"));
        assertEquals(
                run.id(),
                semel.start(flow, new Change("c-1", "bob", 2), Start.withKey("second"))
                        .id());
        for (String key : List.of("first", "second")) {
            Change other = new Change("c-1", key.equals("first") ? "ann" : "bob", 3);
            SemelException conflict =
                    assertThrows(SemelException.class, () -> semel.start(flow, other, Start.withKey(key)));
            assertEquals(List.of("n"), conflict.members().get("changed"), key);
        }
        assertEquals(
                run.id(),
                semel.start(flow, new Change("c-1", "bob", 2), Start.withKey("second"))
                        .id());
        clock.advance(Duration.ofSeconds(31));
        assertEquals(2, run.result(SOON));
    }

    @Test
    void runs_of_two_entities_that_call_each_other_do_not_wait_forever() {
        List<Workflow<String, String>> self = new ArrayList<>();
        self.add(Workflow.define("serial", String.class, String.class)
                .serialBy(in -> in.substring(0, 1))
                .body((ctx, in) -> waitAndCall(ctx, in, self.getFirst())));
        semel.register(self.getFirst());
        doNotWaitForever(semel.start(self.getFirst(), "ab"), semel.start(self.getFirst(), "ba"));
    }

    @Test
    void two_limited_workflows_that_call_each_other_do_not_wait_forever() {
        List<Workflow<String, String>> both = new ArrayList<>();
        both.add(Workflow.define("left", String.class, String.class)
                .maxConcurrent(1)
                .body((ctx, in) -> waitAndCall(ctx, in, both.get(1))));
        both.add(Workflow.define("right", String.class, String.class)
                .maxConcurrent(1)
                .body((ctx, in) -> waitAndCall(ctx, in, both.get(0))));
        semel.register(both.get(0), both.get(1));
        doNotWaitForever(semel.start(both.get(0), "ab"), semel.start(both.get(1), "ba"));
    }

    @Test
    void limited_workflows_that_call_each_other_through_an_unlimited_one_do_not_wait_forever() {
        List<Workflow<String, String>> all = new ArrayList<>();
        all.add(Workflow.define("left", String.class, String.class)
                .maxConcurrent(1)
                .body((ctx, in) -> waitAndCall(ctx, in, all.get(2))));
        all.add(Workflow.define("right", String.class, String.class)
                .maxConcurrent(1)
                .body((ctx, in) -> waitAndCall(ctx, in, all.get(3))));
        all.add(Workflow.define("to_right", String.class, String.class).body((ctx, in) -> ctx.call(all.get(1), in)));
        all.add(Workflow.define("to_left", String.class, String.class).body((ctx, in) -> ctx.call(all.get(0), in)));
        all.forEach(semel::register);
        RunHandle<String> first = semel.start(all.get(0), "ab");
        RunHandle<String> second = semel.start(all.get(1), "ba");
        untilWaiting(first, "signal");
        untilWaiting(second, "signal");
        long runs = semel.count("fresh");
        first.signal(GO, "", Key.of("k"));
        Await.until("its call is queued", () -> semel.count("fresh") == runs + 2);
        second.signal(GO, "", Key.of("k"));
        assertEquals("waits-for-itself", failure(second).reason());
        assertEquals("b", first.result(SOON));
    }

    @Test
    void a_call_is_rejected_if_it_would_wait_for_a_run_whose_child_returned_its_place() {
        AtomicBoolean down = new AtomicBoolean(true);
        List<Workflow<String, String>> both = new ArrayList<>();
        both.add(Workflow.define("left", String.class, String.class)
                .maxConcurrent(1)
                .body((ctx, in) -> in.length() == 1 ? in : ctx.call(both.get(1), in.substring(1))));
        both.add(Workflow.define("right", String.class, String.class)
                .maxConcurrent(1)
                .body((ctx, in) -> in.length() == 1
                        ? ctx.effect("send")
                                .providerHonoursKey(Duration.ofHours(24))
                                .call(String.class, _ -> {
                                    if (down.get()) {
                                        throw new HttpStatusException(503, StrictJsonCodec.parse("{}"), null);
                                    }
                                    return in;
                                })
                        : waitAndCall(ctx, in, both.get(0))));
        semel.register(both.get(0), both.get(1));
        RunHandle<String> first = semel.start(both.get(0), "ab");
        Await.until("its child returned its place", () -> semel.count("retries") >= 1);
        RunHandle<String> second = semel.start(both.get(1), "ba");
        Await.until("the second run has the place", () -> {
            clock.advance(Duration.ofSeconds(1));
            return second.status() == RunStatus.WAITING;
        });
        second.signal(GO, "", Key.of("k"));
        assertEquals("waits-for-itself", failure(second).reason());
        down.set(false);
        Await.until("the child is due", () -> {
            clock.advance(Duration.ofMinutes(1));
            return first.status() == RunStatus.COMPLETED;
        });
        assertEquals("b", first.result(SOON));
    }

    private static String waitAndCall(Context ctx, String in, Workflow<String, String> other) throws Exception {
        if (in.length() == 1) {
            return in;
        }
        ctx.await(GO);
        return ctx.call(other, in.substring(1));
    }

    /** The call of the first waits for the place of the second, so the call of the second is rejected. */
    private void doNotWaitForever(RunHandle<String> first, RunHandle<String> second) {
        untilWaiting(first, "signal");
        untilWaiting(second, "signal");
        long runs = semel.count("fresh");
        first.signal(GO, "", Key.of("k"));
        Await.until("its call is queued", () -> semel.count("fresh") == runs + 1);
        second.signal(GO, "", Key.of("k"));
        assertEquals("waits-for-itself", failure(second).reason());
        assertEquals("b", first.result(SOON));
    }
}
