package dev.semel.store;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.semel.key.Known;
import dev.semel.run.RunId;
import dev.semel.run.RunState;
import dev.semel.store.Write.Admitted;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** How long a name stands for its run, to the microsecond of the store's clock. */
interface NameRules {
    Desk desk();

    private Admitted ask(Wish wish) {
        return desk().apply(desk().admit(desk().id(), wish));
    }

    /** A run with this name that has ended. */
    private RunId ended(Wish wish) {
        RunId run = desk().fresh(wish);
        desk().apply(desk().end(run));
        return run;
    }

    @Test
    default void one_microsecond_before_its_window_ends_a_name_is_held() {
        Wish key = desk().key("K");
        ended(key);
        desk().place.setTime(Place.START + Desk.WINDOW - 1);
        assertInstanceOf(Admitted.Held.class, ask(key));
    }

    @Test
    default void at_the_edge_of_its_window_a_name_is_free() {
        Wish key = desk().key("K");
        RunId first = ended(key);
        desk().place.setTime(Place.START + Desk.WINDOW);
        RunId second = desk().id();
        var fresh = assertInstanceOf(Admitted.Fresh.class, desk().apply(desk().admit(second, key)));
        assertEquals(new Write.Earlier(first, null, true), fresh.earlier());
        assertEquals(second, fresh.lineage(), "after expiry a new lineage begins");
        assertEquals(first, desk().runOf(second).previous());
        Known known = assertInstanceOf(Known.class, desk().holder(key));
        assertEquals(second, known.run());
        assertEquals(Place.START + Desk.WINDOW, known.firstAt());
        assertEquals(Place.START + 2 * Desk.WINDOW, known.expiresAt());
    }

    @Test
    default void one_microsecond_after_the_edge_a_name_is_free() {
        Wish key = desk().key("K");
        ended(key);
        desk().place.setTime(Place.START + Desk.WINDOW + 1);
        assertInstanceOf(Admitted.Fresh.class, ask(key));
    }

    @Test
    default void an_expired_chosen_run_is_named_as_its_caller_named_it() {
        Wish key = desk().key("K");
        RunId first = desk().id();
        desk().apply(desk().admit(
                        desk().run(first, dev.semel.run.RunState.STARTED, "mine"),
                        List.of(key, desk().chosen("mine")),
                        true));
        desk().apply(desk().end(first));
        desk().place.setTime(Place.START + Desk.WINDOW);
        var fresh = assertInstanceOf(Admitted.Fresh.class, ask(key));
        assertEquals(new Write.Earlier(first, "mine", true), fresh.earlier());
    }

    @Test
    default void the_key_of_an_unfinished_run_does_not_expire() {
        Wish key = desk().key("K", Known.HOLD);
        RunId run = desk().fresh(key);
        desk().place.setTime(Place.START + 400 * Desk.WINDOW);
        assertInstanceOf(Admitted.Held.class, ask(key));
        desk().apply(desk().end(run));
        assertInstanceOf(Admitted.Fresh.class, ask(key));
    }

    @Test
    default void without_hold_the_key_of_an_unfinished_run_expires() {
        Wish key = desk().key("K", 0);
        desk().fresh(key);
        desk().place.setTime(Place.START + Desk.WINDOW - 1);
        assertInstanceOf(Admitted.Held.class, ask(key));
        desk().place.setTime(Place.START + Desk.WINDOW);
        assertInstanceOf(Admitted.Fresh.class, ask(key));
    }

    @Test
    default void a_chosen_run_id_never_expires() {
        Wish chosen = desk().chosen("mine");
        ended(chosen);
        desk().place.setTime(Place.START + 4_000 * Desk.WINDOW);
        assertInstanceOf(Admitted.Held.class, ask(chosen));
    }

    @Test
    default void a_failed_run_frees_its_name_only_where_it_said_so_and_keeps_the_lineage() {
        Wish again = desk().key("again", Known.HOLD | Known.RERUN_FAILED);
        RunId first = desk().fresh(again);
        assertInstanceOf(Admitted.Held.class, ask(again), "it has not failed yet");
        desk().apply(desk().failed(first));
        RunId second = desk().id();
        var fresh = assertInstanceOf(Admitted.Fresh.class, desk().apply(desk().again(second, first, first, again)));
        assertEquals(new Write.Earlier(first, null, false), fresh.earlier());
        assertEquals(first, fresh.lineage());
        desk().apply(desk().failed(second));
        RunId third = desk().id();
        var last = assertInstanceOf(Admitted.Fresh.class, desk().apply(desk().again(third, first, second, again)));
        assertEquals(first, last.lineage(), "the lineage hangs on the first run");
        assertEquals(second, desk().runOf(third).previous());

        Wish once = desk().key("once", Known.HOLD);
        desk().apply(desk().failed(desk().fresh(once)));
        assertInstanceOf(Admitted.Held.class, ask(once));
    }

