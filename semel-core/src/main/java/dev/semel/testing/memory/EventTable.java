package dev.semel.testing.memory;

import dev.semel.run.RunId;
import dev.semel.store.Edit;
import dev.semel.store.Reads;
import dev.semel.store.Rows;
import dev.semel.store.Write;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Events that are kept. */
final class EventTable {
    private static final int LONGEST_LISTED = 4_096;

    private EventTable() {}

    static Write.Kept keep(Tables tables, Write.Keep keep, long now) {
        Rows.Event event = keep.event();
        Pair<Integer, String> id = new Pair<>(event.ws(), event.eventId());
        Rows.Event known = tables.events.get(id);
        boolean own = known != null && known.seq().equals(event.seq());
        Long change = tables.catalog.get(Tables.ONE);
        if (change == null || keep.change() != change) {
            return own ? new Write.Kept.Now(true) : new Write.Kept.Stale();
        }
        if (known == null || Write.Keep.isOver(known, now)) {
            tables.events.put(id, event.at(now));
            return new Write.Kept.Now(true);
        }
        tables.events.put(id, known.after(event));
        return new Write.Kept.Now(own);
    }

    static Reads.Events list(Tables tables, Reads.EventFilter filter) {
        RunId before = filter.before() == null ? Tables.AFTER_ALL : filter.before();
        List<Rows.Event> looked = tables
                .eventsByTime
                .subMap(new Pair<>(filter.ws(), Tables.FIRST), true, new Pair<>(filter.ws(), before), false)
                .descendingMap()
                .values()
                .stream()
                .filter(event -> !filter.unmatched() || event.matched() == 0)
                .limit(Reads.EventFilter.LOOKED_AT)
                .toList();
        List<Rows.Event> found = looked.stream()
                .filter(event -> event.at() >= filter.since()
                        && fits(filter.type(), event.type())
                        && fits(filter.source(), event.source()))
                .limit(filter.limit())
                .map(EventTable::listed)
                .toList();
        if (found.size() == filter.limit()) {
            return new Reads.Events(found, found.getLast().seq());
        }
        boolean more =
                looked.size() == Reads.EventFilter.LOOKED_AT && looked.getLast().at() >= filter.since();
        return new Reads.Events(found, more ? looked.getLast().seq() : null);
    }

    private static boolean fits(@Nullable String wanted, String is) {
        return wanted == null || wanted.equals(is);
    }

    private static Rows.Event listed(Rows.Event event) {
        return event.body().length() <= LONGEST_LISTED
                ? event
                : new Rows.Event(
                        event.ws(),
                        event.eventId(),
                        event.seq(),
                        event.door(),
                        event.source(),
                        event.id(),
                        event.type(),
                        "",
                        event.at(),
                        event.actor(),
                        event.correlationId(),
                        event.matched(),
                        event.notes());
    }

    static List<Edit.OldEvent> old(Tables tables, int ws, long before, int limit) {
        return tables
                .eventsByTime
                .subMap(new Pair<>(ws, Tables.FIRST), true, new Pair<>(ws, Tables.AFTER_ALL), true)
                .values()
                .stream()
                .limit(limit)
                .filter(event -> event.at() < before)
                .map(event -> new Edit.OldEvent(ws, event.eventId(), event.at()))
                .toList();
    }

    static int delete(Tables tables, List<Edit.OldEvent> events) {
        int deleted = 0;
        for (Edit.OldEvent old : events) {
            Pair<Integer, String> id = new Pair<>(old.ws(), old.eventId());
            Rows.Event event = tables.events.get(id);
            if (event != null && event.at() == old.at() && tables.events.remove(id)) {
                deleted++;
            }
        }
        return deleted;
    }
}
