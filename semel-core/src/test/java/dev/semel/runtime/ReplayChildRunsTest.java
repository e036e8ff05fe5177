package dev.semel.runtime;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.semel.Run;
import dev.semel.RunStatus;
import dev.semel.error.ErrorCode;
import dev.semel.error.SemelException;
import dev.semel.replay.PlannedReplayStep;
import dev.semel.replay.ReplayNotificationMode;
import dev.semel.replay.ReplayOptions;
import dev.semel.replay.ReplayPlanApplyOptions;
import dev.semel.replay.ReplayPlanRequest;
import dev.semel.replay.ReplayPreview;
import dev.semel.replay.SafeReplayStepAction;
import dev.semel.run.RunId;
import dev.semel.run.RunState;
import dev.semel.store.ReplayPlanQueries;
import dev.semel.store.ReplayPlanStoreWriteCommand;
import dev.semel.testing.FakeExternalSystem;
import dev.semel.testing.WorkflowTestKit;
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
final class ReplayChildRunsTest {
    private static final Signal<String> GO = Signal.of("go", String.class);

    private final WorkflowTestKit kit = new WorkflowTestKit();
    private final FakeExternalSystem cards = kit.provider("cards").honoursKeysFor(Duration.ofHours(24));
    private final FakeExternalSystem mail = kit.provider("mail");

    private final Workflow<String, String> charging = charging(false);

    @AfterEach
    void close() {
        kit.close();
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
        return TestRuntime.of(kit).testAccess().workspace();
    }

    private ReplayPlanStoreWriteCommand.ReplayPlan plan(String run, ReplayPlanRequest order, @Nullable String input) {
        var which = new ReplayPlanOperations.RunSelection.ByRunId(List.of(run));
        return TestRuntime.of(kit)
                .replays()
                .plan(new ReplayPlanOperations.ReplayRequest(
                        ws(), "ann", which, order, input, false, ReplayPlanApplyOptions.SAFE));
    }

    private ReplayPlanStoreWriteCommand.ReplayPlan plan(Run<?> run, String from) {
        return plan(
                run.id(),
                new ReplayPlanRequest("test", from, false, List.of(), false, false, ReplayNotificationMode.MISSING),
                null);
    }

    private void apply(ReplayPlanStoreWriteCommand.ReplayPlan plan, ReplayPlanApplyOptions applyOptions) {
        TestRuntime.of(kit).replays().apply(ws(), plan.id(), applyOptions, "bob");
        kit.clock().advance(Duration.ofMinutes(1));
    }

    private ReplayPlanStoreWriteCommand.PlanItem item(ReplayPlanStoreWriteCommand.ReplayPlan plan) {
        return TestRuntime.of(kit)
                .replays()
                .listItems(new ReplayPlanQueries.ItemFilter(plan.id(), 0, null), null, 10)
                .getFirst();
    }

    private PlannedReplayStep step(ReplayPlanStoreWriteCommand.ReplayPlan plan, String path) {
        ReplayPreview prediction = ReplayPreview.parse(item(plan).preview());
        return prediction.steps().stream()
                .filter(one -> one.step().equals(path))
                .findFirst()
                .orElseThrow(() -> new AssertionError(prediction.toString()));
    }

    private void completed(ReplayPlanStoreWriteCommand.ReplayPlan plan) {
        assertEquals(
                List.of(new ReplayPlanQueries.ItemCount(
                        ReplayPlanStoreWriteCommand.ItemOutcome.APPLIED, RunState.COMPLETED, 1)),
                TestRuntime.of(kit).replays().progress(plan.id()),
                kit::describe);
    }

    private Run<String> started(Workflow<String, String> flow, RunStatus end) {
        Run<String> run = kit.start(flow, "x");
        kit.settle();
        assertEquals(end, run.status(), kit::describe);
        return run;
    }