    @Test
    default void the_name_of_a_failed_run_goes_only_to_who_continues_its_line() {
        Wish again = desk().key("again", Known.HOLD | Known.RERUN_FAILED);
        RunId first = desk().fresh(again);
        desk().apply(desk().failed(first));
        RunId stranger = desk().fresh();
        NewRun.Links line = new NewRun.Links(first, null, null);
        List<Write.Admit> others = List.of(
                desk().admit(desk().id(), again, desk().payload("P", true)),
                desk().again(desk().id(), stranger, first, again),
                desk().admit(desk().linked(desk().id(), line, null, RunState.STARTED), List.of(again), true));
        for (Write.Admit admit : others) {
            Known known =
                    assertInstanceOf(Admitted.Failed.class, desk().apply(admit)).known();
            assertEquals(first, known.run());
            assertEquals(RunState.FAILED, known.state());
            assertNull(desk().reads.run(desk().ws, admit.run().id()));
        }
        assertNull(desk().holder(desk().payload("P", true)), "nothing was taken");
        List<Object> both = desk().decided(desk().admit(desk().id(), again), desk().admit(desk().id(), again));
        both.forEach(outcome -> assertInstanceOf(Admitted.Failed.class, outcome));
    }

    @Test
    default void of_a_retry_and_a_replay_of_a_failed_run_one_follows_it() {
        Wish again = desk().key("again", Known.HOLD | Known.RERUN_FAILED);
        RunId first = desk().fresh(again);
        desk().apply(desk().failed(first));
        Wish next = desk().wish(Name.Kind.REPLAY, first.text(), Known.HOLD);
        NewRun.Links links = new NewRun.Links(first, null, first);
        NewRun replay = desk().linked(desk().id(), links, null, RunState.STARTED);
        assertInstanceOf(Admitted.Fresh.class, desk().apply(desk().admit(replay, List.of(next), true)));
        RunId retry = desk().id();
        var held = assertInstanceOf(Admitted.Held.class, desk().apply(desk().again(retry, first, first, again)));
        assertNull(held.known().getFirst(), "the key itself would be free");
        assertEquals(
                replay.id(),
                assertInstanceOf(Known.class, held.known().getLast()).run());
        assertNull(desk().reads.run(desk().ws, retry));
        assertEquals(first, assertInstanceOf(Known.class, desk().holder(again)).run());
    }

    @Test
    default void a_completed_run_keeps_its_name_where_failed_ones_run_again() {
        Wish key = desk().key("K", Known.HOLD | Known.RERUN_FAILED);
        ended(key);
        assertInstanceOf(Admitted.Held.class, ask(key));
    }

    @Test
    default void an_expired_failed_run_begins_a_new_lineage() {
        Wish key = desk().key("K", Known.HOLD | Known.RERUN_FAILED);
        desk().apply(desk().failed(desk().fresh(key)));
        desk().place.setTime(Place.START + Desk.WINDOW);
        RunId second = desk().id();
        var fresh = assertInstanceOf(Admitted.Fresh.class, desk().apply(desk().admit(second, key)));
        assertEquals(second, fresh.lineage());
        assertTrue(assertInstanceOf(Write.Earlier.class, fresh.earlier()).expired());
    }

    @Test
    default void a_released_name_goes_to_the_next_trigger_with_a_new_lineage() {
        Wish key = desk().key("K");
        RunId first = desk().fresh(key);
        assertTrue(desk().change(new Edit.Release(key.name(), first, desk().by("op", "the customer called"))));
        RunId second = desk().id();
        var fresh = assertInstanceOf(Admitted.Fresh.class, desk().apply(desk().admit(second, key)));
        assertEquals(new Write.Earlier(first, null, false), fresh.earlier());
        assertEquals(second, fresh.lineage());
        Known known = assertInstanceOf(Known.class, desk().holder(key));
        assertFalse(known.has(Known.RELEASED), "the new holder is not released");
        assertInstanceOf(Admitted.Held.class, ask(key));
    }

    @Test
    default void of_many_triggers_that_find_an_expired_name_one_takes_it() {
        Wish key = desk().key("K");
        ended(key);
        desk().place.setTime(Place.START + Desk.WINDOW);
        List<Object> outcomes = desk().applyAll(
                        desk().admit(desk().id(), key), desk().admit(desk().id(), key), desk().admit(desk().id(), key));
        assertInstanceOf(Admitted.Fresh.class, outcomes.getFirst());
        assertInstanceOf(Admitted.Held.class, outcomes.get(1));
        assertInstanceOf(Admitted.Held.class, outcomes.get(2));
        assertEquals(2, desk().place.count("semel_run"));
    }

