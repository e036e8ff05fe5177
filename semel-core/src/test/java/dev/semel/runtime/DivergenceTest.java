package dev.semel.runtime;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.semel.RunStatus;
import dev.semel.error.RunCancelled;
import dev.semel.error.StepFailed;
import dev.semel.store.Await;
import dev.semel.workflow.Context;
import dev.semel.workflow.Key;
import dev.semel.workflow.Retry;
import dev.semel.workflow.Signal;
import dev.semel.workflow.Workflow;
import dev.semel.workflow.WorkflowFunction;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Code that changes under a run in flight: what does not fit the record is held, and nothing is done twice. */
final class DivergenceTest extends SqliteTestBase {
    private static final Signal<String> GO = Signal.of("go", String.class);

    private final ConcurrentLinkedQueue<String> sent = new ConcurrentLinkedQueue<>();

    @AfterEach
    void nobody_else_is_affected() {
        othersGoOn();
    }

    private String send(Context ctx, String name, String... formerly) {
        return ctx.effect(name).formerly(formerly).repeatable("a test").call(String.class, _ -> {
            sent.add(name);
            return name;
        });
    }

    /** Runs the old code until it waits, then the new code. */
    private RunHandle<String> changed(WorkflowFunction<String, String> before, WorkflowFunction<String, String> after) {
        RunHandle<String> run = start(flow(before));
        untilWaiting(run, "signal");
        assertTrue(run.signal(PAUSE, "", Key.of("unused")), "it wakes up to find its record");
        untilWaiting(run, "signal");
        sent.clear();
        return deployed(run, after);
    }

    private static final Signal<String> PAUSE = Signal.of("pause", String.class);

    private RunHandle<String> deployed(RunHandle<String> run, WorkflowFunction<String, String> code) {
        restart();
        Workflow<String, String> flow = flow(code);
        semel.register(flow);
        RunHandle<String> same = semel.run(flow, run.id());
        same.signal(GO, "!", Key.of("go"));
        return same;
    }

    private void held(RunHandle<String> run, String... both) {
        untilWaiting(run, "code");
        assertEquals(RunStatus.HELD, run.status());
        for (String side : both) {
            assertTrue(String.valueOf(run.waitingFor()).contains(side), run.waitingFor());
        }
        assertTrue(sent.isEmpty(), "sent " + sent);
    }

    @Test
    void a_run_held_by_old_code_is_found_by_a_worker_with_matching_code() {
        RunHandle<String> run = changed(two(), (ctx, _) -> send(ctx, "b"));
        held(run, "\"a");
        restart();
        // The new code was there before the old one came to hold the run, so nobody wakes it: it has to be found.
        semel.javaWorkflows().addCode(flow(two()));
        RunHandle<String> same = semel.run(flow(two()), run.id());
        assertEquals("ab!", same.result(SOON));
        assertTrue(sent.isEmpty(), "what is on record is not sent again");
    }

    @Test
    void a_run_that_does_not_fit_the_new_code_either_is_held_again() {
        RunHandle<String> run = changed(two(), (ctx, _) -> send(ctx, "b"));
        held(run, "\"a");
        restart();
        Workflow<String, String> other = flow((ctx, _) -> send(ctx, "c"));
        semel.javaWorkflows().addCode(other);
        Await.until("this code was tried", () -> semel.count("held") == 1);
        held(semel.run(other, run.id()), "\"c");
    }

    private record Charge(String id) {}

    private record GrownCharge(String id, int fee) {}

    @Test
    void a_run_whose_recorded_type_grew_is_held_without_compensation_until_the_deploy_is_rolled_back() {
        WorkflowFunction<String, String> before = (ctx, _) -> charge(ctx, Charge.class, new Charge("c"));
        RunHandle<String> run = changed(before, (ctx, _) -> charge(ctx, GrownCharge.class, new GrownCharge("c", 1)));
        held(run, "charge", "GrownCharge", "nothing was compensated");
        RunHandle<String> rolledBack = deployed(run, before);
        assertEquals("Charge[id=c]!", rolledBack.result(SOON));
        assertTrue(sent.isEmpty(), "sent " + sent);
    }

    private <T> String charge(Context ctx, Class<T> type, T made) {
        ctx.compensate(
                "refund", undo -> undo.effect("refund").repeatable("a test").call(_ -> sent.add("refund")));
        T charge = ctx.effect("charge").repeatable("a test").call(type, _ -> {
            sent.add("charge");
            return made;
        });
        return charge + ctx.await(GO);
    }

