package dev.semel;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.semel.error.ErrorCode;
import dev.semel.error.SemelException;
import dev.semel.json.Json;
import dev.semel.replay.Action;
import dev.semel.replay.Foretold;
import dev.semel.replay.Manner;
import dev.semel.replay.Notify;
import dev.semel.replay.Order;
import dev.semel.replay.Outlook;
import dev.semel.replay.Resume;
import dev.semel.replay.Terms;
import dev.semel.run.RunState;
import dev.semel.store.Plans;
import dev.semel.store.Replay;
import dev.semel.testing.Lab;
import dev.semel.testing.Provider;
import dev.semel.workflow.EffectPlan;
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

    private final Lab lab = new Lab();
    private final Provider cards = lab.provider("cards").honoursKeysFor(A_DAY);
    private final Provider mail = lab.provider("mail").honoursKeysFor(A_DAY);

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
                        .does(EffectPlan.Does.NOTIFY)
                        .retry(Retry.none())
                        .providerHonoursKey(A_DAY)
                        .call(String.class, step -> mail.call(step.key()));
                return paid + " " + sent;
            });

    private int ws() {
        return lab.semel().backstage().workspace();
    }

    private Replay.Plan plan(Run<?> run, Notify notify, boolean confirmed, String from) {
        return lab.semel()
                .replays()
                .plan(new Replays.Asked(
                        ws(),
                        "ann",
                        new Replays.Which.These(List.of(run.id())),
                        new Order("test", from, false, List.of(), confirmed, false, notify),
                        null,
                        false));
    }

    private Replay.Plan plan(Run<?> run, Notify notify) {
        return plan(run, notify, false, "");
    }

    private Replay.Item item(Replay.Plan plan) {
        return lab.semel()
                .replays()
                .items(new Plans.Wanted(plan.id(), 0, null), null, 10)
                .getFirst();
    }

    private static Map<String, Action> actions(Outlook outlook) {
        return outlook.steps().stream().collect(Collectors.toMap(Foretold::step, Foretold::action));
    }

    private Map<String, Action> actions(Replay.Plan plan) {
        return actions(Outlook.parse(item(plan).body()));
    }

    private Run<String> apply(Replay.Plan plan) {
        lab.semel().replays().apply(ws(), plan.id(), Manner.SAFE, "bob");
        lab.settle();
        return lab.semel().run(receipt, String.valueOf(item(plan).made()));
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
        mail.refuse(1);
        return ended(RunState.FAILED);
    }

    @Test
    void what_is_missing_is_sent_unless_somebody_says_otherwise() {
        Run<String> run = unsent();
        Replay.Plan plan = plan(run, Notify.MISSING);
        assertEquals(Map.of("charge", Action.REUSE, "send", Action.SEND), actions(plan));
        assertEquals("cards-1 mail-1", apply(plan).result(Duration.ZERO));
    }

    @Test
    void a_replay_that_tells_nobody_goes_on_without_what_is_missing() {
        Run<String> run = unsent();
        Replay.Plan plan = plan(run, Notify.NONE);
        assertEquals(Map.of("charge", Action.REUSE, "send", Action.SILENT), actions(plan));
        assertEquals(1, Json.parse(plan.counts()).at("/actions/silent/steps").asInt());
        assertEquals(1, Json.parse(plan.counts()).at("/actions/silent/runs").asInt());
        assertEquals(1, Json.parse(plan.counts()).path("safe").asInt());
        assertEquals("cards-1 null", apply(plan).result(Duration.ZERO));
        assertEquals(1, mail.calls(), "the one that was refused");
    }

    @Test
    void what_one_replay_kept_silent_is_what_is_missing_for_the_next() {
        Run<String> silent = apply(plan(unsent(), Notify.NONE));
        assertEquals(1, mail.calls());
        assertEquals(Map.of("charge", Action.REUSE, "send", Action.REUSE), actions(plan(silent, Notify.NONE)));
        Replay.Plan plan = plan(silent, Notify.MISSING);
        assertEquals(Map.of("charge", Action.REUSE, "send", Action.SEND), actions(plan));
        assertEquals("cards-1 mail-1", apply(plan).result(Duration.ZERO));
        assertEquals(1, cards.calls());
        assertEquals(1, mail.effects());
    }

    @Test
    void what_was_sent_is_reused_by_a_replay_that_tells_nobody() {
        Run<String> run = ended(RunState.COMPLETED);
        Replay.Plan plan = plan(run, Notify.NONE, false, Terms.START);
        assertEquals(Map.of("charge", Action.REUSE, "send", Action.REUSE), actions(plan));
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
        Replay.Plan plan = plan(run, Notify.NONE);
        assertEquals(Action.SILENT, actions(plan).get("send"));
        assertEquals("cards-1 null", apply(plan).result(Duration.ZERO));
        assertEquals(1, mail.calls());
        assertEquals(List.of("send"), run.inDoubt());
    }

    @Test
    void a_worker_that_takes_the_replay_over_tells_nobody_either() {
        Run<String> run = unsent();
        Replay.Plan plan = plan(run, Notify.NONE, false, Terms.START);
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
        cards.refuse(2);
        Run<String> run = ended(RunState.FAILED);
        Run<String> replay = apply(plan(run, Notify.NONE));
        assertEquals(RunState.FAILED, replay.status());
        replay.resume(Resume.because("ann", "the bank is back"));
        lab.clock().advance(Duration.ofHours(2));
        lab.settle();
        assertEquals("cards-1 null", replay.result(Duration.ZERO));
        assertEquals(0, mail.calls());
    }

    @Test
    void telling_it_all_again_is_for_a_person_unless_it_is_confirmed() {
        Run<String> run = ended(RunState.COMPLETED);
        Replay.Plan plan = plan(run, Notify.AGAIN);
        assertEquals(Map.of("charge", Action.REUSE, "send", Action.ASK), actions(plan));
        SemelException refused = assertThrows(SemelException.class, () -> apply(plan));
        assertEquals(ErrorCode.REPLAY_REFUSED, refused.code());
        Replay.Plan meant = plan(run, Notify.AGAIN, true, "");
        assertEquals(Map.of("charge", Action.REUSE, "send", Action.SEND), actions(meant));
        assertEquals("cards-1 mail-2", apply(meant).result(Duration.ZERO));
        assertEquals(1, cards.calls());
        assertEquals(2, Set.copyOf(mail.keys()).size());
    }
}