    @Test
    void a_resumed_run_finds_the_replay_of_its_child_after_the_key_is_gone() {
        kit.register(charging);
        Workflow<String, String> order = order(Start.withKey("k"));
        kit.register(order);
        cards.reject(1);
        Run<String> run = started(order, RunStatus.FAILED);
        var row = Objects.requireNonNull(TestRuntime.of(kit).testAccess().findRun(run.id()));
        var child = Objects.requireNonNull(
                TestRuntime.of(kit).view(reads -> reads.children(row.id(), 1).getFirst()));
        ReplayPlanStoreWriteCommand.ReplayPlan plan = plan(
                child.text(),
                new ReplayPlanRequest("test", "", false, List.of(), false, false, ReplayNotificationMode.MISSING),
                null);
        apply(plan, ReplayPlanApplyOptions.SAFE);
        completed(plan);
        assertEquals(1, cards.effects());
        kit.clock().advance(Duration.ofDays(2));
        run.resume("ann", "the card was charged");
        kit.clock().advance(Duration.ofMinutes(2));
        assertEquals(RunStatus.COMPLETED, run.status(), kit::describe);
        assertEquals(1, cards.effects(), "the child was not started again");
    }

    private String childOf(Run<?> parent) {
        RunId id = Objects.requireNonNull(RunId.parse(parent.id()));
        return Objects.requireNonNull(TestRuntime.of(kit)
                .view(reads -> reads.children(id, 1).getFirst().text()));
    }

    @Test
    void a_run_with_a_failed_child_names_the_child_and_completes_after_its_replay() {
        Workflow<String, String> order = order(Start.fresh());
        kit.register(charging, order);
        cards.reject(1);
        Run<String> parent = started(order, RunStatus.FAILED);
        String child = childOf(parent);
        PlannedReplayStep before = step(plan(parent, ""), "charging");
        assertEquals(SafeReplayStepAction.ASK, before.action());
        assertEquals("run " + child + " that this step called has failed: replay that run first", before.why());
        ReplayPlanStoreWriteCommand.ReplayPlan first = plan(
                child,
                new ReplayPlanRequest("test", "", false, List.of(), false, false, ReplayNotificationMode.MISSING),
                null);
        apply(first, ReplayPlanApplyOptions.SAFE);
        completed(first);
        ReplayPlanStoreWriteCommand.ReplayPlan then = plan(parent, "");
        assertEquals(SafeReplayStepAction.REUSE, step(then, "charging").action());
        apply(then, ReplayPlanApplyOptions.SAFE);
        completed(then);
        assertEquals(1, cards.effects());
        assertEquals(1, mail.effects());
    }

    @Test
    void a_child_with_an_expired_key_is_found_and_charges_nothing() {
        Workflow<String, String> order = order(Start.withKey("charge-1"));
        kit.register(charging, order);
        mail.reject(1);
        Run<String> parent = started(order, RunStatus.FAILED);
        kit.clock().advance(Duration.ofHours(30));
        ReplayPlanStoreWriteCommand.ReplayPlan plan = plan(parent, ReplayOptions.START);
        assertEquals(SafeReplayStepAction.REUSE, step(plan, "charging").action());
        apply(plan, ReplayPlanApplyOptions.SAFE);
        completed(plan);
        assertEquals(1, cards.calls(), "the charge of the first run");
        assertEquals(1, mail.effects());
    }

    @Test
    void a_child_is_found_while_its_caller_can_be_replayed() {
        Workflow<String, String> slow = Workflow.define("slow", String.class, String.class)
                .body((ctx, in) -> {
                    ctx.call(charging, in);
                    ctx.sleep("season", Duration.ofDays(60));
                    return ctx.effect("send")
                            .retry(Retry.none())
                            .askOnDoubt("ops")
                            .call(String.class, step -> mail.call(step.key()));
                });
        kit.register(charging, slow);
        mail.reject(1);
        Run<String> run = started(slow, RunStatus.WAITING);
        kit.clock().advance(Duration.ofDays(61));
        assertEquals(RunStatus.FAILED, run.status());
        kit.clock().advance(Duration.ofDays(45)); // more than the 90 days for which a run of its own would be kept
        ReplayPlanStoreWriteCommand.ReplayPlan plan = plan(run, ReplayOptions.START);
        assertEquals(SafeReplayStepAction.REUSE, step(plan, "charging").action());
        apply(plan, ReplayPlanApplyOptions.SAFE);
        kit.clock().advance(Duration.ofDays(61));
        assertEquals(1, mail.effects(), kit::describe);
        assertEquals(1, cards.calls());
    }