    @Test
    void cancelling_a_run_whose_recorded_type_grew_compensates_what_came_before() {
        WorkflowFunction<String, String> before = (ctx, _) -> charge(ctx, Charge.class, new Charge("c"));
        RunHandle<String> run = changed(before, (ctx, _) -> charge(ctx, GrownCharge.class, new GrownCharge("c", 1)));
        held(run, "GrownCharge");
        assertTrue(run.cancel("ann", "not needed"));
        assertThrows(RunCancelled.class, () -> run.result(SOON));
        assertEquals(List.of("refund"), List.copyOf(sent));
    }

    private WorkflowFunction<String, String> two() {
        return (ctx, _) -> send(ctx, "a") + send(ctx, "b") + ctx.await(GO);
    }

    @Test
    void a_run_with_a_renamed_step_is_held_until_the_old_name_is_declared() {
        RunHandle<String> run = changed(two(), (ctx, _) -> send(ctx, "a") + send(ctx, "x") + ctx.await(GO));
        held(run, "effect \\\"b\\\"", "effect \\\"x\\\"", "formerly(\\\"b\\\")");
        RunHandle<String> healed = deployed(run, (ctx, _) -> send(ctx, "a") + send(ctx, "x", "b") + ctx.await(GO));
        assertEquals("ab!", healed.result(SOON));
        assertTrue(sent.isEmpty());
    }

    @Test
    void registering_better_code_in_the_same_process_wakes_a_held_run() {
        RunHandle<String> run = changed(two(), (ctx, _) -> send(ctx, "a") + ctx.await(GO));
        held(run, "effect \\\"b\\\"", "await \\\"go\\\"");
        semel.register(flow(two()));
        assertEquals("ab!", run.result(SOON));
        assertTrue(sent.isEmpty());
    }

    @Test
    void an_effect_renamed_in_flight_is_not_sent_again_under_the_new_name() {
        RunHandle<String> run =
                start(flow((ctx, _) -> ctx.effect("mail").askOnDoubt("ops").call(String.class, _ -> {
                    sent.add("mail");
                    throw new IOException("no answer");
                })));
        untilWaiting(run, "decision");
        semel.close();
        // As if the worker had died between the send and the first word about it.
        sql("DELETE FROM semel_journal WHERE entries LIKE '%error%' AND entries NOT LIKE '%due\":0}%'");
        open();
        sent.clear();
        Workflow<String, String> renamed = flow((ctx, _) -> send(ctx, "letter"));
        semel.register(renamed);
        RunHandle<String> same = semel.run(renamed, run.id());
        wake(run);
        held(same, "effect \\\"mail\\\"", "effect \\\"letter\\\"");
    }

    @Test
    void runs_with_added_removed_or_swapped_steps_are_held() {
        held(
                changed(two(), (ctx, _) -> send(ctx, "new") + send(ctx, "a") + send(ctx, "b") + ctx.await(GO)),
                "effect \\\"a\\\"",
                "effect \\\"new\\\"");
        held(
                changed(two(), (ctx, _) -> send(ctx, "b") + send(ctx, "a") + ctx.await(GO)),
                "effect \\\"a\\\"",
                "effect \\\"b\\\"");
    }

    @Test
    void a_run_whose_step_changed_kind_is_held() {
        held(
                changed(two(), (ctx, _) -> send(ctx, "a") + ctx.step("b", String.class, _ -> "b") + ctx.await(GO)),
                "effect \\\"b\\\"",
                "step \\\"b\\\"");
    }

    @Test
    void a_run_whose_code_ends_early_is_held() {
        held(changed(two(), (ctx, _) -> send(ctx, "a")), "\\\"b\\\"", "ended without calling this step");
    }

    @Test
    void a_step_added_after_the_recorded_ones_runs() {
        RunHandle<String> run =
                changed(two(), (ctx, _) -> send(ctx, "a") + send(ctx, "b") + ctx.await(GO) + send(ctx, "new"));
        assertEquals("ab!new", run.result(SOON));
        assertEquals(List.of("new"), List.copyOf(sent));
    }

    private WorkflowFunction<String, String> items(String name, List<String> items, int atOnce, String... steps) {
        return (ctx, _) -> ctx.forEach(name, items, i -> i).concurrency(atOnce).run((c, i) -> {
                    StringBuilder all = new StringBuilder();
                    for (String step : steps) {
                        all.append(send(c, step));
                    }
                    return i + all;
                })
                + send(ctx, "end")
                + ctx.await(GO);
    }

    @Test
    void changed_order_and_concurrency_of_items_change_nothing() {
        RunHandle<String> run = changed(
                items("lines", List.of("a", "b", "c"), 1, "s", "t"),
                items("lines", List.of("c", "a", "b"), 3, "s", "t"));
        assertEquals("[cst, ast, bst]end!", run.result(SOON));
        assertTrue(sent.isEmpty());
    }

