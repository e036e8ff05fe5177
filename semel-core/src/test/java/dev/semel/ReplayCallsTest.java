package dev.semel;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.semel.error.ErrorCode;
import dev.semel.error.SemelException;
import dev.semel.key.KeyPolicy;
import dev.semel.replay.Action;
import dev.semel.replay.Foretold;
import dev.semel.replay.Manner;
import dev.semel.replay.Order;
import dev.semel.replay.Outlook;
import dev.semel.replay.Resume;
import dev.semel.replay.Terms;
import dev.semel.run.RunId;
import dev.semel.run.RunState;
import dev.semel.store.Plans;
import dev.semel.store.Replay;
import dev.semel.testing.Lab;
import dev.semel.testing.Provider;
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

    private final Lab lab = new Lab();
    private final Provider cards = lab.provider("cards").honoursKeysFor(Duration.ofHours(24));
    private final Provider mail = lab.provider("mail");

    private final Workflow<String, String> charging = charging(KeyPolicy.OnFailed.RETURN_FAILED);

    @AfterEach
    void close() {
        lab.close();
    }

    private Workflow<String, String> charging(KeyPolicy.OnFailed onFailed) {
        return Workflow.define("charging", String.class, String.class)
                .onFailed(onFailed)
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
        return lab.semel().backstage().workspace();
    }

    private Replay.Plan plan(String run, Order order, @Nullable String input) {
        var which = new Replays.Which.These(List.of(run));
        return lab.semel().replays().plan(new Replays.Asked(ws(), "ann", which, order, input, false));
    }

    private Replay.Plan plan(Run<?> run, String from) {
        return plan(run.id(), new Order("test", from, false), null);
    }

    private void apply(Replay.Plan plan, Manner manner) {
        lab.semel().replays().apply(ws(), plan.id(), manner, "bob");
        lab.clock().advance(Duration.ofMinutes(1));
    }

    private Replay.Item item(Replay.Plan plan) {
        return lab.semel()
                .replays()
                .items(new Plans.Wanted(plan.id(), 0, null), null, 10)
                .getFirst();
    }

    private Foretold step(Replay.Plan plan, String path) {
        Outlook outlook = Replays.outlook(item(plan));
        return outlook.steps().stream()
                .filter(one -> one.step().equals(path))
                .findFirst()
                .orElseThrow(() -> new AssertionError(outlook.toString()));
    }

    private void completed(Replay.Plan plan) {
        assertEquals(
                List.of(new Plans.Count(Replay.Fate.APPLIED, RunState.COMPLETED, 1)),
                lab.semel().replays().progress(plan.id()),
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
        cards.refuse(1);
        Run<String> run = started(order, RunState.FAILED);
        var row = Objects.requireNonNull(lab.semel().backstage().row(run.id()));
        var child = Objects.requireNonNull(
                lab.semel().view(reads -> reads.children(row.id()).getFirst()));
        Replay.Plan plan = plan(child.text(), new Order("test", "", false), null);
        apply(plan, Manner.SAFE);
        completed(plan);
        assertEquals(1, cards.effects());
        lab.clock().advance(Duration.ofDays(2));
        run.resume(Resume.because("ann", "the card was charged"));
        lab.clock().advance(Duration.ofMinutes(2));
        assertEquals(RunState.COMPLETED, run.status(), lab::describe);
        assertEquals(1, cards.effects(), "the child was not started again");
    }

    private String childOf(Run<?> parent) {
        RunId id = Objects.requireNonNull(RunId.parse(parent.id()));
        return Objects.requireNonNull(
                lab.semel().view(reads -> reads.children(id).getFirst().text()));
    }

    @Test
    void a_run_whose_child_failed_names_the_child_and_is_replayed_to_success_behind_it() {
        Workflow<String, String> order = order(Start.fresh());
        lab.register(charging, order);
        cards.refuse(1);
        Run<String> parent = started(order, RunState.FAILED);
        String child = childOf(parent);
        Foretold before = step(plan(parent, ""), "charging");
        assertEquals(Action.ASK, before.action());
        assertEquals("run " + child + " that it called has failed: replay that first", before.why());
        Replay.Plan first = plan(child, new Order("test", "", false), null);
        apply(first, Manner.SAFE);
        completed(first);
        Replay.Plan then = plan(parent, "");
        assertEquals(Action.REUSE, step(then, "charging").action());
        apply(then, Manner.SAFE);
        completed(then);
        assertEquals(1, cards.effects());
        assertEquals(1, mail.effects());
    }

    @Test
    void a_child_whose_key_has_expired_is_found_again_and_charges_nothing() {
        Workflow<String, String> order = order(Start.withKey("charge-1"));
        lab.register(charging, order);
        mail.refuse(1);
        Run<String> parent = started(order, RunState.FAILED);
        lab.clock().advance(Duration.ofHours(30));
        Replay.Plan plan = plan(parent, Terms.START);
        assertEquals(Action.REUSE, step(plan, "charging").action());
        apply(plan, Manner.SAFE);
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
        mail.refuse(1);
        Run<String> run = started(slow, RunState.WAITING);
        lab.clock().advance(Duration.ofDays(61));
        assertEquals(RunState.FAILED, run.status());
        lab.clock().advance(Duration.ofDays(45)); // more than the 90 days for which a run of its own would be kept
        Replay.Plan plan = plan(run, Terms.START);
        assertEquals(Action.REUSE, step(plan, "charging").action());
        apply(plan, Manner.SAFE);
        lab.clock().advance(Duration.ofDays(61));
        assertEquals(1, mail.effects(), lab::describe);
        assertEquals(1, cards.calls());
    }

    @Test
    void a_failed_child_whose_key_lets_it_run_again_is_run_again() {
        Workflow<String, String> again = charging(KeyPolicy.OnFailed.RUN_AGAIN);
        Workflow<String, String> order = order(Start.withKey("charge-1"));
        lab.register(again, order);
        cards.refuse(1);
        Run<String> parent = started(order, RunState.FAILED);
        Replay.Plan plan = plan(parent, "");
        assertEquals(Action.ASK, step(plan, "charging").action());
        apply(plan, new Manner(List.of(Action.ASK), 0, 0, 0));
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
        mail.refuse(1);
        Run<String> run = started(waiting, RunState.WAITING);
        assertTrue(run.signal(GO, "now", Key.of("go-1")));
        lab.settle();
        assertEquals(RunState.FAILED, run.status());
        assertEquals(Action.ASK, step(plan(run, Terms.START), "go").action());
        Replay.Plan usual = plan(run, "");
        apply(usual, Manner.SAFE);
        completed(usual);
        assertEquals(1, mail.effects());
    }

    @Test
    void a_plan_by_the_current_version_is_out_of_date_when_another_one_is_published() {
        Workflow<String, String> order = order(Start.fresh());
        lab.register(charging, order);
        mail.refuse(1);
        Run<String> parent = started(order, RunState.FAILED);
        Replay.Plan plan = plan(parent.id(), new Order("test", Terms.START, true), null);
        assertEquals(Action.REUSE, step(plan, "charging").action());
        lab.register(Workflow.define("order", String.class, String.class)
                .title("The next one")
                .body((ctx, in) -> ctx.call("pay", charging, in, Start.fresh())));
        SemelException refused = assertThrows(SemelException.class, () -> apply(plan, Manner.SAFE));
        assertEquals(ErrorCode.PLAN_OUT_OF_DATE, refused.code());
        String why = String.valueOf(refused.members().get("differences"));
        assertTrue(why.contains("the plan used version 1 of its workflow, and 2 is current"), why);
        Replay.Plan next = plan(parent.id(), new Order("test", Terms.START, true), null);
        assertEquals(Action.ASK, step(next, "charging").action(), "this code does it elsewhere, once more");
        assertThrows(SemelException.class, () -> apply(next, Manner.SAFE));
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
        Replay.Plan plan = plan(run.id(), new Order("test", "", false), "\"a word\"");
        apply(plan, Manner.SAFE);
        assertEquals(Replay.Fate.REFUSED, item(plan).fate(), () -> item(plan).toString());
    }
}
