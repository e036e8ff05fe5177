package dev.semel.testing.memory;

import dev.semel.effect.Ledger;
import dev.semel.run.RunId;
import dev.semel.run.RunState;
import dev.semel.store.Batch;
import dev.semel.store.Counted;
import dev.semel.store.Delivery;
import dev.semel.store.Figure;
import dev.semel.store.Letter;
import dev.semel.store.Name;
import dev.semel.store.NewRun;
import dev.semel.store.Replay;
import dev.semel.store.Review;
import dev.semel.store.Rows;
import dev.semel.store.Write;
import java.util.ArrayDeque;
import java.util.Comparator;
import java.util.Deque;
import java.util.List;
import java.util.NavigableMap;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/** Everything the store remembers: the tables of the schema, one for one, with the indexes that reads go by. */
final class Tables {
    static final RunId FIRST = new RunId(0, 0);
    static final RunId AFTER_ALL = new RunId(-1L, -1L);
    static final Integer ONE = 1;

    private final Deque<Runnable> undo = new ArrayDeque<>();

    record Workspace(Rows.Workspace row, long createdAt) {}

    record Version(String workflowId, int version, String body, long publishedAt, String by) {}

    record Key(Name name, RunId run, byte[] digest, long firstAt, long expiresAt, int flags) {}

    /** @param input what was asked for first, or what a trigger that was absorbed brought */
    record Run(
            NewRun asked,
            String input,
            RunId lineage,
            @Nullable RunId previous,
            @Nullable RunId duplicateOf,
            long createdAt) {
        RunId id() {
            return asked.id();
        }
    }

    record End(RunId run, RunState state, Rows.End end) {}

    record Chunk(RunId run, int seq, long at, String entries) {}

    record Link(RunId run, @Nullable RunId parent, @Nullable RunId replayOf, int depth) {}

    record Signal(RunId run, Rows.Signal signal) {}

    /** A wait that listens for letters. */
    record Listener(RunId run, String path, Letter.Address to, long since, boolean undoing) {}

    /** A signal by a key, with those who have it; {@code id} is the request that sent it. */
    record Mail(
            Letter.Address to,
            String letter,
            RunId id,
            byte[] digest,
            String value,
            List<RunId> runs,
            long at,
            long expiresAt) {}

    record Place(String queue, long ticket, RunId run, int cap, boolean begun) {}

    record Audit(int ws, Rows.Audit row) {}

    record SettingKey(int ws, String kind, String name, int version) implements Comparable<SettingKey> {
        private static final Comparator<SettingKey> ORDER = Comparator.comparingInt(SettingKey::ws)
                .thenComparing(SettingKey::kind)
                .thenComparing(SettingKey::name)
                .thenComparingInt(SettingKey::version);

        @Override
        public int compareTo(SettingKey other) {
            return ORDER.compare(this, other);
        }
    }

    /** @param payloadUntil when its payload goes; the row itself goes later */
    record Delivered(Delivery row, long payloadUntil, long expiresAt) {}

    /** An id or a signature of a delivery that is remembered. */
    record Mark(int ws, String hook, String mark, String eventId, RunId delivery, long expiresAt) {
        Pair<Integer, Pair<String, String>> key() {
            return new Pair<>(ws, new Pair<>(hook, mark));
        }
    }

    /** @param span minutes that it stands for */
    record CountKey(Counted.Cell cell, int span, long lease, int slot) implements Comparable<CountKey> {
        private static final Comparator<CountKey> ORDER = Comparator.comparing(CountKey::cell)
                .thenComparingInt(CountKey::span)
                .thenComparingLong(CountKey::lease)
                .thenComparingInt(CountKey::slot);

        @Override
        public int compareTo(CountKey other) {
            return ORDER.compare(this, other);
        }
    }

    record FactKey(int ws, Figure figure, long at, RunId run, String digest) implements Comparable<FactKey> {
        private static final Comparator<FactKey> ORDER = Comparator.comparingInt(FactKey::ws)
                .thenComparing(FactKey::figure)
                .thenComparingLong(FactKey::at)
                .thenComparing(FactKey::run)
                .thenComparing(FactKey::digest);

        static FactKey of(Counted.Fact fact) {
            return new FactKey(fact.ws(), fact.figure(), fact.at(), fact.run(), fact.digest());
        }

        @Override
        public int compareTo(FactKey other) {
            return ORDER.compare(this, other);
        }
    }

    /** The answer to a change that came with a key. */
    record Reply(RunId id, byte[] digest, String answer, long expiresAt) {}

