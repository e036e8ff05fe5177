package dev.semel.store;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.semel.store.Delivery.Reuse;
import dev.semel.store.Delivery.Verdict;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** Deliveries of webhooks: which id and which signature came first, and how long anything of them is kept. */
interface DeliveryRules {
    Desk desk();

    private Delivery row(String id, Verdict verdict) {
        return new Delivery(desk().id(), desk().ws, "hook", 0, id, "paid", verdict, "", "{\"id\":\"" + id + "\"}");
    }

    private Edit.Receive receive(String id, @Nullable String signature, Reuse reuse) {
        return new Edit.Receive(
                row(id, Verdict.ACCEPTED), new Delivery.Memory(signature, reuse, Desk.WINDOW, Desk.WINDOW / 2));
    }

    private Delivery received(String id, @Nullable String signature, Reuse reuse) {
        Delivery delivery = desk().change(receive(id, signature, reuse));
        assertNotNull(delivery);
        return delivery;
    }

    private Verdict verdict(String id, @Nullable String signature, Reuse reuse) {
        return received(id, signature, reuse).verdict();
    }

    @Test
    default void the_first_of_an_id_is_accepted_and_the_next_ones_are_repeats() {
        assertEquals(Verdict.ACCEPTED, verdict("evt_1", null, Reuse.FLAG));
        assertEquals(Verdict.REPEATED, verdict("evt_1", null, Reuse.FLAG));
        assertEquals(Verdict.ACCEPTED, verdict("evt_2", null, Reuse.FLAG));
        desk().place.setTime(Place.START + Desk.WINDOW);
        assertEquals(Verdict.ACCEPTED, verdict("evt_1", null, Reuse.FLAG), "its window is over");
        assertEquals(Verdict.REPEATED, verdict("evt_1", null, Reuse.FLAG));
    }

    @Test
    default void a_signature_under_another_id_is_what_the_hook_says_it_is() {
        assertEquals(Verdict.ACCEPTED, verdict("evt_1", "s", Reuse.FLAG));
        assertEquals(Verdict.REPEATED, verdict("evt_1", "s", Reuse.FLAG), "a provider sends again");
        assertEquals(Verdict.FLAGGED, verdict("evt_2", "s", Reuse.FLAG));
        assertEquals(Verdict.REFUSED, verdict("evt_3", "s", Reuse.REJECT));
        assertEquals(Verdict.REFUSED, verdict("evt_3", "s", Reuse.REJECT), "the refused one left no mark of its id");
        assertEquals(Verdict.ACCEPTED, verdict("evt_3", "t", Reuse.REJECT));
        assertEquals(Verdict.ACCEPTED, verdict("evt_4", "s", Reuse.ALLOW));
    }

    private Delivery typed(String id, String type, Reuse reuse) {
        Delivery asked = row(id, Verdict.ACCEPTED);
        var row =
                new Delivery(asked.id(), asked.ws(), asked.hook(), 0, id, type, Verdict.ACCEPTED, "", asked.payload());
        Delivery told = desk().change(new Edit.Receive(row, new Delivery.Memory("s", reuse, Desk.WINDOW, Desk.WINDOW)));
        assertNotNull(told);
        return told;
    }

    @Test
    default void a_signature_that_comes_again_as_another_type_is_no_repeat() {
        assertEquals(Verdict.ACCEPTED, typed("evt_1", "push", Reuse.FLAG).verdict());
        assertEquals(Verdict.REPEATED, typed("evt_1", "push", Reuse.FLAG).verdict());
        Delivery other = typed("evt_1", "release", Reuse.FLAG);
        assertEquals(Verdict.FLAGGED, other.verdict());
        assertEquals("the same signature came before with another type", other.note());
        assertEquals(Verdict.REFUSED, typed("evt_1", "release", Reuse.REJECT).verdict());
        assertEquals(Verdict.REPEATED, typed("evt_1", "release", Reuse.ALLOW).verdict());
    }

