package dev.semel.store;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.semel.run.RunId;
import dev.semel.run.RunState;
import dev.semel.store.Replay.Fate;
import dev.semel.store.Replay.State;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** Plans of safe replays: made once, applied once, seen to by one worker at a time; and runs that begin with a record. */
interface ReplayRules {
    long LASTING = 10_000_000;

    Desk desk();

    private <T> T change(Replay<T> replay) {
        return desk().change(new Edit.Replaying<>(replay));
    }

    private RunId laid(boolean approval) {
        RunId id = desk().id();
        change(new Replay.Lay(id, desk().ws, "ann", "{}", null, approval));
        return id;
    }

    private static Replay.Item item(RunId run, int worst) {
        return new Replay.Item(run, worst, worst == 0 ? 0 : 1 << (worst - 1), "{}", Fate.PLANNED, null, "");
    }

    private Replay.Plan plan(RunId id) {
        Replay.Plan plan = desk().reads.plans().plan(desk().ws, id);
        assertNotNull(plan);
        return plan;
    }

    private RunId planned(RunId... runs) {
        RunId id = laid(false);
        change(new Replay.Note(
                id, java.util.Arrays.stream(runs).map(run -> item(run, 3)).toList()));
        change(new Replay.Ready(id, "{\"runs\":1}"));
        return id;
    }

    private RunId applying(RunId... runs) {
        RunId id = planned(runs);
        change(new Replay.Begin(desk().ws, id, "{}", desk().by("ann", "")));
        return id;
    }

    private List<Replay.Item> items(RunId plan, int actions, @Nullable Fate fate) {
        return desk().reads.plans().items(new Plans.Wanted(plan, actions, fate), null, 100);
    }

    @Test
    default void a_plan_is_laid_once_and_gets_its_items_while_it_is_made() {
        RunId id = laid(false);
        Replay.Plan again = change(new Replay.Lay(id, desk().ws, "bob", "{\"other\":1}", "1", true));
        assertEquals("ann", again.madeBy());
        assertEquals("{}", again.wish());
        assertNull(again.input());
        assertEquals(State.MAKING, again.state());
        RunId one = desk().id();
        RunId two = desk().id();
        assertEquals(2, change(new Replay.Note(id, List.of(item(two, 6), item(one, 1)))));
        assertEquals(1, change(new Replay.Note(id, List.of(item(one, 3)))), "made again after a crash");
        Replay.Plan ready = change(new Replay.Ready(id, "{\"runs\":2}"));
        assertEquals(State.PLANNED, ready.state());
        assertEquals("{\"runs\":2}", ready.counts());
        assertEquals(desk().place.time() + Replay.VALID.toNanos() / 1_000, ready.validUntil());
        assertEquals(0, change(new Replay.Note(id, List.of(item(desk().id(), 1)))), "it is ready");
        assertEquals(
                List.of(one, two),
                items(id, 0, null).stream().map(Replay.Item::run).toList());
        assertEquals(
                List.of(one), items(id, 4, null).stream().map(Replay.Item::run).toList());
        assertEquals(
                List.of(two),
                desk().reads.plans().items(new Plans.Wanted(id, 0, Fate.PLANNED), one, 100).stream()
                        .map(Replay.Item::run)
                        .toList());
        assertEquals(List.of(), items(id, 0, Fate.APPLIED));
        assertNull(desk().reads.plans().plan(desk().ws + 1, id), "another workspace");
        assertEquals(
                List.of(id),
                desk().reads.plans().page(desk().ws, null, 10).stream()
                        .map(Replay.Plan::id)
                        .toList());
        assertEquals(List.of(), desk().reads.plans().page(desk().ws, id, 10));
    }

    @Test
    default void a_plan_is_applied_once_and_only_while_it_is_valid() {
        RunId id = planned(desk().id());
        Edit.By by = desk().by("bob", "");
        Replay.Plan begun = change(new Replay.Begin(desk().ws, id, "{\"a\":1}", by));
        assertEquals(State.APPLYING, begun.state());
        assertEquals("bob", begun.appliedBy());
        Replay.Plan again = change(new Replay.Begin(desk().ws, id, "{\"b\":1}", desk().by("eve", "")));
        assertEquals("{\"a\":1}", again.how());
        assertEquals(
                1,
                desk().reads.audit(desk().ws, null, 100).stream()
                        .filter(row -> row.action().equals("replay.apply"))
                        .count());
        RunId late = planned(desk().id());
        desk().place.advance(Replay.VALID);
        assertEquals(
                State.PLANNED,
                change(new Replay.Begin(desk().ws, late, "{}", desk().by("bob", "")))
                        .state());
    }

    @Test
    default void a_plan_that_needs_it_is_approved_by_somebody_else_than_its_maker() {
        RunId id = laid(true);
        change(new Replay.Ready(id, "{}"));
        Replay<Replay.@Nullable Plan> own = new Replay.Approve(desk().ws, id, desk().by("ann", ""));
        assertNull(plan(change(own).id()).approvedBy());
        assertEquals(
                State.PLANNED,
                change(new Replay.Begin(desk().ws, id, "{}", desk().by("ann", "")))
                        .state());
        assertEquals(
                "bob",
                change(new Replay.Approve(desk().ws, id, desk().by("bob", ""))).approvedBy());
        assertEquals(
                "bob",
                change(new Replay.Approve(desk().ws, id, desk().by("eve", ""))).approvedBy());
        assertEquals(
                State.APPLYING,
                change(new Replay.Begin(desk().ws, id, "{}", desk().by("ann", "")))
                        .state());
    }

