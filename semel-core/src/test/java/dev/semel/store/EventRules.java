package dev.semel.store;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;

import dev.semel.admission.RunDeduplicationKey;
import dev.semel.admission.RunDeduplicationKeyClaim;
import dev.semel.admission.TriggerSource;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** Events that are kept: once each, to be listed, and for a time. */
interface EventRules {
    TestStoreClient client();

    private DatabaseRows.EventRow event(String eventId, String type, int matched) {
        return new DatabaseRows.EventRow(
                client().ws,
                eventId,
                client().id(),
                TriggerSource.EVENT,
                "/shop",
                "id of " + eventId,
                type,
                "{\"type\":\"" + type + "\"}",
                0,
                "tok_1",
                null,
                matched,
                "[]");
    }

    private StoreWrite.SaveEvent keep(DatabaseRows.EventRow event) {
        return new StoreWrite.SaveEvent(event, client().reads.catalogVersion());
    }

    private StoreWrite.SaveEventResult keep(String eventId, String type, int matched) {
        return client().apply(keep(event(eventId, type, matched)));
    }

    private StoreQueries.EventPage list(@Nullable String type, boolean unmatched, int limit) {
        return client().reads.events(new StoreQueries.EventFilter(client().ws, type, null, unmatched, 0, null, limit));
    }

    private List<String> ids(StoreQueries.EventPage page) {
        return page.found().stream().map(DatabaseRows.EventRow::eventId).toList();
    }

    @Test
    default void an_event_is_stored_once_with_the_store_time() {
        DatabaseRows.EventRow first = event("evt_a", "paid", 1);
        assertEquals(new StoreWrite.SaveEventResult.Saved(true), client().apply(keep(first)));
        client().fixture.setTime(StoreFixture.START + 5);
        assertEquals(new StoreWrite.SaveEventResult.Saved(false), keep("evt_a", "other", 1));
        assertEquals(first.at(StoreFixture.START), client().reads.event(client().ws, "evt_a"));
        assertNull(client().reads.event(client().ws + 1, "evt_a"), "of another workspace");
    }

    @Test
    default void an_event_applied_again_after_a_lost_response_is_still_the_first() {
        StoreWrite.SaveEvent saveEvent = keep(event("evt_a", "paid", 1));
        assertEquals(new StoreWrite.SaveEventResult.Saved(true), client().apply(saveEvent));
        client().publish(client().ws, "two", "wf_two");
        assertEquals(
                new StoreWrite.SaveEventResult.Saved(true),
                client().apply(saveEvent),
                "also when somebody published meanwhile");
    }

    @Test
    default void an_event_repeated_after_its_window_replaces_the_row() {
        long week = StoreWrite.SaveEvent.WINDOW.toNanos() / 1_000;
        keep("evt_a", "paid", 3);
        client().fixture.setTime(StoreFixture.START + week - 1);
        assertEquals(
                new StoreWrite.SaveEventResult.Saved(false), keep("evt_a", "other", 1), "known until the last moment");
        client().fixture.setTime(StoreFixture.START + week);
        DatabaseRows.EventRow again = event("evt_a", "other", 1);
        StoreWrite.SaveEvent saveEvent = keep(again);
        assertEquals(new StoreWrite.SaveEventResult.Saved(true), client().apply(saveEvent));
        assertEquals(new StoreWrite.SaveEventResult.Saved(true), client().apply(saveEvent), "after a lost answer");
        assertEquals(again.at(StoreFixture.START + week), client().reads.event(client().ws, "evt_a"));
        assertEquals(List.of("evt_a"), ids(list("other", false, 10)));
        assertEquals(
                List.of(),
                client().reads.oldEvents(client().ws, StoreFixture.START + week, 100),
                "not swept with the old");
    }

