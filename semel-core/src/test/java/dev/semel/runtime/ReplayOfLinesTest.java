package dev.semel.runtime;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.semel.Run;
import dev.semel.json.StrictJson;
import dev.semel.replay.ReplayAction;
import dev.semel.replay.ApplyOptions;
import dev.semel.replay.ReplayPlanRequest;
import dev.semel.workflow.RunState;
import dev.semel.store.ReplayPlanQueries;
import dev.semel.store.StoreQueries;
import dev.semel.store.ReplayPlanOperation;
import dev.semel.testing.WorkflowTestKit;
import dev.semel.testing.FakeProvider;
import dev.semel.workflow.Retry;
import dev.semel.workflow.Workflow;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Plans for runs of which some were replayed before, and how many of a plan are under way at once. */
final class ReplayOfLinesTest {
    private final WorkflowTestKit lab = new WorkflowTestKit();
    private final AtomicBoolean broken = new AtomicBoolean();
    private final FakeProvider cards = lab.provider("cards").honoursKeysFor(Duration.ofHours(24));
    private final FakeProvider mail = lab.provider("mail");

    private final Workflow<String, String> flow = Workflow.define("flow", String.class, String.class)
            .body((ctx, in) -> {
                ctx.step("load").retry(Retry.none()).run(String.class, _ -> {
                    if (broken.get()) {
                        throw new IllegalStateException("not today");
                    }
                    return in;
                });
                ctx.effect("charge").providerHonoursKey(Duration.ofHours(24)).call(step -> cards.call(step.key()));
                return ctx.effect("send")
                        .retry(Retry.none())
                        .repeatable("nobody minds")
                        .call(String.class, step -> mail.call(step.key()));
            });

    @BeforeEach
    void open() {
        lab.register(flow);
    }

    @AfterEach
    void close() {
        lab.close();
    }

    private int ws() {
        return TestRuntime.of(lab).testAccess().workspace();
    }

    private Run<String> failed(String in) {
        mail.reject(1);
        Run<String> run = lab.start(flow, in);
        lab.settle();
        assertEquals(RunState.FAILED, run.status());
        return run;
    }

    private ReplayPlanOperation.ReplayPlan plan(Replays.RunSelection which, @Nullable String input) {
        return TestRuntime.of(lab)
                .replays()
                .plan(new Replays.ReplayRequest(ws(), "ann", which, new ReplayPlanRequest("test", "", false), input, false));
    }

    private ReplayPlanOperation.ReplayPlan plan(Run<?> run, @Nullable String input) {
        return plan(new Replays.RunSelection.ByRunId(List.of(run.id())), input);
    }

    private ReplayPlanOperation.ReplayPlan planFailed() {
        return plan(
                new Replays.RunSelection.ByFilter(new StoreQueries.RunFilter(ws(), null, RunState.FAILED, null, false, 0, null, 1)), null);
    }

    private void apply(ReplayPlanOperation.ReplayPlan plan, ApplyOptions manner) {
        TestRuntime.of(lab).replays().apply(ws(), plan.id(), manner, "bob");
        lab.settle();
    }

    private ReplayPlanOperation.ReplayPlan now(ReplayPlanOperation.ReplayPlan plan) {
        ReplayPlanOperation.ReplayPlan found = TestRuntime.of(lab).replays().findPlan(ws(), plan.id());
        assertNotNull(found);
        return found;
    }

    private List<ReplayPlanOperation.PlanItem> items(ReplayPlanOperation.ReplayPlan plan) {
        return TestRuntime.of(lab).replays().listItems(new ReplayPlanQueries.ItemFilter(plan.id(), 0, null), null, 1_000);
    }

    @Test
    void a_plan_over_failed_runs_of_which_one_was_replayed_before_is_applied_to_the_others() {
        Run<String> first = failed("a");
        failed("b");
        apply(plan(first, null), ApplyOptions.SAFE);
        assertEquals(1, mail.effects());
        ReplayPlanOperation.ReplayPlan rest = planFailed();
        assertEquals(1, StrictJson.parse(rest.summary()).path("safe").asInt(), rest.summary());
        apply(rest, ApplyOptions.SAFE);
        assertEquals(ReplayPlanOperation.PlanState.DONE, now(rest).state());
        assertEquals(2, mail.effects());
        assertEquals(2, cards.calls());
        assertTrue(
                items(rest).stream().anyMatch(item -> item.note().contains("has completed")),
                "why the other one was left out is said");
    }

    @Test
    void what_was_done_for_the_input_before_an_edit_is_for_a_person_in_the_next_plan_too() {
        Run<String> run = failed("four");
        ApplyOptions bold = new ApplyOptions(List.of(ReplayAction.ASK), 0, 0, 0);
        broken.set(true);
        apply(plan(run, "\"five\""), bold);
        broken.set(false);
        assertEquals(1, cards.calls(), "the edited one failed before it came to the card");
        ReplayPlanOperation.ReplayPlan next = planFailed();
        assertEquals(0, StrictJson.parse(next.summary()).path("safe").asInt(), next.summary());
        assertEquals(1, StrictJson.parse(next.summary()).at("/actions/ask/runs").asInt(), next.summary());
    }

    @Test
    void a_pace_counts_the_runs_that_start_and_not_those_that_are_passed_by() {
        List<String> ids = new ArrayList<>();
        for (int i = 0; i < 20; i++) {
            Run<String> run = failed("in" + i);
            ids.add(run.id());
            if (i < 18) {
                apply(plan(run, null), ApplyOptions.SAFE);
            }
        }
        ReplayPlanOperation.ReplayPlan plan = plan(new Replays.RunSelection.ByRunId(ids), null);
        TestRuntime.of(lab).replays().apply(ws(), plan.id(), new ApplyOptions(List.of(), 1, 0, 0), "bob");
        lab.settle();
        lab.clock().advance(Duration.ofSeconds(2));
        lab.settle();
        assertEquals(ReplayPlanOperation.PlanState.DONE, now(plan).state());
        assertEquals(20, mail.effects());
    }

    @Test
    void who_stops_after_failures_has_not_started_all_runs_before_the_first_of_them_fails() {
        Workflow<String, String> slow = Workflow.define("slow", String.class, String.class)
                .body((ctx, in) -> {
                    ctx.effect("send")
                            .retry(Retry.none())
                            .repeatable("nobody minds")
                            .call(step -> mail.call(step.key()));
                    ctx.sleep("night", Duration.ofHours(8));
                    return in;
                });
        lab.register(slow);
        int runs = 250;
        mail.reject(runs);
        for (int i = 0; i < runs; i++) {
            lab.start(slow, "in" + i);
        }
        lab.settle();
        ReplayPlanOperation.ReplayPlan plan = planFailed();
        apply(plan, new ApplyOptions(List.of(), 0, 0, 1));
        long made = items(plan).stream().filter(item -> item.newRun() != null).count();
        assertTrue(made <= 100, "under way at once: " + made);
        for (int night = 0; night < 4; night++) {
            lab.clock().advance(Duration.ofHours(9));
            lab.settle();
        }
        assertEquals(ReplayPlanOperation.PlanState.DONE, now(plan).state());
        assertEquals(runs, mail.effects());
    }
}