    @Test
    default void a_plan_is_seen_to_by_one_worker_at_a_time() {
        RunId run = desk().id();
        RunId id = applying(run);
        RunId one = desk().id();
        RunId two = desk().id();
        assertTrue(change(new Replay.Take(id, one, LASTING)));
        assertFalse(change(new Replay.Take(id, two, LASTING)));
        assertTrue(change(new Replay.Take(id, one, LASTING)), "it goes on with it");
        desk().place.advance(Duration.ofSeconds(10));
        assertTrue(change(new Replay.Take(id, two, LASTING)));
        Replay.Item left = item(run, 3).became(Fate.LEFT_OUT, null, "why");
        assertFalse(change(new Replay.Settle(id, one, List.of(left))));
        assertEquals(Fate.PLANNED, items(id, 0, null).getFirst().fate());
        RunId made = desk().fresh();
        Replay.Item applied = item(run, 3).became(Fate.APPLIED, made, "");
        assertFalse(change(new Replay.Settle(id, one, List.of(applied))), "it comes late");
        assertEquals(made, items(id, 0, Fate.APPLIED).getFirst().made(), "but the run is there");
        assertTrue(change(new Replay.Settle(id, two, List.of(left))));
        assertEquals(Fate.APPLIED, items(id, 0, null).getFirst().fate(), "what is settled stays");
    }

    @Test
    default void a_worker_sees_plans_that_are_free_and_its_own_those_that_wait_the_longest_first() {
        RunId busy = applying(desk().id());
        RunId own = applying(desk().id());
        RunId open = applying(desk().id());
        RunId me = desk().id();
        change(new Replay.Take(busy, desk().id(), LASTING));
        change(new Replay.Take(own, me, LASTING));
        long now = desk().place.time();
        assertEquals(List.of(open, own), free(me, now));
        assertEquals(List.of(open), free(desk().id(), now));
        assertEquals(List.of(open, busy, own), free(me, now + LASTING), "its time is over");
        assertFalse(change(new Replay.LetGo(busy, me, "")), "it is another one's");
        assertTrue(change(new Replay.LetGo(own, me, "")));
        assertFalse(change(new Replay.LetGo(own, me, "")), "it was let go before");
        assertEquals(List.of(own, open), free(desk().id(), now));
    }

    @Test
    default void what_a_plan_waits_for_stands_with_it_until_somebody_goes_on() {
        RunId id = applying(desk().id());
        RunId one = desk().id();
        change(new Replay.Take(id, one, LASTING));
        assertTrue(change(new Replay.LetGo(id, one, "It waits.")));
        assertEquals("It waits.", plan(id).note());
        RunId two = desk().id();
        change(new Replay.Take(id, two, LASTING));
        assertTrue(change(new Replay.Settle(id, two, List.of())));
        assertEquals("It waits.", plan(id).note(), "nothing was done");
        Replay.Item item = items(id, 0, null).getFirst();
        assertTrue(change(new Replay.Settle(id, two, List.of(item.became(Fate.REFUSED, null, "no")))));
        assertEquals("", plan(id).note());
    }

    private List<RunId> free(RunId worker, long now) {
        return desk().reads.plans().free(worker, now, 10).stream()
                .map(Replay.Plan::id)
                .toList();
    }

    @Test
    default void what_was_approved_is_applied_as_it_was_said_and_in_no_other_way() {
        RunId id = desk().id();
        change(new Replay.Lay(id, desk().ws, "ann", "{}", null, true, "{\"a\":1}"));
        change(new Replay.Ready(id, "{}"));
        change(new Replay.Approve(desk().ws, id, desk().by("bob", "")));
        Replay.Plan other = change(new Replay.Begin(desk().ws, id, "{\"b\":1}", desk().by("ann", "")));
        assertEquals(State.PLANNED, other.state());
        assertEquals("{\"a\":1}", other.how());
        assertEquals(
                State.APPLYING,
                change(new Replay.Begin(desk().ws, id, "{\"a\":1}", desk().by("ann", "")))
                        .state());
        RunId free = desk().id();
        change(new Replay.Lay(free, desk().ws, "ann", "{}", null, false, "{\"a\":1}"));
        change(new Replay.Ready(free, "{}"));
        assertEquals(
                "{\"b\":1}",
                change(new Replay.Begin(desk().ws, free, "{\"b\":1}", desk().by("ann", "")))
                        .how(),
                "nobody need approve this one");
    }

