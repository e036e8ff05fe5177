package dev.semel.runtime;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.semel.Run;
import dev.semel.error.ErrorCode;
import dev.semel.error.SemelException;
import dev.semel.replay.ReplayAction;
import dev.semel.replay.PlannedStep;
import dev.semel.replay.ApplyOptions;
import dev.semel.replay.ReplayPlanRequest;
import dev.semel.replay.ReplayPreview;
import dev.semel.replay.ReplayOptions;
import dev.semel.run.RunId;
import dev.semel.workflow.RunState;
import dev.semel.store.ReplayPlanQueries;
import dev.semel.store.ReplayPlanOperation;
import dev.semel.testing.WorkflowTestKit;
import dev.semel.testing.FakeProvider;
import dev.semel.workflow.Key;
import dev.semel.workflow.Retry;
import dev.semel.workflow.Signal;
import dev.semel.workflow.Start;
import dev.semel.workflow.Workflow;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Replays of runs that called others, waited for others, or go by another version; counted at the providers. */
final class ReplayCallsTest {
    private static final Signal<String> GO = Signal.of("go", String.class);

    private final WorkflowTestKit lab = new WorkflowTestKit();
    private final FakeProvider cards = lab.provider("cards").honoursKeysFor(Duration.ofHours(24));
    private final FakeProvider mail = lab.provider("mail");

    private final Workflow<String, String> charging = charging(false);

    @AfterEach
    void close() {
        lab.close();
    }

    private Workflow<String, String> charging(boolean runAgain) {
        var draft = Workflow.define("charging", String.class, String.class);
        return (runAgain ? draft.runAgainAfterFailure() : draft)
                .body((ctx, _) -> ctx.effect("charge")
                        .retry(Retry.none())
                        .providerHonoursKey(Duration.ofHours(24))
                        .call(String.class, step -> cards.call(step.key())));
    }

    /** Calls for the charge, then sends a mail. */
    private Workflow<String, String> order(Start start) {
        return Workflow.define("order", String.class, String.class).body((ctx, in) -> {
            String paid = ctx.call(charging, in, start);
            ctx.effect("send").retry(Retry.none()).askOnDoubt("ops").call(String.class, step -> mail.call(step.key()));
            return paid;
        });
    }

    private int ws() {
        return TestRuntime.of(lab).testAccess().workspace();
    }

    private ReplayPlanOperation.ReplayPlan plan(String run, ReplayPlanRequest order, @Nullable String input) {
        var which = new Replays.RunSelection.ByRunId(List.of(run));
        return TestRuntime.of(lab).replays().plan(new Replays.ReplayRequest(ws(), "ann", which, order, input, false));
    }

    private ReplayPlanOperation.ReplayPlan plan(Run<?> run, String from) {
        return plan(run.id(), new ReplayPlanRequest("test", from, false), null);
    }

    private void apply(ReplayPlanOperation.ReplayPlan plan, ApplyOptions manner) {
        TestRuntime.of(lab).replays().apply(ws(), plan.id(), manner, "bob");
        lab.clock().advance(Duration.ofMinutes(1));
    }

    private ReplayPlanOperation.PlanItem item(ReplayPlanOperation.ReplayPlan plan) {
        return TestRuntime.of(lab)
                .replays()
                .listItems(new ReplayPlanQueries.ItemFilter(plan.id(), 0, null), null, 10)
                .getFirst();
    }

    private PlannedStep step(ReplayPlanOperation.ReplayPlan plan, String path) {
        ReplayPreview outlook = Replays.previewOf(item(plan));
        return outlook.steps().stream()
                .filter(one -> one.step().equals(path))
                .findFirst()
                .orElseThrow(() -> new AssertionError(outlook.toString()));
    }

    private void completed(ReplayPlanOperation.ReplayPlan plan) {
        assertEquals(
                List.of(new ReplayPlanQueries.ItemCount(ReplayPlanOperation.ItemOutcome.APPLIED, RunState.COMPLETED, 1)),
                TestRuntime.of(lab).replays().progress(plan.id()),
                lab::describe);
    }

