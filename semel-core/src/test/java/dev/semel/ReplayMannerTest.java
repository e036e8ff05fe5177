package dev.semel;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.semel.error.ErrorCode;
import dev.semel.error.SemelException;
import dev.semel.json.Json;
import dev.semel.replay.Action;
import dev.semel.replay.Manner;
import dev.semel.replay.Order;
import dev.semel.run.RunState;
import dev.semel.store.Plans;
import dev.semel.store.Reads;
import dev.semel.store.Replay;
import dev.semel.testing.Lab;
import dev.semel.testing.Provider;
import dev.semel.workflow.Retry;
import dev.semel.workflow.Workflow;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** How a plan is applied: as was approved, at a pace, a few first; and what an attempt to make it leaves behind. */
final class ReplayMannerTest {
    private static final Manner BOLD = new Manner(List.of(Action.UNPROTECTED, Action.ASK), 0, 0, 0);

    private final Lab lab = new Lab();
    private final Provider mail = lab.provider("mail");
    private final Workflow<String, String> flow = Workflow.define("flow", String.class, String.class)
            .body((ctx, in) -> ctx.effect("send")
                    .retry(Retry.none())
                    .repeatable("nobody minds")
                    .call(String.class, step -> mail.call(step.key())));

    @BeforeEach
    void open() {
        lab.register(flow);
    }

    @AfterEach
    void close() {
        lab.close();
    }

    private int ws() {
        return lab.semel().backstage().workspace();
    }

    private Replays replays() {
        return lab.semel().replays();
    }

    private Run<String> failed(String in) {
        mail.refuse(1);
        Run<String> run = lab.start(flow, in);
        lab.settle();
        assertEquals(RunState.FAILED, run.status());
        return run;
    }

    private Replays.Asked asked(Replays.Which which, boolean approval, Manner manner) {
        return new Replays.Asked(ws(), "ann", which, new Order("test", "", false), null, approval, manner);
    }

    private static Replays.Which these(Run<?>... runs) {
        return new Replays.Which.These(
                java.util.Arrays.stream(runs).map(Run::id).toList());
    }

    private Replay.Plan now(Replay.Plan plan) {
        Replay.Plan found = replays().find(ws(), plan.id());
        assertNotNull(found);
        return found;
    }

    private List<Replay.Item> items(Replay.Plan plan) {
        return replays().items(new Plans.Wanted(plan.id(), 0, null), null, 1_000);
    }

    @Test
    void what_was_approved_as_safe_is_not_applied_with_more() {
        Replay.Plan plan = replays().plan(asked(these(failed("a")), true, Manner.SAFE));
        assertEquals(Manner.SAFE.toJson().toString(), plan.how(), "who approves it sees how it will be applied");
        replays().approve(ws(), plan.id(), "bob");
        SemelException refused =
                assertThrows(SemelException.class, () -> replays().apply(ws(), plan.id(), BOLD, "ann"));
        assertEquals(ErrorCode.FORBIDDEN, refused.code());
        assertTrue(refused.detail().contains("unprotected"), refused.detail());
        assertEquals(Replay.State.PLANNED, now(plan).state());
        lab.settle();
        assertEquals(1, mail.calls());
        replays().apply(ws(), plan.id(), Manner.SAFE, "ann");
        lab.settle();
        assertEquals(Replay.State.DONE, now(plan).state());
    }

    @Test
    void what_was_said_with_the_plan_is_how_it_is_applied() {
        Manner shuffled = new Manner(List.of(Action.ASK, Action.UNPROTECTED), 0, 0, 0);
        Replay.Plan plan = replays().plan(asked(these(failed("a")), true, BOLD));
        replays().approve(ws(), plan.id(), "bob");
        replays().apply(ws(), plan.id(), shuffled, "ann");
        lab.settle();
        assertEquals(BOLD, Manner.parse(String.valueOf(now(plan).how())), "in any order it is the same");
        Replay.Plan free = replays().plan(asked(these(failed("b")), false, BOLD));
        replays().apply(ws(), free.id(), null, "ann");
        assertEquals(BOLD, Manner.parse(String.valueOf(now(free).how())));
    }

    @Test
    void a_run_that_fell_out_of_the_filter_before_the_plan_was_made_anew_is_not_applied() {
        failed("old");
        lab.clock().advance(Duration.ofHours(1));
        Run<String> young = failed("young");
        lab.crashAt("plan-noted", 1);
        assertThrows(Throwable.class, () -> replays().plan(asked(all(0), false, Manner.SAFE)));
        lab.settle();
        Replay.Plan half = replays().page(ws(), null, 10).getFirst();
        assertEquals(2, items(half).size());
        long since = java.util.Objects.requireNonNull(lab.semel().view(reads -> reads.now())) - 60_000_000;
        Replay.Plan made = replays().make(half.id(), asked(all(since), false, Manner.SAFE));
        assertEquals(1, Json.parse(made.counts()).path("runs").asInt());
        assertEquals(
                List.of(young.id()),
                items(made).stream().map(item -> item.run().text()).toList());
    }

    private Replays.Which all(long since) {
        return new Replays.Which.All(new Reads.RunFilter(ws(), null, RunState.FAILED, null, false, since, null, 1));
    }

    @Test
    void of_two_plans_one_that_waits_for_its_first_runs_does_not_stop_the_other() {
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
        mail.refuse(2);
        Run<String> one = lab.start(slow, "1");
        Run<String> two = lab.start(slow, "2");
        lab.settle();
        Replay.Plan waits = replays().plan(asked(these(one, two), false, Manner.SAFE));
        replays().apply(ws(), waits.id(), new Manner(List.of(), 0, 1, 0), "ann");
        lab.settle();
        assertEquals(
                1, items(waits).stream().filter(item -> item.made() != null).count());
        Replay.Plan other = replays().plan(asked(these(failed("a")), false, Manner.SAFE));
        replays().apply(ws(), other.id(), null, "ann");
        lab.settle();
        assertEquals(Replay.State.DONE, now(other).state());
        assertEquals(Replay.State.APPLYING, now(waits).state());
        lab.clock().advance(Duration.ofHours(9));
        lab.settle();
        assertEquals(Replay.State.DONE, now(waits).state());
    }
}