    @Test
    default void of_equal_events_in_a_batch_the_first_is_stored() {
        List<Object> reported = client().applyAll(
                        keep(event("evt_b", "first", 0)),
                        keep(event("evt_a", "x", 1)),
                        keep(event("evt_b", "second", 2)));
        assertEquals(
                List.of(
                        new StoreWrite.SaveEventResult.Saved(true),
                        new StoreWrite.SaveEventResult.Saved(true),
                        new StoreWrite.SaveEventResult.Saved(false)),
                reported);
        DatabaseRows.EventRow eventRow = client().reads.event(client().ws, "evt_b");
        assertNotNull(eventRow);
        assertEquals("first", eventRow.type());
        assertEquals(2, eventRow.matched(), "the second one matched more");
    }

    @Test
    default void an_event_matched_under_another_catalog_is_not_stored() {
        StoreWrite.SaveEvent late = keep(event("evt_a", "paid", 0));
        client().publish(client().ws, "two", "wf_two");
        assertEquals(new StoreWrite.SaveEventResult.CatalogChanged(), client().apply(late));
        assertNull(client().reads.event(client().ws, "evt_a"));
    }

    @Test
    default void a_repeat_that_matched_marks_the_event_as_matched_for_good() {
        keep("evt_a", "paid", 0);
        assertEquals(List.of("evt_a"), ids(list(null, true, 10)));
        keep("evt_a", "paid", 1);
        keep("evt_a", "paid", 0);
        assertEquals(List.of(), ids(list(null, true, 10)));
    }

    @Test
    default void lists_are_paged_newest_first() {
        for (String eventId : List.of("evt_c", "evt_a", "evt_b")) {
            keep(eventId, eventId.equals("evt_a") ? "paid" : "sent", 1);
        }
        StoreQueries.EventPage page = list(null, false, 2);
        assertEquals(List.of("evt_b", "evt_a"), ids(page));
        StoreQueries.EventPage rest =
                client().reads.events(new StoreQueries.EventFilter(client().ws, null, null, false, 0, page.next(), 2));
        assertEquals(List.of("evt_c"), ids(rest));
        assertNull(rest.next());
        assertEquals(List.of("evt_a"), ids(list("paid", false, 10)));
        assertEquals(
                List.of(),
                ids(client().reads
                        .events(new StoreQueries.EventFilter(client().ws, null, "/other", false, 0, null, 10))));
        assertEquals(
                List.of(),
                ids(client().reads
                        .events(new StoreQueries.EventFilter(
                                client().ws, null, null, false, StoreFixture.START + 1, null, 10))));
    }

    @Test
    default void only_old_events_are_deleted() {
        keep("evt_old", "paid", 1);
        client().fixture.setTime(StoreFixture.START + 10);
        keep("evt_new", "paid", 1);
        List<StoreWriteCommand.ExpiredEvent> old = client().reads.oldEvents(client().ws, StoreFixture.START + 10, 100);
        assertEquals(List.of(new StoreWriteCommand.ExpiredEvent(client().ws, "evt_old", StoreFixture.START)), old);
        assertEquals(1, client().change(new StoreWriteCommand.DeleteEvents(old)));
        assertEquals(0, client().change(new StoreWriteCommand.DeleteEvents(old)), "once");
        assertEquals(List.of("evt_new"), ids(list(null, false, 10)));
    }

    @Test
    default void event_names_are_found_by_prefix() {
        RunDeduplicationKeyClaim claim = client().claim(RunDeduplicationKey.KeyKind.EVENT, "evt_a/wf_one", 0);
        client().fresh(claim);
        client().fresh(client().claim(RunDeduplicationKey.KeyKind.EVENT, "evt_b/wf_one", 0));
        assertEquals(
                List.of(claim.key()),
                client().reads.keysStartingWith(client().ws, RunDeduplicationKey.KeyKind.EVENT, "evt_a/", 10).stream()
                        .map(DatabaseRows.KeyRow::key)
                        .toList());
        assertEquals(
                List.of(),
                client().reads.keysStartingWith(client().ws, RunDeduplicationKey.KeyKind.WEBHOOK, "evt_a/", 10));
    }

    @Test
    default void workspaces_are_iterated() {
        int other = client().workspace("another").ws();
        assertEquals(other, client().reads.workspaceAfter(client().ws));
        assertNull(client().reads.workspaceAfter(other));
    }
}
