package dev.semel.runtime;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.semel.engine.run.WorkflowCatalog;
import dev.semel.error.StepFailed;
import dev.semel.replay.ReplayNotificationMode;
import dev.semel.replay.ReplayPlanApplyOptions;
import dev.semel.replay.ReplayPlanRequest;
import dev.semel.store.Await;
import dev.semel.store.PostgresStoreFixture;
import dev.semel.store.ReplayPlanQueries;
import dev.semel.store.ReplayPlanStoreWriteCommand;
import dev.semel.store.StoreFixture;
import dev.semel.workflow.Retry;
import dev.semel.workflow.Workflow;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** A plan whose runs are code that only one of two workers has. */
final class ReplayMissingCodeTest {
    private static final Duration SOON = Duration.ofSeconds(30);

    private final StoreFixture fixture = PostgresStoreFixture.withItsOwnClock();
    private final SemelRuntime here = open();
    private SemelRuntime there = open();
    private final AtomicBoolean broken = new AtomicBoolean(true);

    private SemelRuntime open() {
        return SemelRuntime.open(RuntimeOptions.of(fixture.url(), version -> {
            throw new WorkflowCatalog.WorkflowNotRegistered(version.name(), version.workflowId());
        }));
    }

    @AfterEach
    void close() {
        here.close();
        there.close();
        fixture.close();
    }

    private ReplayPlanStoreWriteCommand.ReplayPlan now(int ws, ReplayPlanStoreWriteCommand.ReplayPlan plan) {
        return Objects.requireNonNull(here.replays().findPlan(ws, plan.id()));
    }

    @Test
    void a_worker_without_the_code_leaves_the_plan_to_one_that_has_it() {
        Workflow<String, String> flow = Workflow.define("flow", String.class, String.class)
                .body((ctx, in) -> ctx.step("try").retry(Retry.none()).run(String.class, _ -> {
                    if (broken.get()) {
                        throw new IllegalStateException("not today");
                    }
                    return in;
                }));
        there.register(flow);
        RunHandle<String> failed = there.start(flow, "x");
        assertThrows(StepFailed.class, () -> failed.result(SOON));
        broken.set(false);
        int ws = here.testAccess().workspace();
        ReplayPlanStoreWriteCommand.ReplayPlan plan = here.replays()
                .plan(new ReplayPlanOperations.ReplayRequest(
                        ws,
                        "ann",
                        new ReplayPlanOperations.RunSelection.ByRunId(List.of(failed.id())),
                        new ReplayPlanRequest(
                                "test", "", false, List.of(), false, false, ReplayNotificationMode.MISSING),
                        null,
                        false,
                        ReplayPlanApplyOptions.SAFE));
        there.close();
        here.replays().apply(ws, plan.id(), ReplayPlanApplyOptions.SAFE, "ann");
        Await.until(
                "it says what it waits for",
                () -> now(ws, plan).note().equals("The plan waits for a worker that has the code of \"flow\" v1."));
        assertEquals(
                ReplayPlanStoreWriteCommand.PlanState.APPLYING, now(ws, plan).state());
        there = open();
        there.register(flow);
        Await.until("it is applied", () -> {
            there.replays().apply(ws, plan.id(), ReplayPlanApplyOptions.SAFE, "ann");
            return now(ws, plan).state() == ReplayPlanStoreWriteCommand.PlanState.DONE;
        });
        assertEquals("", now(ws, plan).note());
        ReplayPlanStoreWriteCommand.PlanItem item = here.replays()
                .listItems(new ReplayPlanQueries.ItemFilter(plan.id(), 0, null), null, 10)
                .getFirst();
        assertEquals(ReplayPlanStoreWriteCommand.ItemOutcome.APPLIED, item.outcome(), item.note());
        assertEquals(
                "x",
                there.run(flow, Objects.requireNonNull(item.newRun()).text()).result(SOON));
    }
}