    private Run<String> started(Workflow<String, String> flow, RunState end) {
        Run<String> run = lab.start(flow, "x");
        lab.settle();
        assertEquals(end, run.status(), lab::describe);
        return run;
    }

    @Test
    void what_goes_on_in_place_finds_the_replay_of_what_it_called_when_the_key_is_gone() {
        lab.register(charging);
        Workflow<String, String> order = order(Start.withKey("k"));
        lab.register(order);
        cards.reject(1);
        Run<String> run = started(order, RunState.FAILED);
        var row = Objects.requireNonNull(TestRuntime.of(lab).testAccess().findRun(run.id()));
        var child = Objects.requireNonNull(
                TestRuntime.of(lab).view(reads -> reads.children(row.id()).getFirst()));
        ReplayPlanOperation.ReplayPlan plan = plan(child.text(), new ReplayPlanRequest("test", "", false), null);
        apply(plan, ApplyOptions.SAFE);
        completed(plan);
        assertEquals(1, cards.effects());
        lab.clock().advance(Duration.ofDays(2));
        run.resume("ann", "the card was charged");
        lab.clock().advance(Duration.ofMinutes(2));
        assertEquals(RunState.COMPLETED, run.status(), lab::describe);
        assertEquals(1, cards.effects(), "the child was not started again");
    }

    private String childOf(Run<?> parent) {
        RunId id = Objects.requireNonNull(RunId.parse(parent.id()));
        return Objects.requireNonNull(
                TestRuntime.of(lab).view(reads -> reads.children(id).getFirst().text()));
    }

    @Test
    void a_run_whose_child_failed_names_the_child_and_is_replayed_to_success_behind_it() {
        Workflow<String, String> order = order(Start.fresh());
        lab.register(charging, order);
        cards.reject(1);
        Run<String> parent = started(order, RunState.FAILED);
        String child = childOf(parent);
        PlannedStep before = step(plan(parent, ""), "charging");
        assertEquals(ReplayAction.ASK, before.action());
        assertEquals("run " + child + " that it called has failed: replay that first", before.why());
        ReplayPlanOperation.ReplayPlan first = plan(child, new ReplayPlanRequest("test", "", false), null);
        apply(first, ApplyOptions.SAFE);
        completed(first);
        ReplayPlanOperation.ReplayPlan then = plan(parent, "");
        assertEquals(ReplayAction.REUSE, step(then, "charging").action());
        apply(then, ApplyOptions.SAFE);
        completed(then);
        assertEquals(1, cards.effects());
        assertEquals(1, mail.effects());
    }

    @Test
    void a_child_whose_key_has_expired_is_found_again_and_charges_nothing() {
        Workflow<String, String> order = order(Start.withKey("charge-1"));
        lab.register(charging, order);
        mail.reject(1);
        Run<String> parent = started(order, RunState.FAILED);
        lab.clock().advance(Duration.ofHours(30));
        ReplayPlanOperation.ReplayPlan plan = plan(parent, ReplayOptions.START);
        assertEquals(ReplayAction.REUSE, step(plan, "charging").action());
        apply(plan, ApplyOptions.SAFE);
        completed(plan);
        assertEquals(1, cards.calls(), "the charge of the first run");
        assertEquals(1, mail.effects());
    }

    @Test
    void a_child_is_found_as_long_as_its_caller_can_be_replayed() {
        Workflow<String, String> slow = Workflow.define("slow", String.class, String.class)
                .body((ctx, in) -> {
                    ctx.call(charging, in);
                    ctx.sleep("season", Duration.ofDays(60));
                    return ctx.effect("send")
                            .retry(Retry.none())
                            .askOnDoubt("ops")
                            .call(String.class, step -> mail.call(step.key()));
                });
        lab.register(charging, slow);
        mail.reject(1);
        Run<String> run = started(slow, RunState.WAITING);
        lab.clock().advance(Duration.ofDays(61));
        assertEquals(RunState.FAILED, run.status());
        lab.clock().advance(Duration.ofDays(45)); // more than the 90 days for which a run of its own would be kept
        ReplayPlanOperation.ReplayPlan plan = plan(run, ReplayOptions.START);
        assertEquals(ReplayAction.REUSE, step(plan, "charging").action());
        apply(plan, ApplyOptions.SAFE);
        lab.clock().advance(Duration.ofDays(61));
        assertEquals(1, mail.effects(), lab::describe);
        assertEquals(1, cards.calls());
    }

