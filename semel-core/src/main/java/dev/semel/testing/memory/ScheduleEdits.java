package dev.semel.testing.memory;

import dev.semel.run.RunId;
import dev.semel.store.Edit;
import dev.semel.store.Rows;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** Schedules and what became of their ticks. */
final class ScheduleEdits {
    private final Tables tables;
    private final Edits edits;

    ScheduleEdits(Tables tables, Edits edits) {
        this.tables = tables;
        this.edits = edits;
    }

    boolean layOut(Edit.LayOut layOut, long now) {
        Rows.Workflow workflow = tables.workflowsById.get(layOut.workflowId());
        if (workflow == null || workflow.ws() != layOut.workspace() || workflow.version() != layOut.version()) {
            return false;
        }
        TreeMap<String, Rows.Schedule> there = new TreeMap<>();
        MemoryTimetable.of(tables, layOut.workflowId()).forEach(row -> there.put(row.name(), row));
        for (Edit.Laid laid : layOut.schedules()) {
            Rows.Schedule row = there.get(laid.name());
            boolean done = row != null && row.spec().equals(laid.spec());
            if (!done && !stands(row, laid.before())) {
                return false;
            }
        }
        for (Edit.Laid laid : layOut.schedules()) {
            lay(layOut, laid, there.remove(laid.name()), now);
        }
        for (Rows.Schedule gone : there.values()) {
            note(layOut.leftOf(gone, now));
            tables.schedules.remove(key(gone));
        }
        return true;
    }

    private static boolean stands(Rows.@Nullable Schedule row, Rows.@Nullable Schedule before) {
        return row == null || before == null
                ? row == null && before == null
                : row.spec().equals(before.spec()) && row.nextNominal() == before.nextNominal();
    }

    private void lay(Edit.LayOut layOut, Edit.Laid laid, Rows.@Nullable Schedule row, long now) {
        if (row != null && row.spec().equals(laid.spec())) {
            return;
        }
        boolean stays = row != null && row.nextNominal() == laid.nextNominal();
        RunId had = row != null && stays ? row.takenBy() : null; // it may have started the run of this tick
        if (row != null && !stays) {
            note(layOut.leftOf(row, now));
        }
        Rows.Schedule next = new Rows.Schedule(
                layOut.workspace(),
                layOut.workflowId(),
                laid.name(),
                laid.spec(),
                row != null && row.paused(),
                laid.nextNominal(),
                laid.nextAt(),
                had,
                had == null ? 0 : 1,
                row == null ? null : row.lastRun(),
                false);
        tables.schedules.put(key(next), next);
    }

    List<Rows.Schedule> take(Edit.TakeTicks take, long now) {
        List<Rows.Schedule> ours = new ArrayList<>();
        for (Rows.Schedule due : take.due()) {
            Rows.Schedule row = tables.schedules.get(key(due));
            boolean free = row != null && (row.takenUntil() <= now || Objects.equals(row.takenBy(), take.by()));
            if (row != null && free && row.nextNominal() == due.nextNominal()) {
                put(row, row.nextNominal(), row.nextAt(), new Hold(take.by(), now + take.lasts(), row.lastRun()));
                ours.add(due);
            }
        }
        return ours;
    }

    private record Hold(
            @Nullable RunId by, long until, @Nullable RunId lastRun) {}

    private void put(Rows.Schedule row, long nominal, long at, Hold hold) {
        Rows.Schedule next = new Rows.Schedule(
                row.ws(),
                row.workflowId(),
                row.name(),
                row.spec(),
                row.paused(),
                nominal,
                at,
                hold.by(),
                hold.until(),
                hold.lastRun(),
                false);
        tables.schedules.put(key(next), next);
    }

    int settle(Edit.SettleTicks settle) {
        int count = 0;
        for (Edit.Settled one : settle.settled()) {
            Rows.Schedule row = tables.schedules.get(new Pair<>(one.workflowId(), one.name()));
            boolean ours = row != null
                    && row.nextNominal() == one.from()
                    && settle.by().equals(row.takenBy())
                    && row.takenUntil() > 1;
            if (row != null && ours) {
                RunId last = one.lastRun() == null ? row.lastRun() : one.lastRun();
                put(row, one.nextNominal(), one.nextAt(), new Hold(null, 0, last));
                count++;
            }
            for (Rows.Tick tick : one.ticks()) {
                if (ours || tick.state().ran()) {
                    note(tick);
                }
            }
        }
        return count;
    }

    int note(List<Rows.Tick> ticks) {
        int written = 0;
        for (Rows.Tick tick : ticks) {
            written += note(tick) ? 1 : 0;
        }
        return written;
    }

    private boolean note(Rows.Tick tick) {
        var key = new Pair<>(new Pair<>(tick.workflowId(), tick.schedule()), tick.nominal());
        Rows.Tick there = tables.ticks.get(key);
        if (there != null && (there.state().ran() || !tick.state().ran())) {
            return false;
        }
        tables.ticks.put(key, tick);
        return true;
    }

    Rows.@Nullable Schedule pause(Edit.PauseSchedule pause, long now) {
        Rows.Schedule row = tables.schedules.get(new Pair<>(pause.workflowId(), pause.name()));
        if (row == null || row.ws() != pause.workspace()) {
            return null;
        }
        if (row.paused() != pause.paused()) {
            Rows.Schedule next = new Rows.Schedule(
                    row.ws(),
                    row.workflowId(),
                    row.name(),
                    row.spec(),
                    pause.paused(),
                    row.nextNominal(),
                    row.nextAt(),
                    row.takenBy(),
                    row.takenUntil(),
                    row.lastRun(),
                    false);
            tables.schedules.put(key(next), next);
            String deed = pause.paused() ? "schedule.pause" : "schedule.resume";
            edits.audit(pause.workspace(), now, pause.by(), List.of(deed, pause.workflowId() + "/" + pause.name()));
        }
        return MemoryTimetable.told(tables, Objects.requireNonNull(tables.schedules.get(key(row))));
    }

    int delete(Edit.DeleteTicks delete) {
        List<Rows.Tick> old = tables.ticks.rows().values().stream()
                .filter(tick -> tick.at() < delete.before())
                .sorted(Comparator.comparingLong(Rows.Tick::at)
                        .thenComparing(Rows.Tick::workflowId)
                        .thenComparing(Rows.Tick::schedule)
                        .thenComparingLong(Rows.Tick::nominal))
                .limit(delete.limit())
                .toList();
        old.forEach(tick ->
                tables.ticks.remove(new Pair<>(new Pair<>(tick.workflowId(), tick.schedule()), tick.nominal())));
        return old.size();
    }

    private static Pair<String, String> key(Rows.Schedule row) {
        return new Pair<>(row.workflowId(), row.name());
    }
}
