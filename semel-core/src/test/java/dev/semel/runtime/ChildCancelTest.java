package dev.semel.runtime;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.semel.RunStatus;
import dev.semel.engine.ClockAndRandomSource;
import dev.semel.error.RunCancelled;
import dev.semel.store.Await;
import dev.semel.workflow.Context;
import dev.semel.workflow.Key;
import dev.semel.workflow.Signal;
import dev.semel.workflow.Start;
import dev.semel.workflow.Workflow;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** A run that is cancelled or out of time takes the children along that nobody but it has asked for. */
final class ChildCancelTest extends SqliteTestBase {
    private static final Signal<String> GO = Signal.of("go", String.class);

    private final ConcurrentLinkedQueue<String> log = new ConcurrentLinkedQueue<>();
    private final ManualClock clock = ManualClock.startingNow();
    private volatile String childId = "";

    @Override
    protected ClockAndRandomSource ambient() {
        return clock.ambient();
    }

    @AfterEach
    void nobody_else_is_affected() {
        othersGoOn();
    }

    private final Workflow<String, String> child = Workflow.define("child", String.class, String.class)
            .body((ctx, _) -> {
                effect(ctx, "child");
                childId = ctx.runId();
                return ctx.await(GO);
            });

    private void effect(Context ctx, String name) {
        ctx.effect(name).repeatable("a test").call(_ -> log.add(name));
        ctx.compensate(name, c -> c.effect("undo").repeatable("a test").call(_ -> log.add("un" + name)));
    }

    private RunHandle<String> childRun() {
        Await.until("the child runs", () -> !childId.isEmpty());
        RunHandle<String> run = semel.run(child, childId);
        untilWaiting(run, "signal");
        return run;
    }

    private Workflow<String, String> parent(Start start) {
        return Workflow.define("parent", String.class, String.class)
                .deadline(Duration.ofDays(1))
                .body((ctx, in) -> {
                    effect(ctx, "parent");
                    return ctx.call(child, in, start);
                });
    }

    @Test
    void a_cancelled_run_cancels_its_child_and_is_undone_after_it() {
        semel.register(child);
        Workflow<String, String> flow = parent(Start.fresh());
        RunHandle<String> run = start(flow);
        RunHandle<String> called = childRun();
        assertTrue(run.cancel("ann", "not needed"));
        assertThrows(RunCancelled.class, () -> run.result(SOON));
        assertEquals(RunStatus.CANCELLED, called.status());
        assertEquals(List.of("parent", "child", "unchild", "unparent"), List.copyOf(log));
    }

    @Test
    void children_of_branches_and_grandchildren_are_cancelled_too() {
        Workflow<String, String> middle =
                Workflow.define("middle", String.class, String.class).body((ctx, in) -> ctx.call(child, in));
        semel.register(child, middle);
        RunHandle<String> run = start(flow((ctx, in) -> String.join(
                ",",
                ctx.forEach("items", List.of("a", "b", "c"), n -> n)
                        .concurrency(3)
                        .run((c, _) -> c.call(middle, in)))));
        Await.until("all children work", () -> log.size() == 3);
        assertTrue(run.cancel());
        assertThrows(RunCancelled.class, () -> run.result(SOON));
        assertEquals(7, semel.count("cancelled"));
        assertEquals(6, log.size(), "each child was undone");
    }

    @Test
    void a_run_past_its_deadline_cancels_its_child() {
        semel.register(child);
        RunHandle<String> run = start(parent(Start.fresh()));
        RunHandle<String> called = childRun();
        clock.advance(Duration.ofDays(2));
        assertEquals("run-timed-out", failure(run).reason());
        assertEquals(RunStatus.CANCELLED, called.status());
        assertEquals(List.of("parent", "child", "unchild", "unparent"), List.copyOf(log));
    }

    @Test
    void cancelling_a_run_held_for_its_code_cancels_its_child() {
        semel.register(child);
        RunHandle<String> run = start(parent(Start.fresh()));
        RunHandle<String> called = childRun();
        restart();
        Workflow<String, String> other = Workflow.define("parent", String.class, String.class)
                .deadline(Duration.ofDays(1))
                .body((ctx, _) -> {
                    effect(ctx, "parent");
                    return ctx.step("another", String.class, _ -> "x");
                });
        semel.register(child, other);
        RunHandle<String> held = semel.run(other, run.id());
        wake(held);
        untilWaiting(held, "code");
        assertTrue(held.cancel("ann", "not needed"));
        assertThrows(RunCancelled.class, () -> held.result(SOON));
        assertEquals(RunStatus.CANCELLED, semel.run(child, called.id()).status());
        assertEquals(List.of("parent", "child", "unchild", "unparent"), List.copyOf(log));
    }

    @Test
    void cancelling_a_run_held_for_its_code_leaves_a_shared_child_running() {
        semel.register(child);
        RunHandle<String> run = start(parent(Start.withKey("shared")));
        RunHandle<String> called = childRun();
        restart();
        Workflow<String, String> other = Workflow.define("parent", String.class, String.class)
                .deadline(Duration.ofDays(1))
                .body((ctx, _) -> {
                    effect(ctx, "parent");
                    return "without asking for the child";
                });
        semel.register(child, other);
        RunHandle<String> held = semel.run(other, run.id());
        wake(held);
        untilWaiting(held, "code");
        assertTrue(held.cancel("ann", "not needed"));
        assertThrows(RunCancelled.class, () -> held.result(SOON));
        RunHandle<String> goesOn = semel.run(child, called.id());
        assertEquals(RunStatus.WAITING, goesOn.status());
        assertTrue(goesOn.signal(GO, "on", Key.of("k")));
        assertEquals("on", goesOn.result(SOON));
    }

    @Test
    void a_child_with_its_own_key_is_shared_and_continues() {
        semel.register(child);
        RunHandle<String> run = start(parent(Start.withKey("shared")));
        RunHandle<String> called = childRun();
        assertTrue(run.cancel());
        assertThrows(RunCancelled.class, () -> run.result(SOON));
        assertTrue(called.signal(GO, "on", Key.of("k")));
        assertEquals("on", called.result(SOON));
    }

    @Test
    void a_child_unknown_to_its_parent_is_cancelled_too() {
        semel.register(child);
        Workflow<String, String> flow = parent(Start.fresh());
        RunHandle<String> run = start(flow);
        RunHandle<String> called = childRun();
        semel.close();
        // As if the worker had died between the start of the child and its record, and a person had cancelled then.
        sql("DELETE FROM semel_journal WHERE entries LIKE '%\"call\"%'");
        sql("UPDATE semel_unfinished_run SET cancel_requested = 1, due_at = 0 WHERE waiting_for NOT LIKE"
                + " '%\"for\":\"signal\"%'");
        open();
        semel.register(child, flow);
        RunHandle<String> again = semel.run(flow, run.id());
        assertThrows(RunCancelled.class, () -> again.result(SOON));
        assertEquals(RunStatus.CANCELLED, semel.run(child, called.id()).status());
    }
}