    @Test
    default void an_id_of_any_length_is_known_again_and_its_first_delivery_is_found() {
        String longest = "é".repeat(4_000);
        Delivery first = received(longest, null, Reuse.FLAG);
        assertEquals(Verdict.ACCEPTED, first.verdict());
        assertEquals(Verdict.REPEATED, verdict(longest, null, Reuse.FLAG));
        assertEquals(Verdict.ACCEPTED, verdict(longest + "!", null, Reuse.FLAG));
        assertEquals(first, desk().reads.firstDelivery(desk().ws, "hook", longest));
        assertNull(desk().reads.firstDelivery(desk().ws + 1, "hook", longest), "another workspace's");
        assertNull(desk().reads.firstDelivery(desk().ws, "other", longest), "another hook's");
        assertNull(desk().reads.firstDelivery(desk().ws, "hook", "never"));
    }

    @Test
    default void applied_again_it_answers_the_same() {
        var edit = receive("evt_1", "s", Reuse.REJECT);
        Delivery first = desk().change(edit);
        assertEquals(first, desk().change(edit));
        assertEquals(1, desk().place.count("semel_webhook_delivery"));
    }

    @Test
    default void only_what_starts_something_keeps_its_payload() {
        assertNotNull(received("evt_1", "s", Reuse.FLAG).payload());
        assertNull(received("evt_1", "s", Reuse.FLAG).payload(), "the first one has it");
        assertNotNull(received("evt_2", "s", Reuse.FLAG).payload());
        assertNull(received("evt_3", "s", Reuse.REJECT).payload());
        List<Delivery> page = desk().reads.deliveries(desk().ws, "hook", null, 10);
        assertEquals(
                List.of(Verdict.REFUSED, Verdict.FLAGGED, Verdict.REPEATED, Verdict.ACCEPTED),
                page.stream().map(Delivery::verdict).toList());
        assertTrue(page.stream().allMatch(one -> one.payload() == null), "lists are short");
        Delivery oldest = page.getLast();
        Delivery whole = desk().reads.delivery(desk().ws, "hook", oldest.id());
        assertNotNull(whole);
        assertEquals("{\"id\":\"evt_1\"}", whole.payload());
        assertNull(desk().reads.delivery(desk().ws + 1, "hook", oldest.id()), "another workspace's");
        assertNull(desk().reads.delivery(desk().ws, "other", oldest.id()), "another hook's");
        assertEquals(
                List.of(oldest.id()),
                desk().reads.deliveries(desk().ws, "hook", page.get(2).id(), 10).stream()
                        .map(Delivery::id)
                        .toList());
    }

    @Test
    default void of_those_turned_away_only_some_are_kept_in_an_hour() {
        var memory = new Delivery.Memory(null, Reuse.FLAG, Desk.WINDOW, Desk.WINDOW);
        for (int i = 0; i < Delivery.TURNED_AWAY_PER_HOUR; i++) {
            Delivery kept = desk().change(new Edit.Receive(row("", Verdict.FORGED), memory));
            assertNotNull(kept);
            assertNull(kept.payload());
        }
        for (Verdict verdict : List.of(Verdict.FORGED, Verdict.STALE)) {
            Object answer = desk().change(new Edit.Receive(row("", verdict), memory));
            assertEquals(Nothing.NOTHING, answer);
        }
        assertEquals(Verdict.ACCEPTED, verdict("evt_1", null, Reuse.FLAG), "a genuine one is always kept");
        desk().place.setTime(Delivery.hourOf(Place.START) + Delivery.HOUR);
        assertNotNull(desk().change(new Edit.Receive(row("", Verdict.FORGED), memory)));
    }

    @Test
    default void payloads_go_first_and_rows_and_marks_at_the_end_of_the_window() {
        Delivery first = received("evt_1", "s", Reuse.FLAG);
        assertFalse(desk().reads.expiredDelivery());
        desk().place.setTime(Place.START + Desk.WINDOW / 2);
        assertTrue(desk().reads.expiredDelivery());
        assertEquals(1, desk().change(new Edit.DeleteDeliveries(10)));
        assertFalse(desk().reads.expiredDelivery());
        Delivery bare = desk().reads.delivery(desk().ws, "hook", first.id());
        assertNotNull(bare);
        assertNull(bare.payload());
        desk().place.setTime(Place.START + Desk.WINDOW);
        assertTrue(desk().reads.expiredDelivery());
        assertEquals(3, desk().change(new Edit.DeleteDeliveries(10)), "the row, and the marks of id and signature");
        assertEquals(0, desk().place.count("semel_webhook_delivery"));
        assertEquals(0, desk().place.count("semel_webhook_dedup"));
    }
}
