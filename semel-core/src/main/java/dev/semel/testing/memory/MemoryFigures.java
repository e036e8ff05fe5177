package dev.semel.testing.memory;

import dev.semel.effect.Ledger;
import dev.semel.run.RunId;
import dev.semel.run.RunState;
import dev.semel.store.Batch;
import dev.semel.store.Counted;
import dev.semel.store.Edit;
import dev.semel.store.Figure;
import dev.semel.store.Figures;
import dev.semel.store.Write;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.locks.Lock;
import java.util.function.Predicate;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** What was counted, from the tables. */
final class MemoryFigures implements Figures {
    private static final int FINE = 1;
    private static final int HOUR = 60;

    private final Tables tables;
    private final Lock lock;

    MemoryFigures(Tables tables, Lock lock) {
        this.tables = tables;
        this.lock = lock;
    }

    /** The last thing of a batch. */
    static void write(Tables tables, Batch.@Nullable Hold hold) {
        long lease = hold == null ? 0 : hold.lease();
        int slot = hold == null ? 0 : hold.slot();
        tables.counted.cells().forEach((cell, n) -> add(tables, new Tables.CountKey(cell, FINE, lease, slot), n));
        tables.counted.facts().forEach(fact -> tables.facts.add(Tables.FactKey.of(fact), fact));
    }

    private static void add(Tables tables, Tables.CountKey at, long n) {
        Long before = tables.counts.get(at);
        tables.counts.put(at, before == null ? n : before + n);
    }

    static int tidy(Tables tables, Edit.TidyFigures tidy) {
        List<Tables.CountKey> fine = old(tables, FINE, tidy.fine(), tidy.limit());
        for (Tables.CountKey at : fine) {
            Counted.Cell cell = at.cell();
            Long n = tables.counts.get(at);
            tables.counts.remove(at);
            long hour = cell.minute() - cell.minute() % HOUR;
            Counted.Cell gathered = new Counted.Cell(cell.ws(), hour, cell.workflowId(), cell.figure(), cell.step());
            add(tables, new Tables.CountKey(gathered, HOUR, 0, 0), n == null ? 0 : n);
        }
        List<Tables.CountKey> hours = old(tables, HOUR, tidy.counts(), tidy.limit());
        hours.forEach(tables.counts::remove);
        List<Tables.FactKey> facts = tables.facts.rows().keySet().stream()
                .filter(key -> key.at() < tidy.facts())
                .sorted(Comparator.comparingLong(Tables.FactKey::at))
                .limit(tidy.limit())
                .toList();
        facts.forEach(tables.facts::remove);
        return fine.size() + hours.size() + facts.size();
    }

    private static List<Tables.CountKey> old(Tables tables, int span, long before, int limit) {
        return tables.counts.rows().keySet().stream()
                .filter(at -> at.span() == span && at.cell().minute() < before)
                .sorted(Comparator.comparingLong(at -> at.cell().minute()))
                .limit(limit)
                .toList();
    }

    @Override
    public List<Sum> sums(Range range, int grain) {
        long since = range.since() / Counted.MINUTE;
        long until = range.until() / Counted.MINUTE;
        List<Sum> told = new ArrayList<>();
        summed(
                        grain,
                        cell -> cell.ws() == range.ws()
                                && cell.minute() >= since
                                && cell.minute() < until
                                && isOf(range, cell.workflowId(), cell.step()))
                .forEach((cell, n) ->
                        told.add(new Sum(cell.workflowId(), cell.figure(), cell.step(), cell.minute(), n)));
        return told;
    }

    @Override
    public List<Total> totals(long from, long until) {
        List<Total> totals = new ArrayList<>();
        summed(Long.MAX_VALUE, cell -> cell.minute() >= from && cell.minute() < until)
                .forEach((cell, n) ->
                        totals.add(new Total(cell.ws(), cell.workflowId(), cell.figure(), cell.step(), n)));
        return totals;
    }

    private TreeMap<Counted.Cell, Long> summed(long grain, Predicate<Counted.Cell> counts) {
        return ask(() -> {
            TreeMap<Counted.Cell, Long> sums = new TreeMap<>();
            tables.counts.rows().forEach((at, n) -> {
                Counted.Cell cell = at.cell();
                long start = grain == Long.MAX_VALUE ? 0 : cell.minute() - cell.minute() % grain;
                if (counts.test(cell)) {
                    sums.merge(
                            new Counted.Cell(cell.ws(), start, cell.workflowId(), cell.figure(), cell.step()),
                            n,
                            Long::sum);
                }
            });
            return sums;
        });
    }

