package dev.semel.runtime;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.semel.Run;
import dev.semel.RunStatus;
import dev.semel.replay.ReplayNotificationMode;
import dev.semel.replay.ReplayPlanApplyOptions;
import dev.semel.replay.ReplayPlanRequest;
import dev.semel.store.ReplayPlanQueries;
import dev.semel.store.ReplayPlanStoreWriteCommand;
import dev.semel.testing.FakeExternalSystem;
import dev.semel.testing.WorkflowTestKit;
import dev.semel.workflow.Key;
import dev.semel.workflow.Retry;
import dev.semel.workflow.Signal;
import dev.semel.workflow.Workflow;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Signals that a run had got and did not take. */
final class UnconsumedSignalsTest {
    private static final Signal<String> PAID = Signal.of("paid", String.class);

    private final WorkflowTestKit kit = new WorkflowTestKit();
    private final FakeExternalSystem cards = kit.provider("cards").honoursKeysFor(Duration.ofHours(24));

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
        kit.close();
    }

    /** It was notified that it is paid, and failed before it asked. */
    private Run<String> failed() {
        kit.register(order);
        Run<String> run = kit.start(order, "x");
        kit.settle();
        assertTrue(run.signal(PAID, "by card", Key.of("s1")));
        cards.reject(1);
        kit.clock().advance(Duration.ofHours(1));
        kit.settle();
        assertEquals(RunStatus.FAILED, run.status());
        return run;
    }

    private Run<String> replayed(Run<String> run, boolean lateSignals) {
        int ws = TestRuntime.of(kit).testAccess().workspace();
        ReplayPlanOperations replays = TestRuntime.of(kit).replays();
        ReplayPlanStoreWriteCommand.ReplayPlan plan = replays.plan(new ReplayPlanOperations.ReplayRequest(
                ws,
                "ann",
                new ReplayPlanOperations.RunSelection.ByRunId(List.of(run.id())),
                new ReplayPlanRequest("test", "", false, List.of(), false, lateSignals, ReplayNotificationMode.MISSING),
                null,
                false,
                ReplayPlanApplyOptions.SAFE));
        replays.apply(ws, plan.id(), ReplayPlanApplyOptions.SAFE, "bob");
        kit.settle();
        ReplayPlanStoreWriteCommand.PlanItem item = TestRuntime.of(kit)
                .replays()
                .listItems(new ReplayPlanQueries.ItemFilter(plan.id(), 0, null), null, 10)
                .getFirst();
        return TestRuntime.of(kit).run(order, String.valueOf(item.newRun()));
    }

    @Test
    void unconsumed_signals_are_given_to_the_replay_on_request() {
        Run<String> replay = replayed(failed(), true);
        assertEquals("by card", replay.result(Duration.ZERO));
    }

    @Test
    void by_default_the_replay_waits_for_new_signals() {
        assertEquals(RunStatus.WAITING, replayed(failed(), false).status());
    }

    @Test
    void carried_signals_arrive_once_despite_a_crash_after_the_new_run() {
        Run<String> run = failed();
        kit.crashAt("replay-admitted", 1);
        kit.clock().autoAdvance();
        assertEquals("by card", replayed(run, true).result(Duration.ZERO));
    }

    @Test
    void a_run_resumed_in_place_keeps_its_signals() {
        Run<String> run = failed();
        run.resume("ann", "the provider is back");
        kit.settle();
        assertEquals("by card", run.result(Duration.ZERO));
    }
}
