package dev.semel.runtime;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.semel.Run;
import dev.semel.RunStatus;
import dev.semel.error.ErrorCode;
import dev.semel.error.SemelException;
import dev.semel.json.StrictJsonCodec;
import dev.semel.replay.PlannedReplayStep;
import dev.semel.replay.ReplayNotificationMode;
import dev.semel.replay.ReplayOptions;
import dev.semel.replay.ReplayPlanApplyOptions;
import dev.semel.replay.ReplayPlanRequest;
import dev.semel.replay.ReplayPreview;
import dev.semel.replay.SafeReplayStepAction;
import dev.semel.store.ReplayPlanQueries;
import dev.semel.store.ReplayPlanStoreWriteCommand;
import dev.semel.testing.FakeExternalSystem;
import dev.semel.testing.WorkflowTestKit;
import dev.semel.workflow.EffectOperation;
import dev.semel.workflow.Retry;
import dev.semel.workflow.Workflow;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** What a replay tells people: what is missing, nothing, or everything again; counted at the providers. */
final class ReplayNotificationsTest {
    private static final Duration A_DAY = Duration.ofHours(24);

    private final WorkflowTestKit kit = new WorkflowTestKit();
    private final FakeExternalSystem cards = kit.provider("cards").honoursKeysFor(A_DAY);
    private final FakeExternalSystem mail = kit.provider("mail").honoursKeysFor(A_DAY);

    @AfterEach
    void close() {
        kit.close();
    }

    /** Charges a card, waits, and sends a mail. */
    private final Workflow<String, String> receipt = Workflow.define("receipt", String.class, String.class)
            .body((ctx, in) -> {
                String paid = ctx.effect("charge")
                        .retry(Retry.none())
                        .providerHonoursKey(A_DAY)
                        .call(String.class, step -> cards.call(step.key()));
                ctx.sleep("pause", Duration.ofHours(1));
                String sent = ctx.effect("send")
                        .does(EffectOperation.NOTIFY)
                        .retry(Retry.none())
                        .providerHonoursKey(A_DAY)
                        .call(String.class, step -> mail.call(step.key()));
                return paid + " " + sent;
            });

    private int ws() {
        return TestRuntime.of(kit).testAccess().workspace();
    }

    private ReplayPlanStoreWriteCommand.ReplayPlan plan(
            Run<?> run, ReplayNotificationMode notify, boolean confirmed, String from) {
        return TestRuntime.of(kit)
                .replays()
                .plan(new ReplayPlanOperations.ReplayRequest(
                        ws(),
                        "ann",
                        new ReplayPlanOperations.RunSelection.ByRunId(List.of(run.id())),
                        new ReplayPlanRequest("test", from, false, List.of(), confirmed, false, notify),
                        null,
                        false,
                        ReplayPlanApplyOptions.SAFE));
    }

    private ReplayPlanStoreWriteCommand.ReplayPlan plan(Run<?> run, ReplayNotificationMode notify) {
        return plan(run, notify, false, "");
    }

    private ReplayPlanStoreWriteCommand.PlanItem item(ReplayPlanStoreWriteCommand.ReplayPlan plan) {
        return TestRuntime.of(kit)
                .replays()
                .listItems(new ReplayPlanQueries.ItemFilter(plan.id(), 0, null), null, 10)
                .getFirst();
    }

    private static Map<String, SafeReplayStepAction> actions(ReplayPreview prediction) {
        return prediction.steps().stream()
                .collect(Collectors.toMap(PlannedReplayStep::step, PlannedReplayStep::action));
    }

    private Map<String, SafeReplayStepAction> actions(ReplayPlanStoreWriteCommand.ReplayPlan plan) {
        return actions(ReplayPreview.parse(item(plan).preview()));
    }

    private Run<String> apply(ReplayPlanStoreWriteCommand.ReplayPlan plan) {
        TestRuntime.of(kit).replays().apply(ws(), plan.id(), ReplayPlanApplyOptions.SAFE, "bob");
        kit.settle();
        return TestRuntime.of(kit).run(receipt, String.valueOf(item(plan).newRun()));
    }

    private Run<String> ended(RunStatus state) {
        kit.register(receipt);
        Run<String> run = kit.start(receipt, "x");
        kit.clock().advance(Duration.ofHours(2));
        kit.settle();
        assertEquals(state, run.status());
        return run;
    }

    private Run<String> unsent() {
        mail.reject(1);
        return ended(RunStatus.FAILED);
    }

    @Test
    void by_default_a_replay_sends_missing_notifications() {
        Run<String> run = unsent();
        ReplayPlanStoreWriteCommand.ReplayPlan plan = plan(run, ReplayNotificationMode.MISSING);
        assertEquals(Map.of("charge", SafeReplayStepAction.REUSE, "send", SafeReplayStepAction.SEND), actions(plan));
        assertEquals("cards-1 mail-1", apply(plan).result(Duration.ZERO));
    }