    private static boolean isOf(Range range, String workflowId, String step) {
        return (range.workflowId().isEmpty() || range.workflowId().equals(workflowId))
                && (range.step().isEmpty() || range.step().equals(step));
    }

    @Override
    public List<Counted.Fact> facts(Range range, Figure figure, Behind behind, int limit) {
        Comparator<Counted.Fact> order = Comparator.comparingLong(Counted.Fact::at)
                .thenComparing(Counted.Fact::run)
                .thenComparing(Counted.Fact::digest);
        return ask(() -> of(range, figure)
                .filter(fact -> order.compare(
                                fact,
                                new Counted.Fact(
                                        figure,
                                        0,
                                        behind.at(),
                                        behind.run(),
                                        behind.digest(),
                                        "",
                                        "",
                                        null,
                                        null,
                                        null,
                                        0))
                        < 0)
                .sorted(order.reversed())
                .limit(limit)
                .toList());
    }

    private Stream<Counted.Fact> of(Range range, Figure figure) {
        return tables.facts.rows().values().stream()
                .filter(fact -> fact.ws() == range.ws()
                        && fact.figure() == figure
                        && fact.at() >= range.since()
                        && fact.at() < range.until()
                        && isOf(range, fact.workflowId(), fact.step()));
    }

    @Override
    public List<Written> written(Range range) {
        return ask(() -> {
            TreeMap<String, Set<String>> objects = new TreeMap<>();
            TreeMap<String, Long> writes = new TreeMap<>();
            of(range, Figure.WRITTEN).forEach(fact -> {
                if (fact.object() != null) {
                    objects.computeIfAbsent(fact.workflowId(), _ -> new HashSet<>())
                            .add(fact.object());
                    writes.merge(fact.workflowId(), 1L, Long::sum);
                }
            });
            List<Written> written = new ArrayList<>();
            objects.forEach((workflow, things) ->
                    written.add(new Written(workflow, writes.getOrDefault(workflow, 0L), things.size())));
            return written;
        });
    }

    @Override
    public List<Thing> objects(Range range, long more, int limit) {
        return ask(() -> {
            TreeMap<Pair<String, String>, Thing> things = new TreeMap<>();
            of(range, Figure.WRITTEN).forEach(fact -> {
                String object = fact.object();
                if (object != null) {
                    Thing one = new Thing(fact.workflowId(), object, 1, fact.at(), fact.at());
                    things.merge(new Pair<>(fact.workflowId(), object), one, MemoryFigures::together);
                }
            });
            return things.values().stream()
                    .filter(thing -> thing.writes() > more)
                    .sorted(Comparator.comparingLong(Thing::writes)
                            .reversed()
                            .thenComparing(Thing::workflowId)
                            .thenComparing(Thing::object))
                    .limit(limit)
                    .toList();
        });
    }

    private static Thing together(Thing a, Thing b) {
        return new Thing(
                a.workflowId(),
                a.object(),
                a.writes() + b.writes(),
                Math.min(a.firstAt(), b.firstAt()),
                Math.max(a.lastAt(), b.lastAt()));
    }

    @Override
    public Failures failures(Range range, int most) {
        return ask(() -> {
            List<Tables.End> failed = tables.ends.rows().values().stream()
                    .filter(end -> hasFailed(end, range))
                    .sorted(Comparator.comparingLong(
                                    (Tables.End end) -> end.end().endedAt())
                            .thenComparing(Tables.End::run))
                    .limit(most)
                    .toList();
            Map<Pair<String, String>, Long> counts = new TreeMap<>();
            for (Tables.End end : failed) {
                Write.Ending ending = end.end().ending();
                counts.merge(new Pair<>(text(ending.errorCode()), text(ending.errorStep())), 1L, Long::sum);
            }
            List<Failure> errors = new ArrayList<>();
            counts.forEach((error, runs) -> errors.add(new Failure(error.first(), error.second(), runs)));
            errors.sort(Comparator.comparingLong(Failure::runs).reversed()); // and else as they stand
            RunId first = failed.isEmpty() ? null : failed.getFirst().run();
            return new Failures(failed.size(), failed.size() == most, first, errors);
        });
    }

