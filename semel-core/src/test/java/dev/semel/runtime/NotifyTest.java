package dev.semel.runtime;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.semel.Run;
import dev.semel.error.ErrorCode;
import dev.semel.error.SemelException;
import dev.semel.json.StrictJson;
import dev.semel.replay.ReplayAction;
import dev.semel.replay.PlannedStep;
import dev.semel.replay.ApplyOptions;
import dev.semel.replay.NotificationMode;
import dev.semel.replay.ReplayPlanRequest;
import dev.semel.replay.ReplayPreview;
import dev.semel.replay.ReplayOptions;
import dev.semel.workflow.RunState;
import dev.semel.store.ReplayPlanQueries;
import dev.semel.store.ReplayPlanOperation;
import dev.semel.testing.WorkflowTestKit;
import dev.semel.testing.FakeProvider;
import dev.semel.workflow.EffectAction;
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
final class NotifyTest {
    private static final Duration A_DAY = Duration.ofHours(24);

    private final WorkflowTestKit lab = new WorkflowTestKit();
    private final FakeProvider cards = lab.provider("cards").honoursKeysFor(A_DAY);
    private final FakeProvider mail = lab.provider("mail").honoursKeysFor(A_DAY);

    @AfterEach
    void close() {
        lab.close();
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
                        .does(EffectAction.NOTIFY)
                        .retry(Retry.none())
                        .providerHonoursKey(A_DAY)
                        .call(String.class, step -> mail.call(step.key()));
                return paid + " " + sent;
            });

    private int ws() {
        return TestRuntime.of(lab).testAccess().workspace();
    }

    private ReplayPlanOperation.ReplayPlan plan(Run<?> run, NotificationMode notify, boolean confirmed, String from) {
        return TestRuntime.of(lab)
                .replays()
                .plan(new Replays.ReplayRequest(
                        ws(),
                        "ann",
                        new Replays.RunSelection.ByRunId(List.of(run.id())),
                        new ReplayPlanRequest("test", from, false, List.of(), confirmed, false, notify),
                        null,
                        false));
    }

    private ReplayPlanOperation.ReplayPlan plan(Run<?> run, NotificationMode notify) {
        return plan(run, notify, false, "");
    }

    private ReplayPlanOperation.PlanItem item(ReplayPlanOperation.ReplayPlan plan) {
        return TestRuntime.of(lab)
                .replays()
                .listItems(new ReplayPlanQueries.ItemFilter(plan.id(), 0, null), null, 10)
                .getFirst();
    }

    private static Map<String, ReplayAction> actions(ReplayPreview outlook) {
        return outlook.steps().stream().collect(Collectors.toMap(PlannedStep::step, PlannedStep::action));
    }

    private Map<String, ReplayAction> actions(ReplayPlanOperation.ReplayPlan plan) {
        return actions(ReplayPreview.parse(item(plan).preview()));
    }

    private Run<String> apply(ReplayPlanOperation.ReplayPlan plan) {
        TestRuntime.of(lab).replays().apply(ws(), plan.id(), ApplyOptions.SAFE, "bob");
        lab.settle();
        return TestRuntime.of(lab).run(receipt, String.valueOf(item(plan).newRun()));
    }

    private Run<String> ended(RunState state) {
        lab.register(receipt);
        Run<String> run = lab.start(receipt, "x");
        lab.clock().advance(Duration.ofHours(2));
        lab.settle();
        assertEquals(state, run.status());
        return run;
    }

    private Run<String> unsent() {
        mail.reject(1);
        return ended(RunState.FAILED);
    }

    @Test
    void what_is_missing_is_sent_unless_somebody_says_otherwise() {
        Run<String> run = unsent();
        ReplayPlanOperation.ReplayPlan plan = plan(run, NotificationMode.MISSING);
        assertEquals(Map.of("charge", ReplayAction.REUSE, "send", ReplayAction.SEND), actions(plan));
        assertEquals("cards-1 mail-1", apply(plan).result(Duration.ZERO));
    }

    @Test
    void a_replay_that_tells_nobody_goes_on_without_what_is_missing() {
        Run<String> run = unsent();
        ReplayPlanOperation.ReplayPlan plan = plan(run, NotificationMode.NONE);
        assertEquals(Map.of("charge", ReplayAction.REUSE, "send", ReplayAction.SILENT), actions(plan));
        assertEquals(1, StrictJson.parse(plan.summary()).at("/actions/silent/steps").asInt());
        assertEquals(1, StrictJson.parse(plan.summary()).at("/actions/silent/runs").asInt());
        assertEquals(1, StrictJson.parse(plan.summary()).path("safe").asInt());
        assertEquals("cards-1 null", apply(plan).result(Duration.ZERO));
        assertEquals(1, mail.calls(), "the one that was refused");
    }

    @Test
    void what_one_replay_kept_silent_is_what_is_missing_for_the_next() {
        Run<String> silent = apply(plan(unsent(), NotificationMode.NONE));
        assertEquals(1, mail.calls());
        assertEquals(Map.of("charge", ReplayAction.REUSE, "send", ReplayAction.REUSE), actions(plan(silent, NotificationMode.NONE)));
        ReplayPlanOperation.ReplayPlan plan = plan(silent, NotificationMode.MISSING);
        assertEquals(Map.of("charge", ReplayAction.REUSE, "send", ReplayAction.SEND), actions(plan));
        assertEquals("cards-1 mail-1", apply(plan).result(Duration.ZERO));
        assertEquals(1, cards.calls());
        assertEquals(1, mail.effects());
    }

    @Test
    void what_was_sent_is_reused_by_a_replay_that_tells_nobody() {
        Run<String> run = ended(RunState.COMPLETED);
        ReplayPlanOperation.ReplayPlan plan = plan(run, NotificationMode.NONE, false, ReplayOptions.START);
        assertEquals(Map.of("charge", ReplayAction.REUSE, "send", ReplayAction.REUSE), actions(plan));
        Run<String> replay = apply(plan);
        lab.clock().advance(Duration.ofHours(2));
        lab.settle();
        assertEquals("cards-1 mail-1", replay.result(Duration.ZERO));
        assertEquals(1, mail.calls());
    }

    @Test
    void what_may_have_been_sent_is_not_sent_again_and_stays_in_doubt() {
        mail.loseResponse(1);
        Run<String> run = ended(RunState.IN_DOUBT);
        run.cancel("ann", "nobody knows");
        lab.settle();
        ReplayPlanOperation.ReplayPlan plan = plan(run, NotificationMode.NONE);
        assertEquals(ReplayAction.SILENT, actions(plan).get("send"));
        assertEquals("cards-1 null", apply(plan).result(Duration.ZERO));
        assertEquals(1, mail.calls());
        assertEquals(List.of("send"), run.stepsInDoubt());
    }

    @Test
    void a_worker_that_takes_the_replay_over_tells_nobody_either() {
        Run<String> run = unsent();
        ReplayPlanOperation.ReplayPlan plan = plan(run, NotificationMode.NONE, false, ReplayOptions.START);
        lab.crash();
        Run<String> replay = apply(plan);
        assertEquals(RunState.WAITING, replay.status());
        lab.crash();
        lab.clock().advance(Duration.ofHours(2));
        lab.settle();
        assertEquals("cards-1 null", replay.result(Duration.ZERO));
        assertEquals(1, mail.calls());
    }

    @Test
    void a_replay_that_goes_on_in_place_tells_nobody_either() {
        cards.reject(2);
        Run<String> run = ended(RunState.FAILED);
        Run<String> replay = apply(plan(run, NotificationMode.NONE));
        assertEquals(RunState.FAILED, replay.status());
        replay.resume("ann", "the bank is back");
        lab.clock().advance(Duration.ofHours(2));
        lab.settle();
        assertEquals("cards-1 null", replay.result(Duration.ZERO));
        assertEquals(0, mail.calls());
    }

    @Test
    void telling_it_all_again_is_for_a_person_unless_it_is_confirmed() {
        Run<String> run = ended(RunState.COMPLETED);
        ReplayPlanOperation.ReplayPlan plan = plan(run, NotificationMode.AGAIN);
        assertEquals(Map.of("charge", ReplayAction.REUSE, "send", ReplayAction.ASK), actions(plan));
        SemelException refused = assertThrows(SemelException.class, () -> apply(plan));
        assertEquals(ErrorCode.REPLAY_REFUSED, refused.code());
        ReplayPlanOperation.ReplayPlan meant = plan(run, NotificationMode.AGAIN, true, "");
        assertEquals(Map.of("charge", ReplayAction.REUSE, "send", ReplayAction.SEND), actions(meant));
        assertEquals("cards-1 mail-2", apply(meant).result(Duration.ZERO));
        assertEquals(1, cards.calls());
        assertEquals(2, Set.copyOf(mail.keys()).size());
    }
}
