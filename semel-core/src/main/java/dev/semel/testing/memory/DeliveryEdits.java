package dev.semel.testing.memory;

import dev.semel.run.RunId;
import dev.semel.store.Delivery;
import dev.semel.store.Edit;
import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Deliveries of webhooks. */
final class DeliveryEdits {
    private final Tables tables;

    DeliveryEdits(Tables tables) {
        this.tables = tables;
    }

    @Nullable
    Delivery receive(Edit.Receive receive, long now) {
        Delivery asked = receive.delivery();
        Tables.Delivered known = tables.deliveries.get(asked.id());
        if (known != null) {
            return known.row();
        }
        if (asked.verdict().turnedAway() && full(asked, now)) {
            return null;
        }
        Delivery judged = asked.verdict().turnedAway() ? asked.turnedAway(now) : judged(receive, now);
        Delivery.Memory memory = receive.memory();
        tables.deliveries.put(
                judged.id(),
                new Tables.Delivered(
                        judged, now + memory.payload(), now + Math.max(memory.window(), memory.payload())));
        return judged;
    }

    private boolean full(Delivery asked, long now) {
        return tables.deliveries.rows().values().stream()
                        .map(Tables.Delivered::row)
                        .filter(row -> row.ws() == asked.ws() && row.hook().equals(asked.hook()))
                        .filter(row -> row.verdict().turnedAway() && row.at() >= Delivery.hourOf(now))
                        .count()
                >= Delivery.TURNED_AWAY_PER_HOUR;
    }

    private Delivery judged(Edit.Receive receive, long now) {
        Delivery asked = receive.delivery();
        Delivery.Memory memory = receive.memory();
        String signedFor = memory.signature() == null
                ? null
                : mark(receive, "sig " + memory.signature(), asked.signed(), now)
                        .eventId();
        Delivery first = asked.judged(now, memory.reuse(), signedFor, false);
        if (first.verdict() == Delivery.Verdict.REFUSED) {
            return first;
        }
        boolean repeated = !mark(receive, Delivery.mark(asked.eventId()), asked.eventId(), now)
                .delivery()
                .equals(asked.id());
        return asked.judged(now, memory.reuse(), signedFor, repeated);
    }

    private Tables.Mark mark(Edit.Receive receive, String mark, String what, long now) {
        Delivery asked = receive.delivery();
        var wanted = new Tables.Mark(
                asked.ws(),
                asked.hook(),
                mark,
                what,
                asked.id(),
                now + receive.memory().window());
        Tables.Mark there = tables.marks.get(wanted.key());
        if (there != null && there.expiresAt() > now) {
            return there;
        }
        tables.marks.put(wanted.key(), wanted);
        return wanted;
    }

    int deleteExpired(int limit, long now) {
        List<RunId> rows = tables.deliveries.rows().values().stream()
                .filter(one -> one.expiresAt() <= now)
                .sorted(java.util.Comparator.comparingLong(Tables.Delivered::expiresAt))
                .limit(limit)
                .map(one -> one.row().id())
                .toList();
        rows.forEach(tables.deliveries::remove);
        List<Tables.Delivered> payloads = tables.deliveries.rows().values().stream()
                .filter(one -> one.row().payload() != null && one.payloadUntil() <= now)
                .sorted(java.util.Comparator.comparingLong(Tables.Delivered::payloadUntil))
                .limit(limit)
                .toList();
        payloads.forEach(one -> tables.deliveries.put(
                one.row().id(), new Tables.Delivered(bare(one.row()), one.payloadUntil(), one.expiresAt())));
        List<Tables.Mark> marks = tables.marks.rows().values().stream()
                .filter(mark -> mark.expiresAt() <= now)
                .sorted(java.util.Comparator.comparingLong(Tables.Mark::expiresAt))
                .limit(limit)
                .toList();
        marks.forEach(mark -> tables.marks.remove(mark.key()));
        return rows.size() + payloads.size() + marks.size();
    }

    static boolean expired(Tables tables, long now) {
        return tables.deliveries.rows().values().stream()
                        .anyMatch(one ->
                                one.expiresAt() <= now || (one.row().payload() != null && one.payloadUntil() <= now))
                || tables.marks.rows().values().stream().anyMatch(mark -> mark.expiresAt() <= now);
    }

    static Stream<Delivery> page(Tables tables, int ws, String hook, RunId end) {
        return tables.deliveries.rows().headMap(end, false).descendingMap().values().stream()
                .map(Tables.Delivered::row)
                .filter(row -> row.ws() == ws && row.hook().equals(hook))
                .map(DeliveryEdits::bare);
    }

    static @Nullable Delivery one(Tables tables, int ws, String hook, RunId id) {
        Tables.Delivered one = tables.deliveries.get(id);
        return one != null && one.row().ws() == ws && one.row().hook().equals(hook) ? one.row() : null;
    }

    static @Nullable Delivery firstOf(Tables tables, int ws, String hook, String eventId) {
        Tables.Mark mark = tables.marks.get(new Pair<>(ws, new Pair<>(hook, Delivery.mark(eventId))));
        Tables.Delivered one = mark == null ? null : tables.deliveries.get(mark.delivery());
        return one == null ? null : one.row();
    }

    private static Delivery bare(Delivery row) {
        return new Delivery(
                row.id(), row.ws(), row.hook(), row.at(), row.eventId(), row.type(), row.verdict(), row.note(), null);
    }
}