    @Test
    void a_silent_replay_continues_without_the_missing_notifications() {
        Run<String> run = unsent();
        ReplayPlanStoreWriteCommand.ReplayPlan plan = plan(run, ReplayNotificationMode.NONE);
        assertEquals(Map.of("charge", SafeReplayStepAction.REUSE, "send", SafeReplayStepAction.SILENT), actions(plan));
        assertEquals(
                1,
                StrictJsonCodec.parse(plan.summary())
                        .at("/actions/silent/steps")
                        .asInt());
        assertEquals(
                1,
                StrictJsonCodec.parse(plan.summary()).at("/actions/silent/runs").asInt());
        assertEquals(1, StrictJsonCodec.parse(plan.summary()).path("safe").asInt());
        assertEquals("cards-1 null", apply(plan).result(Duration.ZERO));
        assertEquals(1, mail.calls(), "the one that was refused");
    }

    @Test
    void a_notification_silenced_by_one_replay_is_missing_for_the_next() {
        Run<String> silent = apply(plan(unsent(), ReplayNotificationMode.NONE));
        assertEquals(1, mail.calls());
        assertEquals(
                Map.of("charge", SafeReplayStepAction.REUSE, "send", SafeReplayStepAction.REUSE),
                actions(plan(silent, ReplayNotificationMode.NONE)));
        ReplayPlanStoreWriteCommand.ReplayPlan plan = plan(silent, ReplayNotificationMode.MISSING);
        assertEquals(Map.of("charge", SafeReplayStepAction.REUSE, "send", SafeReplayStepAction.SEND), actions(plan));
        assertEquals("cards-1 mail-1", apply(plan).result(Duration.ZERO));
        assertEquals(1, cards.calls());
        assertEquals(1, mail.effects());
    }

    @Test
    void a_silent_replay_reuses_sent_notifications() {
        Run<String> run = ended(RunStatus.COMPLETED);
        ReplayPlanStoreWriteCommand.ReplayPlan plan =
                plan(run, ReplayNotificationMode.NONE, false, ReplayOptions.START);
        assertEquals(Map.of("charge", SafeReplayStepAction.REUSE, "send", SafeReplayStepAction.REUSE), actions(plan));
        Run<String> replay = apply(plan);
        kit.clock().advance(Duration.ofHours(2));
        kit.settle();
        assertEquals("cards-1 mail-1", replay.result(Duration.ZERO));
        assertEquals(1, mail.calls());
    }

    @Test
    void a_notification_that_may_have_been_sent_is_not_resent_and_becomes_in_doubt() {
        mail.loseResponse(1);
        Run<String> run = ended(RunStatus.FAILED);
        assertEquals(List.of(), run.stepsInDoubt());
        ReplayPlanStoreWriteCommand.ReplayPlan plan = plan(run, ReplayNotificationMode.NONE);
        assertEquals(SafeReplayStepAction.SILENT, actions(plan).get("send"));
        assertEquals("cards-1 null", apply(plan).result(Duration.ZERO));
        assertEquals(1, mail.calls());
        kit.clock().advance(Duration.ofDays(1));
        kit.settle();
        assertEquals(List.of("send"), run.stepsInDoubt());
    }

    @Test
    void a_worker_that_takes_over_a_silent_replay_stays_silent() {
        Run<String> run = unsent();
        ReplayPlanStoreWriteCommand.ReplayPlan plan =
                plan(run, ReplayNotificationMode.NONE, false, ReplayOptions.START);
        kit.crash();
        Run<String> replay = apply(plan);
        assertEquals(RunStatus.WAITING, replay.status());
        kit.crash();
        kit.clock().advance(Duration.ofHours(2));
        kit.settle();
        Run<String> takenOver = kit.semel().run(receipt, replay.id()); // the crashed engine answers no reads
        assertEquals("cards-1 null", takenOver.result(Duration.ZERO));
        assertEquals(1, mail.calls());
    }

    @Test
    void a_silent_resume_in_place_stays_silent() {
        cards.reject(2);
        Run<String> run = ended(RunStatus.FAILED);
        Run<String> replay = apply(plan(run, ReplayNotificationMode.NONE));
        assertEquals(RunStatus.FAILED, replay.status());
        replay.resume("ann", "the bank is back");
        kit.clock().advance(Duration.ofHours(2));
        kit.settle();
        assertEquals("cards-1 null", replay.result(Duration.ZERO));
        assertEquals(0, mail.calls());
    }

    @Test
    void sending_all_notifications_again_needs_a_user_unless_confirmed() {
        Run<String> run = ended(RunStatus.COMPLETED);
        ReplayPlanStoreWriteCommand.ReplayPlan plan = plan(run, ReplayNotificationMode.AGAIN);
        assertEquals(Map.of("charge", SafeReplayStepAction.REUSE, "send", SafeReplayStepAction.ASK), actions(plan));
        SemelException refused = assertThrows(SemelException.class, () -> apply(plan));
        assertEquals(ErrorCode.REPLAY_REFUSED, refused.code());
        ReplayPlanStoreWriteCommand.ReplayPlan meant = plan(run, ReplayNotificationMode.AGAIN, true, "");
        assertEquals(
                Map.of("charge", SafeReplayStepAction.REUSE, "send", SafeReplayStepAction.SEND_AGAIN), actions(meant));
        assertEquals("cards-1 mail-2", apply(meant).result(Duration.ZERO));
        assertEquals(1, cards.calls());
        assertEquals(2, Set.copyOf(mail.keys()).size());
    }
}