    final Table<RunId, Replay.Plan> plans =
            new Table<>(undo, plan -> plan.how() != null || plan.state() != Replay.State.APPLYING);
    /** By plan and run. */
    final Table<Pair<RunId, RunId>, Replay.Item> planItems =
            new Table<>(undo, item -> (item.made() != null) == (item.fate() == Replay.Fate.APPLIED));

    final Table<Integer, Workspace> workspaces = new Table<>(undo);
    final Table<String, Rows.Token> tokens = new Table<>(undo);
    /** One row: counts changes. */
    final Table<Integer, Long> catalog = new Table<>(undo);

    final Table<Pair<Integer, String>, Rows.Workflow> workflows = new Table<>(undo);
    final NavigableMap<String, Rows.Workflow> workflowsById = workflows.index(Rows.Workflow::workflowId);
    final Table<Pair<String, Integer>, Version> versions = new Table<>(undo);

    final Table<SettingKey, Rows.Setting> settings = new Table<>(
            undo, row -> row.version() > 0 && (!row.removed() || row.body().isEmpty()));

    final Table<Pair<String, String>, Rows.Schedule> schedules = new Table<>(
            undo, row -> row.nextAt() >= row.nextNominal() && (row.takenUntil() == 0) == (row.takenBy() == null));
    final NavigableMap<Pair<Long, Pair<String, String>>, Rows.Schedule> schedulesDue =
            schedules.index(row -> new Pair<>(row.nextAt(), new Pair<>(row.workflowId(), row.name())));
    final Table<Pair<Pair<String, String>, Long>, Rows.Tick> ticks = new Table<>(undo);
    final Table<RunId, Delivered> deliveries = new Table<>(undo);
    final Table<Pair<Integer, Pair<String, String>>, Mark> marks = new Table<>(undo);

    final Table<Name, Key> keys = new Table<>(undo);
    final Table<Pair<Integer, Pair<String, String>>, Reply> replies = new Table<>(undo);

    final Table<RunId, Run> runs = new Table<>(undo);
    final NavigableMap<Pair<String, RunId>, Run> runsByWorkflow =
            runs.index(run -> new Pair<>(run.asked().workflowId(), run.id()));

    final Table<RunId, Work> work = new Table<>(undo, work -> !work.state().ended());
    final NavigableMap<Pair<Long, RunId>, Work> workDue =
            work.index(work -> work.free() ? new Pair<>(work.due, work.run) : null);
    final NavigableMap<Pair<Long, RunId>, Work> workByOwner =
            work.index(work -> work.owner == null ? null : new Pair<>(work.owner, work.run));
    final NavigableMap<Pair<String, RunId>, Work> workByWorkflow =
            work.index(work -> new Pair<>(work.workflowId, work.run));
    final NavigableMap<Pair<String, RunId>, Work> workPaused =
            work.index(work -> work.paused() ? new Pair<>(work.workflowId, work.run) : null);

    final Table<RunId, End> ends = new Table<>(undo, end -> end.state().ended());
    final Table<Pair<RunId, Integer>, Chunk> journal = new Table<>(undo);

    final Table<Pair<RunId, RunId>, Write.Seen> requests = new Table<>(undo, seen -> seen.times() > 0);
    final NavigableMap<Pair<Integer, Pair<RunId, RunId>>, Write.Seen> requestsByWorkspace =
            requests.index(seen -> new Pair<>(seen.workspace(), new Pair<>(seen.id(), seen.run())));
    final Table<RunId, Rows.Counts> uses = new Table<>(undo);

    final Table<RunId, Link> links = new Table<>(undo);
    final NavigableMap<Pair<RunId, RunId>, Link> linksByParent =
            links.index(link -> link.parent() == null ? null : new Pair<>(link.parent(), link.run()));

    final Table<Ledger.Id, Ledger.Row> effects = new Table<>(undo);
    final NavigableMap<Pair<RunId, Pair<Long, Pair<String, Integer>>>, Ledger.Row> effectsByRun =
            effects.index(row -> new Pair<>(row.holder().run(), new Pair<>(row.firstAt(), digestFirst(row.id()))));

    /** By run, then name and key. */
    final Table<Pair<RunId, Pair<String, String>>, Signal> signals = new Table<>(undo);

    final Table<Pair<RunId, String>, Listener> listeners = new Table<>(undo);
    /** By workspace, then name and the sender's id. */
    final Table<Pair<Integer, Pair<String, String>>, Mail> letters = new Table<>(undo);

    /** By workspace and id. */
    final Table<Pair<Integer, String>, Review.Row> reviews = new Table<>(undo, row -> row.version() > 0);

