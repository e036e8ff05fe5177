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
import dev.semel.workflow.RunState;
import dev.semel.store.ReplayPlanQueries;
import dev.semel.store.ReplayPlanOperation;
import dev.semel.testing.WorkflowTestKit;
import dev.semel.testing.FakeProvider;
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
final class RedoTest {
    private final WorkflowTestKit lab = new WorkflowTestKit();
    private final FakeProvider cards = lab.provider("cards").honoursKeysFor(Duration.ofHours(24));
    private final FakeProvider mail = lab.provider("mail").honoursKeysFor(Duration.ofHours(24));

    @AfterEach
    void close() {
        lab.close();
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
        return TestRuntime.of(lab).testAccess().workspace();
    }

    private ReplayPlanOperation.ReplayPlan plan(Run<?> run, boolean confirmed, String... redo) {
        return TestRuntime.of(lab)
                .replays()
                .plan(new Replays.ReplayRequest(
                        ws(),
                        "ann",
                        new Replays.RunSelection.ByRunId(List.of(run.id())),
                        new ReplayPlanRequest("test", "", false, List.of(redo), confirmed, false),
                        null,
                        false));
    }

    private ReplayPlanOperation.PlanItem item(ReplayPlanOperation.ReplayPlan plan) {
        return TestRuntime.of(lab)
                .replays()
                .listItems(new ReplayPlanQueries.ItemFilter(plan.id(), 0, null), null, 10)
                .getFirst();
    }

    private Map<String, ReplayAction> actions(ReplayPlanOperation.ReplayPlan plan) {
        return ReplayPreview.parse(item(plan).preview()).steps().stream()
                .collect(Collectors.toMap(PlannedStep::step, PlannedStep::action));
    }

    private Run<String> apply(ReplayPlanOperation.ReplayPlan plan, ApplyOptions manner) {
        TestRuntime.of(lab).replays().apply(ws(), plan.id(), manner, "bob");
        lab.settle();
        return TestRuntime.of(lab).run(receipt, String.valueOf(item(plan).newRun()));
    }

    private Run<String> completed() {
        lab.register(receipt);
        Run<String> run = lab.start(receipt, "x");
        lab.settle();
        assertEquals("cards-1 mail-1", run.result(Duration.ZERO));
        return run;
    }

    @Test
    void a_step_that_is_to_be_done_again_is_for_a_person_unless_it_is_confirmed() {
        Run<String> run = completed();
        ReplayPlanOperation.ReplayPlan plan = plan(run, false, "send");
        assertEquals(Map.of("charge", ReplayAction.REUSE, "send", ReplayAction.ASK), actions(plan));
        SemelException refused = assertThrows(SemelException.class, () -> apply(plan, ApplyOptions.SAFE));
        assertEquals(ErrorCode.REPLAY_REFUSED, refused.code());
        assertEquals(1, mail.calls());
    }

    @Test
    void a_confirmed_one_is_sent_with_a_key_of_its_own_and_the_rest_is_reused() {
        Run<String> run = completed();
        ReplayPlanOperation.ReplayPlan plan = plan(run, true, "send");
        assertEquals(Map.of("charge", ReplayAction.REUSE, "send", ReplayAction.SEND), actions(plan));
        Run<String> replay = apply(plan, ApplyOptions.SAFE);
        assertEquals("cards-1 mail-2", replay.result(Duration.ZERO));
        assertEquals(1, cards.calls());
        assertEquals(2, mail.effects());
        assertEquals(2, Set.copyOf(mail.keys()).size());
        ReplayPlanOperation.ReplayPlan later = plan(replay, false);
        assertEquals(ReplayAction.REUSE, actions(later).get("send"));
    }

    @Test
    void what_stands_behind_it_is_reused_by_the_ledger() {
        Run<String> run = completed();
        Run<String> replay = apply(plan(run, true, "charge"), ApplyOptions.SAFE);
        assertEquals("cards-2 mail-1", replay.result(Duration.ZERO));
        assertEquals(2, cards.effects());
        assertEquals(1, mail.calls());
    }

    @Test
    void a_crash_in_the_middle_of_it_doubles_nothing() {
        Run<String> run = completed();
        ReplayPlanOperation.ReplayPlan plan = plan(run, true, "send");
        lab.crashAt("effect-sent", 1);
        lab.clock().autoAdvance();
        Run<String> replay = apply(plan, ApplyOptions.SAFE);
        assertEquals(RunState.COMPLETED, replay.status());
        assertEquals(2, mail.effects(), "one before, and one on purpose");
        assertEquals(2, Set.copyOf(mail.keys()).size(), "sent again with the same key");
    }

    @Test
    void a_step_that_the_run_did_not_come_to_cannot_be_done_again() {
        Run<String> run = completed();
        ReplayPreview outlook = ReplayPreview.parse(item(plan(run, true, "nothing")).preview());
        assertTrue(String.valueOf(outlook.blocked()).contains("did not reach it"));
    }

    @Test
    void one_that_was_refused_goes_on_in_place_and_is_done_once_more() {
        Run<String> run = completed();
        mail.reject(1);
        Run<String> replay = apply(plan(run, true, "send"), ApplyOptions.SAFE);
        assertEquals(RunState.FAILED, replay.status());
        replay.resume("ann", "mended");
        lab.settle();
        assertEquals("cards-1 mail-2", replay.result(Duration.ZERO));
        assertEquals(2, mail.effects());
        assertEquals(2, Set.copyOf(mail.keys()).size());
    }
}
