package dev.semel.runtime;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.semel.Run;
import dev.semel.replay.ApplyOptions;
import dev.semel.replay.ReplayPlanRequest;
import dev.semel.workflow.RunState;
import dev.semel.store.ReplayPlanQueries;
import dev.semel.store.ReplayPlanOperation;
import dev.semel.testing.WorkflowTestKit;
import dev.semel.testing.FakeProvider;
import dev.semel.workflow.Key;
import dev.semel.workflow.Retry;
import dev.semel.workflow.Signal;
import dev.semel.workflow.Workflow;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Signals that a run had got and did not take. */
final class LateSignalsTest {
    private static final Signal<String> PAID = Signal.of("paid", String.class);

    private final WorkflowTestKit lab = new WorkflowTestKit();
    private final FakeProvider cards = lab.provider("cards").honoursKeysFor(Duration.ofHours(24));

    private final Workflow<String, String> order = Workflow.define("order", String.class, String.class)
            .body((ctx, in) -> {
                ctx.sleep("night", Duration.ofHours(1));
                ctx.effect("charge")
                        .retry(Retry.none())
                        .providerHonoursKey(Duration.ofHours(24))
                        .call(String.class, step -> cards.call(step.key()));
                return ctx.await(PAID);
            });

    @AfterEach
    void close() {
        lab.close();
    }

    /** It was told that it is paid, and failed before it asked. */
    private Run<String> failed() {
        lab.register(order);
        Run<String> run = lab.start(order, "x");
        lab.settle();
        assertTrue(run.signal(PAID, "by card", Key.of("s1")));
        cards.reject(1);
        lab.clock().advance(Duration.ofHours(1));
        lab.settle();
        assertEquals(RunState.FAILED, run.status());
        return run;
    }

    private Run<String> replayed(Run<String> run, boolean lateSignals) {
        int ws = TestRuntime.of(lab).testAccess().workspace();
        Replays replays = TestRuntime.of(lab).replays();
        ReplayPlanOperation.ReplayPlan plan = replays.plan(new Replays.ReplayRequest(
                ws,
                "ann",
                new Replays.RunSelection.ByRunId(List.of(run.id())),
                new ReplayPlanRequest("test", "", false, List.of(), false, lateSignals),
                null,
                false));
        replays.apply(ws, plan.id(), ApplyOptions.SAFE, "bob");
        lab.settle();
        ReplayPlanOperation.PlanItem item = TestRuntime.of(lab)
                .replays()
                .listItems(new ReplayPlanQueries.ItemFilter(plan.id(), 0, null), null, 10)
                .getFirst();
        return TestRuntime.of(lab).run(order, String.valueOf(item.newRun()));
    }

    @Test
    void they_are_given_to_the_replay_where_that_is_asked_for() {
        Run<String> replay = replayed(failed(), true);
        assertEquals("by card", replay.result(Duration.ZERO));
    }

    @Test
    void without_that_the_replay_waits_for_new_ones() {
        assertEquals(RunState.WAITING, replayed(failed(), false).status());
    }

    @Test
    void they_come_once_although_somebody_dies_behind_the_new_run() {
        Run<String> run = failed();
        lab.crashAt("replay-admitted", 1);
        lab.clock().autoAdvance();
        assertEquals("by card", replayed(run, true).result(Duration.ZERO));
    }

    @Test
    void a_run_that_goes_on_in_place_has_them_anyway() {
        Run<String> run = failed();
        run.resume("ann", "the provider is back");
        lab.settle();
        assertEquals("by card", run.result(Duration.ZERO));
    }
}