    @Test
    default void an_expired_payload_under_a_new_key_is_no_expired_key() {
        RunId first = desk().fresh(desk().key("K1"), desk().payload("P", true));
        desk().apply(desk().end(first));
        desk().place.setTime(Place.START + Desk.WINDOW);
        RunId second = desk().id();
        var fresh = assertInstanceOf(
                Admitted.Fresh.class, desk().apply(desk().admit(second, desk().key("K2"), desk().payload("P", true))));
        assertNull(fresh.earlier(), "nobody used this key before");
        assertNull(desk().runOf(second).previous());
        assertEquals(second, assertNotNullKnown(desk().payload("P", true)).run());
    }

    private Known assertNotNullKnown(Wish wish) {
        Known known = desk().holder(wish);
        assertNotNull(known);
        return known;
    }

    @Test
    default void a_look_tells_expired_names_and_the_time() {
        Wish key = desk().key("K");
        RunId run = ended(key);
        desk().place.setTime(Place.START + 2 * Desk.WINDOW);
        Reads.Found found = desk().reads.names(List.of(desk().key("unknown").name(), key.name(), key.name()));
        assertEquals(desk().place.time(), found.now());
        assertNull(found.known().getFirst());
        assertEquals(run, assertInstanceOf(Known.class, found.known().get(1)).run());
        assertEquals(run, assertInstanceOf(Known.class, found.known().get(2)).run());
        assertEquals(desk().place.time(), desk().reads.now());
    }

    @Test
    default void names_sort_as_the_store_sorts_them() {
        String[] texts = {"a", "A", "a\nwf_1", "a b", "~", " ", "a~", "Z", "aa", "0", "a!", "_", "a\nwf_0"};
        for (String text : texts) {
            for (Name.Kind kind : List.of(Name.Kind.PAYLOAD, Name.Kind.KEY, Name.Kind.WORKFLOW_KEY)) {
                desk().apply(desk().end(desk().fresh(desk().wish(kind, text, 0))));
            }
        }
        desk().place.setTime(Place.START + 3 * Desk.WINDOW);
        List<Name> stored = desk().reads.tombstones(null, 1_000, desk().place.time()).found().stream()
                .map(Edit.Tombstone::name)
                .toList();
        assertEquals(texts.length * 3, stored.size());
        assertEquals(stored.stream().sorted().toList(), stored);
    }

    @Test
    default void many_keys_of_one_payload_that_is_only_flagged_are_one_transaction() {
        for (boolean held : new boolean[] {false, true}) {
            Wish payload = desk().payload("P " + held, false);
            RunId holder = held ? desk().fresh(payload) : null;
            List<Write.Admit> batch = new ArrayList<>();
            for (int i = 0; i < 50; i++) {
                batch.add(desk().admit(desk().id(), desk().key(held + " " + i), payload));
            }
            List<Object> outcomes = desk().applyAll(batch);
            RunId first = holder == null ? batch.getFirst().run().id() : holder;
            for (int i = 0; i < 50; i++) {
                Admitted.Fresh fresh = assertInstanceOf(Admitted.Fresh.class, outcomes.get(i));
                RunId expected = holder == null && i == 0 ? null : first;
                Known of = fresh.duplicateOf();
                assertEquals(expected, of == null ? null : of.run());
                assertEquals(expected, desk().runOf(batch.get(i).run().id()).duplicateOf());
            }
        }
    }

    @Test
    default void many_equal_triggers_of_a_flagged_payload_are_one_transaction() {
        Wish key = desk().key("K");
        Wish payload = desk().payload("P", false);
        List<Write.Admit> batch = new ArrayList<>();
        for (int i = 0; i < 50; i++) {
            batch.add(desk().admit(desk().id(), key, payload));
        }
        List<Object> outcomes = desk().applyAll(batch);
        assertInstanceOf(Admitted.Fresh.class, outcomes.getFirst());
        for (Object outcome : outcomes.subList(1, 50)) {
            Admitted.Held held = assertInstanceOf(Admitted.Held.class, outcome);
            Known byKey = assertInstanceOf(Known.class, held.known().getFirst());
            assertEquals(batch.getFirst().run().id(), byKey.run());
            assertNull(held.known().get(1), "a payload that is only flagged stops nobody");
        }
        assertEquals(1, desk().place.count("semel_run"));
    }

    @Test
    default void a_flagged_payload_whose_first_trigger_was_refused_goes_to_the_next() {
        desk().fresh(desk().key("K"));
        Wish payload = desk().payload("P", false);
        Write.Admit refused = desk().admit(desk().id(), desk().key("K"), payload);
        Write.Admit next = desk().admit(desk().id(), desk().key("L"), payload);
        List<Object> outcomes = desk().applyAll(refused, next);
        assertInstanceOf(Admitted.Held.class, outcomes.getFirst());
        Object second = outcomes.get(1) instanceof Admitted.Again ? desk().apply(next) : outcomes.get(1);
        assertNull(assertInstanceOf(Admitted.Fresh.class, second).duplicateOf());
        assertEquals(
                next.run().id(),
                assertInstanceOf(Known.class, desk().holder(payload)).run());
    }
}
