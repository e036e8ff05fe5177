package dev.semel.runtime;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;

import dev.semel.RunStatus;
import dev.semel.engine.ClockAndRandomSource;
import dev.semel.error.StepFailed;
import dev.semel.store.Await;
import dev.semel.workflow.Key;
import dev.semel.workflow.Signal;
import dev.semel.workflow.Start;
import dev.semel.workflow.Workflow;
import dev.semel.workflow.WorkflowBuilder;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
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
}