    private static String text(@Nullable String maybe) {
        return maybe == null ? "" : maybe;
    }

    private boolean hasFailed(Tables.End end, Range range) {
        Tables.Run run = tables.runs.get(end.run());
        return run != null
                && run.asked().workspace() == range.ws()
                && end.state() == RunState.FAILED
                && end.end().endedAt() >= range.since()
                && end.end().endedAt() < range.until()
                && isOf(range, run.asked().workflowId(), text(end.end().ending().errorStep()));
    }

    @Override
    public Met met(Range range, Among among) {
        var end = new Pair<>(range.ws(), new Pair<>(among.before(), Tables.FIRST));
        return ask(() -> {
            List<Write.Seen> rows = tables.requestsByWorkspace.headMap(end, false).descendingMap().values().stream()
                    .takeWhile(
                            seen -> seen.workspace() == range.ws() && seen.id().compareTo(among.from()) >= 0)
                    .limit(among.looked())
                    .toList();
            TreeMap<RunId, Long> times = new TreeMap<>();
            rows.stream()
                    .filter(row -> !row.conflict() && row.at() >= range.since() && row.at() < range.until())
                    .forEach(row -> times.merge(row.run(), row.times(), Long::sum));
            List<Replayed> runs = new ArrayList<>();
            times.forEach((id, n) -> {
                Tables.Run run = tables.runs.get(id);
                if (run != null
                        && (range.workflowId().isEmpty()
                                || range.workflowId().equals(run.asked().workflowId()))) {
                    String input = run.input().length() > LONGEST_INPUT ? null : run.input();
                    runs.add(new Replayed(
                            id, n, run.asked().workflowId(), run.asked().version(), input));
                }
            });
            return new Met(runs, rows.size() == among.looked() ? rows.getLast().id() : null);
        });
    }

    @Override
    public List<Doubt> doubts(int ws) {
        return ask(() -> {
            TreeMap<String, Doubt> doubts = new TreeMap<>();
            for (Ledger.Row row : tables.effects.rows().values()) {
                if (row.id().workspace() == ws && row.state() == Ledger.State.UNKNOWN && waits(row)) {
                    doubts.merge(
                            row.facts().workflowId(),
                            new Doubt(row.facts().workflowId(), 1, row.firstAt()),
                            (a, b) -> new Doubt(a.workflowId(), a.effects() + 1, Math.min(a.oldestAt(), b.oldestAt())));
                }
            }
            return List.copyOf(doubts.values());
        });
    }

    /** Its run waits for a decision, or somebody is asked about it. */
    private boolean waits(Ledger.Row row) {
        Work work = tables.work.get(row.holder().run());
        return (work != null && work.state() == RunState.IN_DOUBT)
                || tables.reviews.rows().values().stream()
                        .anyMatch(review -> review.ws() == row.id().workspace()
                                && review.isOpen()
                                && review.effect().equals(row.id().digest()));
    }

    @Override
    public List<Arrival> arrivals(int ws, String workflowId, int limit) {
        return ask(() -> {
            List<Arrival> newest = new ArrayList<>();
            for (Map.Entry<Pair<String, RunId>, Tables.Run> each :
                    tables.runsByWorkflow.descendingMap().entrySet()) {
                Tables.Run run = each.getValue();
                if (newest.size() < limit
                        && run.asked().workspace() == ws
                        && run.asked().workflowId().equals(workflowId)) {
                    newest.add(arrival(run));
                }
            }
            return newest;
        });
    }

    private Arrival arrival(Tables.Run run) {
        Tables.End end = tables.ends.get(run.id());
        return new Arrival(
                run.id(),
                run.asked().origin().door().code(),
                run.asked().origin().actor(),
                run.asked().origin().key(),
                run.asked().fields().clone(),
                run.createdAt(),
                end == null ? 0 : end.end().endedAt());
    }

    @Override
    public boolean isUntidy(Edit.TidyFigures tidy) {
        return ask(() -> !old(tables, FINE, tidy.fine(), 1).isEmpty()
                || !old(tables, HOUR, tidy.counts(), 1).isEmpty()
                || tables.facts.rows().keySet().stream().anyMatch(key -> key.at() < tidy.facts()));
    }

    private <T> T ask(Supplier<T> question) {
        lock.lock();
        try {
            return question.get();
        } finally {
            lock.unlock();
        }
    }
}
