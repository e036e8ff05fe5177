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
import dev.semel.replay.ReplayPlanApplyOptions;
import dev.semel.replay.ReplayPlanRequest;
import dev.semel.replay.ReplayPreview;
import dev.semel.replay.SafeReplayStepAction;
import dev.semel.store.ReplayPlanQueries;
import dev.semel.store.ReplayPlanStoreWriteCommand;
import dev.semel.testing.FakeExternalSystem;
import dev.semel.testing.WorkflowTestKit;
import dev.semel.workflow.Retry;
import dev.semel.workflow.Workflow;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Steps that are done again on purpose: never by accident, and with keys of their own. */
final class RedoStepTest {
    private final WorkflowTestKit kit = new WorkflowTestKit();
    private final FakeExternalSystem cards = kit.provider("cards").honoursKeysFor(Duration.ofHours(24));
    private final FakeExternalSystem mail = kit.provider("mail").honoursKeysFor(Duration.ofHours(24));

    @AfterEach
    void close() {
        kit.close();
    }

    private final Workflow<String, String> receipt = Workflow.define("receipt", String.class, String.class)
            .body((ctx, in) -> {
                String paid = ctx.effect("charge")
                        .providerHonoursKey(Duration.ofHours(24))
                        .call(String.class, step -> cards.call(step.key()));
                String sent = ctx.effect("send")
                        .retry(Retry.none())
                        .providerHonoursKey(Duration.ofHours(24))
                        .call(String.class, step -> mail.call(step.key()));
                return paid + " " + sent;
            });

    private int ws() {
        return TestRuntime.of(kit).testAccess().workspace();
    }

    private ReplayPlanStoreWriteCommand.ReplayPlan plan(Run<?> run, boolean confirmed, String... redo) {
        return TestRuntime.of(kit)
                .replays()
                .plan(new ReplayPlanOperations.ReplayRequest(
                        ws(),
                        "ann",
                        new ReplayPlanOperations.RunSelection.ByRunId(List.of(run.id())),
                        new ReplayPlanRequest(
                                "test", "", false, List.of(redo), confirmed, false, ReplayNotificationMode.MISSING),
                        null,
                        false,
                        ReplayPlanApplyOptions.SAFE));
    }

    private ReplayPlanStoreWriteCommand.PlanItem item(ReplayPlanStoreWriteCommand.ReplayPlan plan) {
        return TestRuntime.of(kit)
                .replays()
                .listItems(new ReplayPlanQueries.ItemFilter(plan.id(), 0, null), null, 10)
                .getFirst();
    }

    private Map<String, SafeReplayStepAction> actions(ReplayPlanStoreWriteCommand.ReplayPlan plan) {
        return ReplayPreview.parse(item(plan).preview()).steps().stream()
                .collect(Collectors.toMap(PlannedReplayStep::step, PlannedReplayStep::action));
    }

    private Run<String> apply(ReplayPlanStoreWriteCommand.ReplayPlan plan, ReplayPlanApplyOptions applyOptions) {
        TestRuntime.of(kit).replays().apply(ws(), plan.id(), applyOptions, "bob");
        kit.settle();
        return TestRuntime.of(kit).run(receipt, String.valueOf(item(plan).newRun()));
    }

    private Run<String> completed() {
        kit.register(receipt);
        Run<String> run = kit.start(receipt, "x");
        kit.settle();
        assertEquals("cards-1 mail-1", run.result(Duration.ZERO));
        return run;
    }

    @Test
    void redoing_a_step_needs_a_user_unless_confirmed() {
        Run<String> run = completed();
        ReplayPlanStoreWriteCommand.ReplayPlan plan = plan(run, false, "send");
        assertEquals(Map.of("charge", SafeReplayStepAction.REUSE, "send", SafeReplayStepAction.ASK), actions(plan));
        SemelException refused = assertThrows(SemelException.class, () -> apply(plan, ReplayPlanApplyOptions.SAFE));
        assertEquals(ErrorCode.REPLAY_REFUSED, refused.code());
        assertEquals(1, mail.calls());
    }

    @Test
    void a_confirmed_redo_is_sent_with_its_own_key_and_the_rest_is_reused() {
        Run<String> run = completed();
        ReplayPlanStoreWriteCommand.ReplayPlan plan = plan(run, true, "send");
        assertEquals(
                Map.of("charge", SafeReplayStepAction.REUSE, "send", SafeReplayStepAction.SEND_AGAIN), actions(plan));
        assertTrue(plan.summary().contains("\"safe\":0"), plan.summary());
        assertTrue(plan.summary().contains("\"send\":{\"runs\":0,\"steps\":0}"), plan.summary());
        Run<String> replay = apply(plan, ReplayPlanApplyOptions.SAFE);
        assertEquals("cards-1 mail-2", replay.result(Duration.ZERO));
        assertEquals(1, cards.calls());
        assertEquals(2, mail.effects());
        assertEquals(2, Set.copyOf(mail.keys()).size());
        ReplayPlanStoreWriteCommand.ReplayPlan later = plan(replay, false);
        assertEquals(SafeReplayStepAction.REUSE, actions(later).get("send"));
    }

    @Test
    void effects_after_the_redone_step_are_reused_from_the_ledger() {
        Run<String> run = completed();
        Run<String> replay = apply(plan(run, true, "charge"), ReplayPlanApplyOptions.SAFE);
        assertEquals("cards-2 mail-1", replay.result(Duration.ZERO));
        assertEquals(2, cards.effects());
        assertEquals(1, mail.calls());
    }

    @Test
    void a_crash_during_a_redo_duplicates_nothing() {
        Run<String> run = completed();
        ReplayPlanStoreWriteCommand.ReplayPlan plan = plan(run, true, "send");
        kit.crashAt("effect-sent", 1);
        kit.clock().autoAdvance();
        Run<String> replay = apply(plan, ReplayPlanApplyOptions.SAFE);
        assertEquals(RunStatus.COMPLETED, replay.status());
        assertEquals(2, mail.effects(), "one before, and one on purpose");
        assertEquals(2, Set.copyOf(mail.keys()).size(), "sent again with the same key");
    }

    @Test
    void a_step_that_the_run_did_not_reach_cannot_be_redone() {
        Run<String> run = completed();
        ReplayPreview prediction =
                ReplayPreview.parse(item(plan(run, true, "nothing")).preview());
        assertTrue(String.valueOf(prediction.blocked()).contains("did not reach this step"));
    }

    @Test
    void a_rejected_step_can_be_redone_in_place() {
        Run<String> run = completed();
        mail.reject(1);
        Run<String> replay = apply(plan(run, true, "send"), ReplayPlanApplyOptions.SAFE);
        assertEquals(RunStatus.FAILED, replay.status());
        replay.resume("ann", "mended");
        kit.settle();
        assertEquals("cards-1 mail-2", replay.result(Duration.ZERO));
        assertEquals(2, mail.effects());
        assertEquals(2, Set.copyOf(mail.keys()).size());
    }
}