    @Test
    void a_renamed_loop_and_a_step_added_in_a_finished_loop_are_held() {
        List<String> abc = List.of("a", "b", "c");
        held(
                changed(items("lines", abc, 1, "s"), items("rows", abc, 1, "s")),
                "forEach \\\"lines\\\"",
                "effect \\\"rows[");
        held(
                changed(items("lines", abc, 1, "s"), items("lines", abc, 1, "s", "t")),
                "effect \\\"end\\\"",
                "effect \\\"lines[");
        held(changed(items("lines", abc, 1, "s"), items("lines", List.of("a", "b"), 1, "s")), "lines[c]/s");
        held(changed(items("lines", abc, 1, "s"), (ctx, _) -> ctx.await(GO)), "forEach \\\"lines\\\"", "await");
        held(
                changed((ctx, _) -> send(ctx, "z") + ctx.await(GO), items("lines", abc, 1, "s")),
                "effect \\\"z\\\"",
                "effect \\\"lines[");
    }

    @Test
    void a_loop_with_a_caught_failure_replays_the_same_way() {
        WorkflowFunction<String, String> code = (ctx, _) -> {
            String how = "all";
            try {
                ctx.forEach("lines", List.of("a", "b", "c", "d"), i -> i)
                        .concurrency(1)
                        .run((c, i) -> c.step(i).retry(Retry.none()).run(String.class, _ -> {
                            sent.add(i);
                            if (i.equals("b")) {
                                throw new IOException("no");
                            }
                            return i;
                        }));
            } catch (StepFailed e) {
                how = e.step();
            }
            return how + ctx.await(GO);
        };
        RunHandle<String> run = changed(code, code);
        assertEquals("lines[b]/b!", run.result(SOON));
        assertTrue(sent.isEmpty(), "done again: " + sent);
    }

    @Test
    void a_renamed_wait_keeps_its_time() {
        RunHandle<String> run = start(flow((ctx, _) -> {
            ctx.sleep("nap", Duration.ofDays(2));
            return "never";
        }));
        untilWaiting(run, "sleep");
        RunHandle<String> same = deployed(run, (ctx, _) -> {
            ctx.step("before", String.class, _ -> "x");
            return "no";
        });
        wake(run);
        held(same, "sleep \\\"nap\\\"", "step \\\"before\\\"");
    }

    @Test
    void a_held_run_can_be_cancelled_and_its_recorded_steps_are_undone() {
        RunHandle<String> run = changed(
                (ctx, _) -> {
                    send(ctx, "a");
                    ctx.compensate("a", c -> send(c, "undo"));
                    return send(ctx, "b") + ctx.await(GO);
                },
                (ctx, _) -> {
                    send(ctx, "a");
                    ctx.compensate("a", c -> send(c, "undo"));
                    return send(ctx, "x") + ctx.await(GO);
                });
        held(run, "effect \\\"b\\\"");
        assertTrue(run.cancel("ann", "we give up"));
        assertThrows(RunCancelled.class, () -> run.result(SOON));
        assertEquals(List.of("undo"), List.copyOf(sent));
        assertFalse(run.cancel());
        RunHandle<String> early = changed(two(), (ctx, _) -> send(ctx, "a"));
        sent.clear();
        held(early, "\\\"b\\\"");
        assertTrue(early.cancel());
        assertThrows(RunCancelled.class, () -> early.result(SOON));
    }

    @Test
    void a_held_run_can_be_continued_and_is_held_again_if_nothing_changed() {
        RunHandle<String> run = changed(two(), (ctx, _) -> send(ctx, "a") + ctx.await(GO));
        held(run, "effect \\\"b\\\"");
        long held = semel.count("held");
        assertTrue(run.retryHeld());
        Await.until("it was looked at again", () -> semel.count("held") == held + 1);
        held(run, "effect \\\"b\\\"");
    }

    @Test
    void a_run_whose_undo_was_renamed_half_way_is_held() {
        WorkflowFunction<String, String> before = failing("old");
        RunHandle<String> run = start(flow(before));
        untilWaiting(run, "signal");
        sent.clear();
        RunHandle<String> same = deployed(run, failing("new"));
        wake(run);
        held(same, "/undo/old/");
    }

    private WorkflowFunction<String, String> failing(String undo) {
        return (ctx, _) -> {
            ctx.compensate(undo, c -> {
                send(c, "refund");
                c.await(PAUSE);
            });
            throw new IllegalStateException("no");
        };
    }
}