    @Test
    default void items_that_are_not_meant_any_more_go_while_the_plan_is_made() {
        RunId id = laid(false);
        RunId one = desk().id();
        RunId two = desk().id();
        change(new Replay.Note(id, List.of(item(one, 3), item(two, 3))));
        assertEquals(1, change(new Replay.Drop(id, List.of(one))));
        assertEquals(
                List.of(two), items(id, 0, null).stream().map(Replay.Item::run).toList());
        change(new Replay.Ready(id, "{}"));
        assertEquals(0, change(new Replay.Drop(id, List.of(two))), "it is ready");
        assertEquals(1, items(id, 0, null).size());
    }

    @Test
    default void of_many_runs_those_are_told_that_have_ended() {
        RunId open = desk().fresh();
        List<RunId> all = new java.util.ArrayList<>(List.of(open, desk().id()));
        for (int i = 0; i < 27; i++) {
            RunId run = desk().fresh();
            desk().apply(i == 0 ? desk().failed(run) : desk().end(run));
            all.add(run);
        }
        List<Plans.Ended> ended = desk().reads.plans().ended(all);
        assertEquals(27, ended.size());
        assertEquals(
                List.of(all.get(2)),
                ended.stream()
                        .filter(one -> one.state() == RunState.FAILED)
                        .map(Plans.Ended::run)
                        .toList());
        assertTrue(ended.stream().noneMatch(one -> one.run().equals(open)));
        assertEquals(List.of(), desk().reads.plans().ended(List.of()));
    }

    @Test
    default void progress_is_what_the_new_runs_say_of_themselves() {
        RunId one = desk().id();
        RunId two = desk().id();
        RunId three = desk().id();
        RunId id = applying(one, two, three);
        RunId worker = desk().id();
        change(new Replay.Take(id, worker, LASTING));
        RunId ended = desk().fresh();
        RunId running = desk().fresh();
        change(new Replay.Settle(
                id,
                worker,
                List.of(
                        item(one, 3).became(Fate.APPLIED, ended, ""),
                        item(two, 3).became(Fate.APPLIED, running, ""))));
        desk().apply(desk().end(ended));
        assertEquals(
                List.of(
                        new Plans.Count(Fate.PLANNED, null, 1),
                        new Plans.Count(Fate.APPLIED, RunState.STARTED, 1),
                        new Plans.Count(Fate.APPLIED, RunState.COMPLETED, 1)),
                desk().reads.plans().progress(id));
    }

    @Test
    default void a_plan_that_is_finished_or_stopped_is_not_applied_any_more() {
        RunId id = applying(desk().id());
        assertEquals(id, assertThere(desk().reads.plans().applying()).id());
        RunId worker = desk().id();
        change(new Replay.Take(id, worker, LASTING));
        assertTrue(change(new Replay.Finish(id, State.DONE, "")));
        assertFalse(change(new Replay.Finish(id, State.STOPPED, "too late")));
        assertEquals(State.DONE, plan(id).state());
        assertNull(plan(id).takenBy());
        assertNull(desk().reads.plans().applying());
        assertFalse(change(new Replay.Take(id, worker, LASTING)));
        RunId other = applying(desk().id());
        Replay.Plan stopped = change(new Replay.Stop(desk().ws, other, desk().by("ann", "enough")));
        assertEquals(State.STOPPED, stopped.state());
        assertEquals("enough", stopped.note());
        assertEquals(
                State.DONE,
                change(new Replay.Stop(desk().ws, id, desk().by("ann", ""))).state());
    }

    private static Replay.Plan assertThere(Replay.@Nullable Plan plan) {
        assertNotNull(plan);
        return plan;
    }

    @Test
    default void old_plans_go_in_small_parts_and_those_that_are_applied_stay() {
        RunId id = planned(desk().id(), desk().id(), desk().id());
        RunId busy = applying(desk().id());
        long later = desk().place.time() + 1;
        assertTrue(desk().reads.plans().hasPlansBefore(later));
        assertFalse(desk().reads.plans().hasPlansBefore(later - 1));
        assertEquals(0, change(new Replay.Delete(later - 1, 100)));
        assertEquals(2, change(new Replay.Delete(later, 2)));
        assertEquals(1, change(new Replay.Delete(later, 2)));
        assertEquals(1, change(new Replay.Delete(later, 2)), "the plan itself");
        assertEquals(0, change(new Replay.Delete(later, 2)));
        assertNull(desk().reads.plans().plan(desk().ws, id));
        assertEquals(State.APPLYING, plan(busy).state());
        assertFalse(desk().reads.plans().hasPlansBefore(later));
    }

    @Test
    default void a_run_begins_with_the_record_that_it_carries_and_only_once() {
        RunId first = desk().fresh();
        RunId id = desk().id();
        var links = new NewRun.Links(first, null, first, "[{\"step\":\"a\",\"at\":1,\"result\":1}]", 0);
        NewRun run = desk().linked(id, links, null, RunState.STARTED);
        Write.Admit admit = desk().admit(run, List.of(desk().wish(Name.Kind.REPLAY, first.text(), 1)), true);
        for (int i = 0; i < 2; i++) {
            desk().apply(admit);
            assertEquals(
                    List.of(new Reads.Chunk(0, links.carried())), desk().reads.journal(id));
        }
        assertEquals(java.util.Map.of(first, List.of(id)), desk().reads.lineages(List.of(first, desk().fresh())));
    }
}