    @Test
    void a_failed_child_whose_key_lets_it_run_again_is_run_again() {
        Workflow<String, String> again = charging(true);
        Workflow<String, String> order = order(Start.withKey("charge-1"));
        lab.register(again, order);
        cards.reject(1);
        Run<String> parent = started(order, RunState.FAILED);
        ReplayPlanOperation.ReplayPlan plan = plan(parent, "");
        assertEquals(ReplayAction.ASK, step(plan, "charging").action());
        apply(plan, new ApplyOptions(List.of(ReplayAction.ASK), 0, 0, 0));
        completed(plan);
        assertEquals(1, cards.effects());
    }

    @Test
    void a_signal_that_went_to_the_old_run_has_to_be_sent_again() {
        Workflow<String, String> waiting = Workflow.define("waiting", String.class, String.class)
                .body((ctx, _) -> {
                    String went = ctx.await(GO);
                    return ctx.effect("send")
                            .retry(Retry.none())
                            .askOnDoubt("ops")
                            .call(String.class, step -> went + mail.call(step.key()));
                });
        lab.register(waiting);
        mail.reject(1);
        Run<String> run = started(waiting, RunState.WAITING);
        assertTrue(run.signal(GO, "now", Key.of("go-1")));
        lab.settle();
        assertEquals(RunState.FAILED, run.status());
        assertEquals(ReplayAction.ASK, step(plan(run, ReplayOptions.START), "go").action());
        ReplayPlanOperation.ReplayPlan usual = plan(run, "");
        apply(usual, ApplyOptions.SAFE);
        completed(usual);
        assertEquals(1, mail.effects());
    }

    @Test
    void a_plan_by_the_current_version_is_out_of_date_when_another_one_is_published() {
        Workflow<String, String> order = order(Start.fresh());
        lab.register(charging, order);
        mail.reject(1);
        Run<String> parent = started(order, RunState.FAILED);
        ReplayPlanOperation.ReplayPlan plan = plan(parent.id(), new ReplayPlanRequest("test", ReplayOptions.START, true), null);
        assertEquals(ReplayAction.REUSE, step(plan, "charging").action());
        lab.register(Workflow.define("order", String.class, String.class)
                .title("The next one")
                .body((ctx, in) -> ctx.call("pay", charging, in, Start.fresh())));
        SemelException refused = assertThrows(SemelException.class, () -> apply(plan, ApplyOptions.SAFE));
        assertEquals(ErrorCode.PLAN_OUT_OF_DATE, refused.code());
        String why = String.valueOf(refused.members().get("differences"));
        assertTrue(why.contains("the plan used version 1 of its workflow, and 2 is current"), why);
        ReplayPlanOperation.ReplayPlan next = plan(parent.id(), new ReplayPlanRequest("test", ReplayOptions.START, true), null);
        assertEquals(ReplayAction.ASK, step(next, "charging").action(), "this code does it elsewhere, once more");
        assertThrows(SemelException.class, () -> apply(next, ApplyOptions.SAFE));
        assertEquals(1, cards.calls());
    }

    @Test
    void an_input_that_the_workflow_refuses_makes_no_run() {
        Workflow<Integer, Integer> number = Workflow.define("number", Integer.class, Integer.class)
                .body((ctx, in) -> ctx.step("twice").retry(Retry.none()).run(Integer.class, _ -> {
                    throw new IllegalStateException("no");
                }));
        lab.register(number);
        Run<Integer> run = lab.start(number, 1);
        lab.settle();
        ReplayPlanOperation.ReplayPlan plan = plan(run.id(), new ReplayPlanRequest("test", "", false), "\"a word\"");
        apply(plan, ApplyOptions.SAFE);
        assertEquals(ReplayPlanOperation.ItemOutcome.REFUSED, item(plan).outcome(), () -> item(plan).toString());
    }
}
