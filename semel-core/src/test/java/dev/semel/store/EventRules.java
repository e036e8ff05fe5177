package dev.semel.store;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;

import dev.semel.trigger.TriggerSource;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** Events that are kept: once each, to be listed, and for a time. */
interface EventRules {
    TestStoreClient desk();

    private DatabaseRows.EventRow event(String eventId, String type, int matched) {
        return new DatabaseRows.EventRow(
                desk().ws,
                eventId,
                desk().id(),
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
        return new StoreWrite.SaveEvent(event, desk().reads.catalogVersion());
    }

    private StoreWrite.SaveEventResult keep(String eventId, String type, int matched) {
        return desk().apply(keep(event(eventId, type, matched)));
    }

    private StoreQueries.EventPage list(@Nullable String type, boolean unmatched, int limit) {
        return desk().reads.events(new StoreQueries.EventFilter(desk().ws, type, null, unmatched, 0, null, limit));
    }

    private List<String> ids(StoreQueries.EventPage page) {
        return page.found().stream().map(DatabaseRows.EventRow::eventId).toList();
    }

    @Test
    default void an_event_is_stored_once_with_the_store_time() {
        DatabaseRows.EventRow first = event("evt_a", "paid", 1);
        assertEquals(new StoreWrite.SaveEventResult.Saved(true), desk().apply(keep(first)));
        desk().fixture.setTime(StoreFixture.START + 5);
        assertEquals(new StoreWrite.SaveEventResult.Saved(false), keep("evt_a", "other", 1));
        assertEquals(first.at(StoreFixture.START), desk().reads.event(desk().ws, "evt_a"));
        assertNull(desk().reads.event(desk().ws + 1, "evt_a"), "of another workspace");
    }

    @Test
    default void an_event_applied_again_after_a_lost_response_is_still_the_first() {
        StoreWrite.SaveEvent saveEvent = keep(event("evt_a", "paid", 1));
        assertEquals(new StoreWrite.SaveEventResult.Saved(true), desk().apply(saveEvent));
        desk().publish(desk().ws, "two", "wf_two");
        assertEquals(
                new StoreWrite.SaveEventResult.Saved(true),
                desk().apply(saveEvent),
                "also when somebody published meanwhile");
    }

    @Test
    default void an_event_repeated_after_its_window_replaces_the_row() {
        long week = StoreWrite.SaveEvent.WINDOW.toNanos() / 1_000;
        keep("evt_a", "paid", 3);
        desk().fixture.setTime(StoreFixture.START + week - 1);
        assertEquals(
                new StoreWrite.SaveEventResult.Saved(false), keep("evt_a", "other", 1), "known until the last moment");
        desk().fixture.setTime(StoreFixture.START + week);
        DatabaseRows.EventRow again = event("evt_a", "other", 1);
        StoreWrite.SaveEvent saveEvent = keep(again);
        assertEquals(new StoreWrite.SaveEventResult.Saved(true), desk().apply(saveEvent));
        assertEquals(new StoreWrite.SaveEventResult.Saved(true), desk().apply(saveEvent), "after a lost answer");
        assertEquals(again.at(StoreFixture.START + week), desk().reads.event(desk().ws, "evt_a"));
        assertEquals(List.of("evt_a"), ids(list("other", false, 10)));
        assertEquals(
                List.of(), desk().reads.oldEvents(desk().ws, StoreFixture.START + week, 100), "not swept with the old");
    }

    @Test
    default void of_equal_events_in_a_batch_the_first_is_stored() {
        List<Object> told = desk().applyAll(
                        keep(event("evt_b", "first", 0)),
                        keep(event("evt_a", "x", 1)),
                        keep(event("evt_b", "second", 2)));
        assertEquals(
                List.of(
                        new StoreWrite.SaveEventResult.Saved(true),
                        new StoreWrite.SaveEventResult.Saved(true),
                        new StoreWrite.SaveEventResult.Saved(false)),
                told);
        DatabaseRows.EventRow eventRow = desk().reads.event(desk().ws, "evt_b");
        assertNotNull(eventRow);
        assertEquals("first", eventRow.type());
        assertEquals(2, eventRow.matched(), "the second one matched more");
    }

    @Test
    default void an_event_matched_under_another_catalog_is_not_stored() {
        StoreWrite.SaveEvent late = keep(event("evt_a", "paid", 0));
        desk().publish(desk().ws, "two", "wf_two");
        assertEquals(new StoreWrite.SaveEventResult.CatalogChanged(), desk().apply(late));
        assertNull(desk().reads.event(desk().ws, "evt_a"));
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
                desk().reads.events(new StoreQueries.EventFilter(desk().ws, null, null, false, 0, page.next(), 2));
        assertEquals(List.of("evt_c"), ids(rest));
        assertNull(rest.next());
        assertEquals(List.of("evt_a"), ids(list("paid", false, 10)));
        assertEquals(
                List.of(),
                ids(desk().reads.events(new StoreQueries.EventFilter(desk().ws, null, "/other", false, 0, null, 10))));
        assertEquals(
                List.of(),
                ids(desk().reads
                        .events(new StoreQueries.EventFilter(
                                desk().ws, null, null, false, StoreFixture.START + 1, null, 10))));
    }

    @Test
    default void only_old_events_are_deleted() {
        keep("evt_old", "paid", 1);
        desk().fixture.setTime(StoreFixture.START + 10);
        keep("evt_new", "paid", 1);
        List<StoreWriteCommand.ExpiredEvent> old = desk().reads.oldEvents(desk().ws, StoreFixture.START + 10, 100);
        assertEquals(List.of(new StoreWriteCommand.ExpiredEvent(desk().ws, "evt_old", StoreFixture.START)), old);
        assertEquals(1, desk().change(new StoreWriteCommand.DeleteEvents(old)));
        assertEquals(0, desk().change(new StoreWriteCommand.DeleteEvents(old)), "once");
        assertEquals(List.of("evt_new"), ids(list(null, false, 10)));
    }

    @Test
    default void event_names_are_found_by_prefix() {
        RunDeduplicationKeyClaim claim = desk().wish(RunDeduplicationKey.KeyKind.EVENT, "evt_a/wf_one", 0);
        desk().fresh(claim);
        desk().fresh(desk().wish(RunDeduplicationKey.KeyKind.EVENT, "evt_b/wf_one", 0));
        assertEquals(
                List.of(claim.key()),
                desk().reads.keysStartingWith(desk().ws, RunDeduplicationKey.KeyKind.EVENT, "evt_a/", 10).stream()
                        .map(DatabaseRows.KeyRow::key)
                        .toList());
        assertEquals(
                List.of(), desk().reads.keysStartingWith(desk().ws, RunDeduplicationKey.KeyKind.WEBHOOK, "evt_a/", 10));
    }

    @Test
    default void workspaces_are_iterated() {
        int other = desk().workspace("another").ws();
        assertEquals(other, desk().reads.workspaceAfter(desk().ws));
        assertNull(desk().reads.workspaceAfter(other));
    }
}