    final Table<String, Long> queues = new Table<>(undo);
    final Table<Pair<String, Long>, Place> places = new Table<>(undo, place -> place.cap() > 0);
    final NavigableMap<Pair<RunId, Pair<String, Long>>, Place> placesByRun =
            places.index(place -> new Pair<>(place.run(), new Pair<>(place.queue(), place.ticket())));
    final Table<String, Long> rates = new Table<>(undo);
    final Table<String, RunId> quiet = new Table<>(undo);

    final Table<Long, Rows.Worker> leases = new Table<>(undo);
    /** By lease and slot; the row says no more than that. */
    final Table<Pair<Long, Integer>, Batch.Hold> fence = new Table<>(undo);

    final Table<Pair<Integer, String>, Rows.Event> events = new Table<>(undo, event -> event.matched() >= 0);
    final NavigableMap<Pair<Integer, RunId>, Rows.Event> eventsByTime =
            events.index(event -> new Pair<>(event.ws(), event.seq()));

    final Table<RunId, Audit> audit = new Table<>(undo);

    /** What the batch at hand has to count. */
    final Counted counted = new Counted();

    final Table<CountKey, Long> counts = new Table<>(undo, n -> n > 0);
    final Table<FactKey, Counted.Fact> facts = new Table<>(undo);

    Tables() {
        catalog.put(ONE, 1L);
        commit();
    }

    private static Pair<String, Integer> digestFirst(Ledger.Id id) {
        return new Pair<>(id.digest(), id.workspace());
    }

    /** Takes out what it was told and what it made; false where its input was gone before. */
    boolean blank(RunId run) {
        Run row = runs.get(run);
        End end = ends.get(run);
        if (end != null) {
            Write.Ending before = end.end().ending();
            var ending = new Write.Ending(null, before.errorCode(), before.errorMessage(), before.errorStep());
            ends.put(run, new End(run, end.state(), new Rows.End(end.end().endedAt(), ending, "[]")));
        }
        removeWhere(journal, chunk -> chunk.run().equals(run));
        removeWhere(signals, signal -> signal.run().equals(run));
        effects.rows().values().stream()
                .filter(effect -> effect.holder().run().equals(run))
                .toList()
                .forEach(effect -> effects.put(effect.id(), blank(effect)));
        if (row == null || row.input().equals("{}")) {
            return false;
        }
        runs.put(run, new Run(row.asked(), "{}", row.lineage(), row.previous(), row.duplicateOf(), row.createdAt()));
        return true;
    }

    /** What a row says of itself stays: that it is a note, or that it was suppressed. */
    private static Ledger.Row blank(Ledger.Row row) {
        return new Ledger.Row(
                row.id(),
                row.holder(),
                row.state(),
                row.generation(),
                row.attempt(),
                row.firstAt(),
                row.acceptedAt(),
                row.window(),
                row.expiresAt(),
                row.isNote() || row.stoodFor() != null ? row.data() : null,
                null,
                row.facts());
    }

    /** Everything that is known of a run, and names that last as long as it. */
    void removeAllOf(RunId run) {
        removeWhere(keys, key -> key.run().equals(run));
        removeWhere(quiet, waiting -> waiting.equals(run));
        removeWhere(journal, chunk -> chunk.run().equals(run));
        removeWhere(requests, seen -> seen.run().equals(run));
        uses.remove(run);
        removeWhere(signals, signal -> signal.run().equals(run));
        removeWhere(listeners, listener -> listener.run().equals(run));
        removeWhere(reviews, row -> row.run().equals(run));
        removeWhere(effects, row -> row.holder().run().equals(run));
        links.remove(run);
        ends.remove(run);
        runs.remove(run);
    }

    private static <K extends Comparable<K>, V> void removeWhere(Table<K, V> table, Predicate<V> gone) {
        List.copyOf(table.rows().entrySet()).stream()
                .filter(entry -> gone.test(entry.getValue()))
                .forEach(entry -> table.remove(entry.getKey()));
    }

    void commit() {
        undo.clear();
    }

    /** Takes back everything since the last commit, the newest first. */
    void rollback() {
        while (!undo.isEmpty()) {
            undo.pop().run();
        }
    }

    /** Where a run stands now; null where there is no run. */
    @Nullable
    RunState stateOf(RunId run) {
        End end = ends.get(run);
        if (end != null) {
            return end.state();
        }
        Work unfinished = work.get(run);
        return unfinished == null ? null : unfinished.state();
    }

    long signalsOf(RunId run) {
        return signals.rows().tailMap(new Pair<>(run, new Pair<>("", ""))).keySet().stream()
                .takeWhile(key -> key.first().equals(run))
                .count();
    }
}