    @Test
    void a_failed_child_runs_again_if_its_key_allows() {
        Workflow<String, String> again = charging(true);
        Workflow<String, String> order = order(Start.withKey("charge-1"));
        kit.register(again, order);
        cards.reject(1);
        Run<String> parent = started(order, RunStatus.FAILED);
        ReplayPlanStoreWriteCommand.ReplayPlan plan = plan(parent, "");
        assertEquals(SafeReplayStepAction.ASK, step(plan, "charging").action());
        apply(plan, new ReplayPlanApplyOptions(List.of(SafeReplayStepAction.ASK), 0, 0, 0));
        completed(plan);
        assertEquals(1, cards.effects());
    }

    @Test
    void a_signal_to_the_old_run_must_be_sent_again() {
        Workflow<String, String> waiting = Workflow.define("waiting", String.class, String.class)
                .body((ctx, _) -> {
                    String went = ctx.await(GO);
                    return ctx.effect("send")
                            .retry(Retry.none())
                            .askOnDoubt("ops")
                            .call(String.class, step -> went + mail.call(step.key()));
                });
        kit.register(waiting);
        mail.reject(1);
        Run<String> run = started(waiting, RunStatus.WAITING);
        assertTrue(run.signal(GO, "now", Key.of("go-1")));
        kit.settle();
        assertEquals(RunStatus.FAILED, run.status());
        assertEquals(
                SafeReplayStepAction.ASK,
                step(plan(run, ReplayOptions.START), "go").action());
        ReplayPlanStoreWriteCommand.ReplayPlan usual = plan(run, "");
        apply(usual, ReplayPlanApplyOptions.SAFE);
        completed(usual);
        assertEquals(1, mail.effects());
    }

    @Test
    void a_plan_by_the_current_version_is_outdated_after_a_publish() {
        Workflow<String, String> order = order(Start.fresh());
        kit.register(charging, order);
        mail.reject(1);
        Run<String> parent = started(order, RunStatus.FAILED);
        ReplayPlanStoreWriteCommand.ReplayPlan plan = plan(
                parent.id(),
                new ReplayPlanRequest(
                        "test", ReplayOptions.START, true, List.of(), false, false, ReplayNotificationMode.MISSING),
                null);
        assertEquals(SafeReplayStepAction.REUSE, step(plan, "charging").action());
        kit.register(Workflow.define("order", String.class, String.class)
                .title("The next one")
                .body((ctx, in) -> ctx.call("pay", charging, in, Start.fresh())));
        SemelException refused = assertThrows(SemelException.class, () -> apply(plan, ReplayPlanApplyOptions.SAFE));
        assertEquals(ErrorCode.PLAN_OUT_OF_DATE, refused.code());
        String why = String.valueOf(refused.members().get("differences"));
        assertTrue(why.contains("the plan used version 1 of its workflow, but version 2 is current"), why);
        ReplayPlanStoreWriteCommand.ReplayPlan next = plan(
                parent.id(),
                new ReplayPlanRequest(
                        "test", ReplayOptions.START, true, List.of(), false, false, ReplayNotificationMode.MISSING),
                null);
        assertEquals(
                SafeReplayStepAction.ASK, step(next, "charging").action(), "this code does it elsewhere, once more");
        assertThrows(SemelException.class, () -> apply(next, ReplayPlanApplyOptions.SAFE));
        assertEquals(1, cards.calls());
    }

    @Test
    void an_input_that_the_workflow_rejects_starts_no_run() {
        Workflow<Integer, Integer> number = Workflow.define("number", Integer.class, Integer.class)
                .body((ctx, in) -> ctx.step("twice").retry(Retry.none()).run(Integer.class, _ -> {
                    throw new IllegalStateException("no");
                }));
        kit.register(number);
        Run<Integer> run = kit.start(number, 1);
        kit.settle();
        ReplayPlanStoreWriteCommand.ReplayPlan plan = plan(
                run.id(),
                new ReplayPlanRequest("test", "", false, List.of(), false, false, ReplayNotificationMode.MISSING),
                "\"a word\"");
        apply(plan, ReplayPlanApplyOptions.SAFE);
        assertEquals(
                ReplayPlanStoreWriteCommand.ItemOutcome.REJECTED,
                item(plan).outcome(),
                () -> item(plan).toString());
    }
}
