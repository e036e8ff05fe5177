package dev.semel.testing.memory;

import dev.semel.run.RunId;
import dev.semel.store.Rows;
import dev.semel.store.Timetable;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.locks.Lock;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Schedules and their ticks, from the tables. */
final class MemoryTimetable implements Timetable {
    private final Tables tables;
    private final Lock lock;

    MemoryTimetable(Tables tables, Lock lock) {
        this.tables = tables;
        this.lock = lock;
    }

    @Override
    public List<Rows.Schedule> due(long now, int limit) {
        return ask(() -> tables.schedulesDue.values().stream()
                .takeWhile(row -> row.nextAt() <= now)
                .filter(row -> row.takenUntil() <= now)
                .limit(limit)
                .map(row -> told(tables, row))
                .toList());
    }

    @Override
    public Rows.@Nullable Schedule first() {
        return one(() -> tables.schedulesDue.isEmpty()
                ? null
                : tables.schedulesDue.firstEntry().getValue());
    }

    @Override
    public Rows.@Nullable Schedule after(long time) {
        return one(() -> tables.schedulesDue.values().stream()
                .filter(row -> row.nextAt() > time)
                .findFirst()
                .orElse(null));
    }

    @Override
    public Rows.@Nullable Schedule schedule(int ws, String workflowId, String name) {
        return one(() -> {
            Rows.Schedule row = tables.schedules.get(new Pair<>(workflowId, name));
            return row == null || row.ws() != ws ? null : told(tables, row);
        });
    }

    @Override
    public List<Rows.Schedule> of(String workflowId) {
        return ask(() -> of(tables, workflowId));
    }

    static List<Rows.Schedule> of(Tables tables, String workflowId) {
        return tables.schedules.rows().tailMap(new Pair<>(workflowId, "")).values().stream()
                .takeWhile(row -> row.workflowId().equals(workflowId))
                .map(row -> told(tables, row))
                .toList();
    }

    @Override
    public List<Rows.Schedule> page(int ws, String afterWorkflow, String afterName, int limit) {
        return ask(() -> tables.schedules.rows().tailMap(new Pair<>(afterWorkflow, afterName), false).values().stream()
                .filter(row -> row.ws() == ws)
                .limit(limit)
                .map(row -> told(tables, row))
                .toList());
    }

    @Override
    public List<Rows.Tick> ticks(String workflowId, String schedule, long before, int limit) {
        Pair<String, String> whose = new Pair<>(workflowId, schedule);
        return ask(() -> tables
                .ticks
                .rows()
                .subMap(new Pair<>(whose, Long.MIN_VALUE), true, new Pair<>(whose, before), false)
                .descendingMap()
                .values()
                .stream()
                .limit(limit)
                .toList());
    }

    @Override
    public boolean hasTicksBefore(long time) {
        return ask(() -> tables.ticks.rows().values().stream().anyMatch(tick -> tick.at() < time));
    }

    @Override
    public List<Standing> standings(String after, int limit) {
        return ask(() -> tables.workflowsById.tailMap(after, false).values().stream()
                .filter(row -> row.version() > 0)
                .sorted(Comparator.comparing(Rows.Workflow::workflowId))
                .limit(limit)
                .map(row -> new Standing(row.ws(), row.workflowId(), row.version()))
                .toList());
    }

    /** With whether its last run has not ended, which no row says. */
    static Rows.Schedule told(Tables tables, Rows.Schedule row) {
        RunId last = row.lastRun();
        return new Rows.Schedule(
                row.ws(),
                row.workflowId(),
                row.name(),
                row.spec(),
                row.paused(),
                row.nextNominal(),
                row.nextAt(),
                row.takenBy(),
                row.takenUntil(),
                last,
                last != null && tables.work.has(last));
    }

    private <T> T ask(Supplier<T> question) {
        lock.lock();
        try {
            return question.get();
        } finally {
            lock.unlock();
        }
    }

    private Rows.@Nullable Schedule one(Supplier<Rows.@Nullable Schedule> question) {
        lock.lock();
        try {
            return question.get();
        } finally {
            lock.unlock();
        }
    }
}
