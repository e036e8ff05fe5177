package dev.semel.testing.memory;

import dev.semel.effect.Ledger;
import dev.semel.key.Known;
import dev.semel.run.RunId;
import dev.semel.store.Delivery;
import dev.semel.store.Edit;
import dev.semel.store.Figures;
import dev.semel.store.Name;
import dev.semel.store.Plans;
import dev.semel.store.Reads;
import dev.semel.store.Review;
import dev.semel.store.Rows;
import dev.semel.store.Timetable;
import dev.semel.store.Write;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.NavigableMap;
import java.util.Objects;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Answers from the tables. Each question sees them at one moment, between two batches. */
final class MemoryReads implements Reads {
    private static final int MOST_CHILDREN = 1_000;
    private static final int MOST_EFFECTS_OF_A_RUN = 10_000;
    private static final int MOST_SCOPES_OF_A_KEY = 100;

    private static final Comparator<EffectPlace> PLACES =
            Comparator.comparing(EffectPlace::run).thenComparing(EffectPlace::digest);

    private final MemoryStore.Surroundings surroundings;
    private final Tables tables;
    private final RunViews views;

    MemoryReads(MemoryStore.Surroundings surroundings) {
        this.surroundings = surroundings;
        this.tables = surroundings.tables();
        this.views = new RunViews(tables);
    }

    @Override
    public Plans plans() {
        return new MemoryPlans(tables, surroundings.lock());
    }

    @Override
    public Timetable timetable() {
        return new MemoryTimetable(tables, surroundings.lock());
    }

    @Override
    public Figures figures() {
        return new MemoryFigures(tables, surroundings.lock());
    }

    @Override
    public Review.Desk reviews() {
        return new MemoryReviews(tables, surroundings.lock());
    }

    @Override
    public long now() {
        return surroundings.clock().getAsLong();
    }

    @Override
    public Found names(List<Name> names) {
        return ask(() -> {
            List<@Nullable Known> found = new ArrayList<>(names.size());
            for (Name name : names) {
                found.add(Admitting.find(tables, name));
            }
            return new Found(now(), found);
        });
    }

    @Override
    public Rows.@Nullable Run run(int ws, RunId id) {
        if (ws <= 0) {
            throw new IllegalArgumentException("a run is asked for by somebody in a workspace");
        }
        return maybe(() -> {
            Rows.Run run = views.run(id);
            return run == null || run.ws() != ws ? null : run;
        });
    }

    @Override
    public Rows.@Nullable Run claimed(RunId id) {
        return maybe(() -> views.run(id));
    }

    @Override
    public List<Rows.Run> runs(RunFilter filter) {
        return ask(() -> {
            String key = filter.key();
            return key == null ? views.newest(filter) : views.ofKey(heldUnder(filter.ws(), key), filter);
        });
    }

    @Override
    public List<Chunk> journal(RunId run) {
        return ask(() -> tables.journal.rows().tailMap(new Pair<>(run, Integer.MIN_VALUE)).values().stream()
                .takeWhile(chunk -> chunk.run().equals(run))
                .map(chunk -> new Chunk(chunk.seq(), chunk.entries()))
                .toList());
    }

    @Override
    public List<Rows.Signal> signals(RunId run) {
        return ask(() -> tables.signals.rows().tailMap(new Pair<>(run, new Pair<>("", ""))).values().stream()
                .takeWhile(row -> row.run().equals(run))
                .map(Tables.Signal::signal)
                .sorted(Comparator.comparing(Rows.Signal::id))
                .toList());
    }

    @Override
    public Ledger.@Nullable Row effect(Ledger.Id id) {
        return maybe(() -> tables.effects.get(id));
    }

    @Override
    public List<Ledger.Row> effects(RunId run) {
        var from = new Pair<>(run, new Pair<>(Long.MIN_VALUE, new Pair<>("", 0)));
        return ask(() -> tables.effectsByRun.tailMap(from).values().stream()
                .takeWhile(row -> row.holder().run().equals(run))
                .limit(MOST_EFFECTS_OF_A_RUN)
                .toList());
    }

    @Override
    public LedgerPage effects(EffectFilter filter) {
        return ask(() -> {
            EffectPlace before = filter.before();
            List<Ledger.Row> looked = tables.effects.rows().values().stream()
                    .filter(row -> row.id().workspace() == filter.ws())
                    .filter(row -> before == null || PLACES.compare(place(row), before) < 0)
                    .sorted(Comparator.comparing(MemoryReads::place, PLACES).reversed())
                    .limit(EffectFilter.LOOKED_AT)
                    .toList();
            List<Ledger.Row> found =
                    looked.stream().filter(filter::fits).limit(filter.limit()).toList();
            boolean full = found.size() == filter.limit();
            boolean more = full || looked.size() == EffectFilter.LOOKED_AT;
            Ledger.Row last = full ? found.getLast() : looked.isEmpty() ? null : looked.getLast();
            return new LedgerPage(found, more && last != null ? place(last) : null);
        });
    }

    private static EffectPlace place(Ledger.Row row) {
        return new EffectPlace(row.holder().run(), row.id().digest());
    }

    @Override
    public List<RunId> children(RunId run) {
        return ask(() -> views.children(run, MOST_CHILDREN));
    }

    @Override
    public List<String> queues(RunId run) {
        return ask(() -> views.queues(run));
    }

    @Override
    public List<RunId> lineage(RunId first) {
        return ask(() -> views.lineage(first, MOST_CHILDREN));
    }

    @Override
    public List<Misfit> held(@Nullable RunId after, int limit) {
        return ask(() -> views.held(after, limit));
    }

    @Override
    public List<Write.Seen> requestsOf(RunId run, @Nullable RunId before, int limit) {
        var end = new Pair<>(run, before == null ? Tables.AFTER_ALL : before);
        return ask(() -> tables.requests.rows().headMap(end, false).descendingMap().values().stream()
                        .takeWhile(seen -> seen.run().equals(run))
                        .limit(limit)
                        .toList())
                .reversed();
    }

    @Override
    public List<Write.Seen> requests(int ws, @Nullable RunId before, int limit) {
        var end = new Pair<>(ws, new Pair<>(before == null ? Tables.AFTER_ALL : before, Tables.FIRST));
        return ask(() -> tables.requestsByWorkspace.headMap(end, false).descendingMap().values().stream()
                .takeWhile(seen -> seen.workspace() == ws)
                .limit(limit)
                .toList());
    }

    @Override
    public List<Rows.Held> key(int ws, String key) {
        return ask(() -> heldUnder(ws, key));
    }

    private List<Rows.Held> heldUnder(int ws, String key) {
        // Scoped and distinct names are the key, a newline and more: all of them lie between newline and vertical tab.
        List<Rows.Held> found = new ArrayList<>(held(new Name(ws, Name.Kind.KEY, key), key + "\u0001", 1));
        for (Name.Kind kind : List.of(Name.Kind.WORKFLOW_KEY, Name.Kind.DISTINCT_KEY)) {
            found.addAll(held(new Name(ws, kind, key + "\n"), key + "\u000b", MOST_SCOPES_OF_A_KEY));
        }
        found.sort(Comparator.comparingLong((Rows.Held held) -> held.known().firstAt())
                .reversed());
        return found;
    }

    @Override
    public List<Rows.Held> keys(int ws, String prefix, @Nullable Name after, int limit) {
        return ask(() -> {
            List<Rows.Held> found = new ArrayList<>();
            for (Name.Kind kind : List.of(Name.Kind.KEY, Name.Kind.WORKFLOW_KEY, Name.Kind.DISTINCT_KEY)) {
                if (found.size() >= limit || (after != null && after.kind().code() > kind.code())) {
                    continue;
                }
                String from = after != null && after.kind() == kind ? after.text() + "\u0001" : prefix;
                found.addAll(held(new Name(ws, kind, from), prefix + "\u007f", limit - found.size()));
            }
            return found;
        });
    }

    /** Names of one kind in the order of their texts, from one up to (and without) another. */
    private List<Rows.Held> held(Name from, String end, int limit) {
        NavigableMap<Name, Tables.Key> keys = tables.keys.rows().tailMap(from, true);
        return keys.values().stream()
                .takeWhile(key -> key.name().workspace() == from.workspace()
                        && key.name().kind() == from.kind()
                        && key.name().text().compareTo(end) < 0)
                .map(views::held)
                .filter(Objects::nonNull)
                .limit(limit)
                .toList();
    }

    @Override
    public List<Rows.Held> namesLike(int ws, Name.Kind kind, String prefix, int limit) {
        return ask(() -> held(new Name(ws, kind, prefix), prefix + "\u007f", limit));
    }

    @Override
    public Rows.@Nullable Event event(int ws, String eventId) {
        return maybe(() -> tables.events.get(new Pair<>(ws, eventId)));
    }

    @Override
    public Events events(EventFilter filter) {
        return ask(() -> EventTable.list(tables, filter));
    }

    @Override
    public List<Edit.OldEvent> oldEvents(int ws, long before, int limit) {
        return ask(() -> EventTable.old(tables, ws, before, limit));
    }

    @Override
    public @Nullable Integer workspaceAfter(int ws) {
        return maybe(() -> tables.workspaces.rows().higherKey(ws));
    }

    @Override
    public long catalogChange() {
        return ask(() -> Objects.requireNonNull(tables.catalog.get(Tables.ONE)));
    }

    @Override
    public Rows.@Nullable Workflow workflow(int ws, String nameOrId) {
        return maybe(() -> {
            Rows.Workflow byName = tables.workflows.get(new Pair<>(ws, nameOrId));
            Rows.Workflow byId = tables.workflowsById.get(nameOrId);
            return byName != null ? byName : byId != null && byId.ws() == ws ? byId : null;
        });
    }

    @Override
    public List<Rows.Workflow> workflows(int ws) {
        return ask(() -> views.workflows(ws));
    }

    @Override
    public Rows.@Nullable Version version(String workflowId, int version) {
        return maybe(() -> {
            Tables.Version row = tables.versions.get(new Pair<>(workflowId, version));
            return row == null ? null : views.version(row, row.body());
        });
    }

    @Override
    public List<Rows.Version> versions(String workflowId, int before, int limit) {
        return ask(() ->
                tables.versions.rows().headMap(new Pair<>(workflowId, before), false).descendingMap().values().stream()
                        .takeWhile(row -> row.workflowId().equals(workflowId))
                        .limit(limit)
                        .map(row -> Objects.requireNonNull(views.version(row, "")))
                        .toList());
    }

    @Override
    public List<Rows.Tally> tally(int ws, String workflowId, int limit) {
        return ask(() -> views.tally(ws, workflowId, limit));
    }

    @Override
    public Rows.@Nullable Token token(byte[] hash) {
        return maybe(() -> tables.tokens.rows().values().stream()
                .filter(token -> token.revokedAt() == 0 && Arrays.equals(token.hash(), hash))
                .map(views::token)
                .filter(Objects::nonNull)
                .findFirst()
                .orElse(null));
    }

    @Override
    public List<Rows.Token> tokens(int ws) {
        return ask(() -> tables.tokens.rows().values().stream()
                .filter(token -> token.ws() == ws)
                .map(views::token)
                .filter(Objects::nonNull)
                .sorted(Comparator.comparingLong(Rows.Token::createdAt).thenComparing(Rows.Token::tokenId))
                .toList());
    }

    @Override
    public Rows.@Nullable Workspace workspace(String name) {
        return maybe(() -> tables.workspaces.rows().values().stream()
                .map(Tables.Workspace::row)
                .filter(row -> row.name().equals(name))
                .map(Edits::copy)
                .findFirst()
                .orElse(null));
    }

    @Override
    public Rows.@Nullable Workspace workspace(int ws) {
        return maybe(() -> {
            Tables.Workspace row = tables.workspaces.get(ws);
            return row == null ? null : Edits.copy(row.row());
        });
    }

    @Override
    public Rows.@Nullable Setting setting(int ws, String kind, String name) {
        return maybe(() -> SettingEdits.current(tables, ws, kind, name));
    }

    @Override
    public Rows.@Nullable Setting setting(int ws, String kind, String name, int version) {
        return maybe(() -> tables.settings.get(new Tables.SettingKey(ws, kind, name, version)));
    }

    @Override
    public List<Rows.Setting> settings(int ws, String kind, String after, int limit) {
        return ask(() ->
                SettingEdits.page(tables, ws, kind, after).stream().limit(limit).toList());
    }

    @Override
    public List<Rows.Setting> settingVersions(int ws, String kind, String name) {
        return ask(() -> SettingEdits.kept(tables, ws, kind, name));
    }

    @Override
    public List<Delivery> deliveries(int ws, String hook, @Nullable RunId before, int limit) {
        RunId end = before == null ? Tables.AFTER_ALL : before;
        return ask(() -> DeliveryEdits.page(tables, ws, hook, end).limit(limit).toList());
    }

    @Override
    public @Nullable Delivery delivery(int ws, String hook, RunId id) {
        return maybe(() -> DeliveryEdits.one(tables, ws, hook, id));
    }

    @Override
    public @Nullable Delivery firstDelivery(int ws, String hook, String eventId) {
        return maybe(() -> DeliveryEdits.firstOf(tables, ws, hook, eventId));
    }

    @Override
    public boolean expiredDelivery() {
        long now = now();
        return ask(() -> DeliveryEdits.expired(tables, now));
    }

    @Override
    public List<Rows.Audit> audit(int ws, @Nullable RunId before, int limit) {
        RunId end = before == null ? Tables.AFTER_ALL : before;
        return ask(() -> tables.audit.rows().headMap(end, false).descendingMap().values().stream()
                .filter(row -> row.ws() == ws)
                .limit(limit)
                .map(Tables.Audit::row)
                .toList());
    }

    @Override
    public Slice tombstones(@Nullable Name from, int limit, long before) {
        return ask(() -> {
            Name start = from == null ? new Name(0, Name.Kind.KEY, "") : from;
            List<Tables.Key> slice = tables.keys.rows().tailMap(start, false).values().stream()
                    .limit(limit)
                    .toList();
            List<Edit.Tombstone> found = slice.stream()
                    .filter(key -> key.expiresAt() < before && tables.ends.has(key.run()))
                    .map(key -> new Edit.Tombstone(key.name(), key.run(), key.expiresAt()))
                    .toList();
            return new Slice(
                    found, slice.size() < limit ? null : slice.getLast().name());
        });
    }

    @Override
    public Old oldRuns(@Nullable RunId from, int limit, long endedBefore) {
        return ask(() -> {
            RunId start = from == null ? Tables.FIRST : from;
            List<Tables.Run> slice = tables.runs.rows().tailMap(start, false).values().stream()
                    .limit(limit)
                    .toList();
            List<RunId> found = slice.stream()
                    .filter(run -> run.lineage().equals(run.id()) && endedBefore(run.id(), endedBefore))
                    .map(Tables.Run::id)
                    .toList();
            boolean last = slice.size() < limit || slice.getLast().createdAt() >= endedBefore;
            return new Old(found, last ? null : slice.getLast().id());
        });
    }

    private boolean endedBefore(RunId run, long time) {
        Tables.End end = tables.ends.get(run);
        return end != null && end.end().endedAt() < time;
    }

    @Override
    public boolean expiredReply() {
        long now = now();
        return ask(() -> tables.replies.rows().values().stream().anyMatch(reply -> reply.expiresAt() <= now));
    }

    @Override
    public boolean expiredLetter() {
        long before = now() - Letters.BEHIND_MICROS;
        return ask(() -> tables.letters.rows().values().stream().anyMatch(letter -> letter.expiresAt() <= before));
    }

    @Override
    public long nextDue() {
        long due = ask(() -> tables.workDue.isEmpty()
                ? Write.Rest.NEVER
                : tables.workDue.firstKey().first());
        return due == Write.Rest.HELD ? Write.Rest.NEVER : due;
    }

    @Override
    public List<Write.Driver> owned(long lease, @Nullable RunId after, int limit) {
        var from = new Pair<>(lease, after == null ? Tables.FIRST : after);
        return ask(() -> tables.workByOwner.tailMap(from, after == null).values().stream()
                .takeWhile(work -> work.owner != null && work.owner == lease)
                .limit(limit)
                .map(work -> new Write.Driver(work.run, work.claims))
                .toList());
    }

    @Override
    public long unfinished() {
        return ask(() -> (long) tables.work.rows().size());
    }

    @Override
    public List<Rows.Worker> workers() {
        return ask(() -> tables.leases.rows().values().stream()
                .sorted(Comparator.comparingLong(Rows.Worker::startedAt).thenComparingLong(Rows.Worker::lease))
                .toList());
    }

    private <T> T ask(Supplier<T> question) {
        surroundings.lock().lock();
        try {
            return question.get();
        } finally {
            surroundings.lock().unlock();
        }
    }

    private <T> @Nullable T maybe(Supplier<@Nullable T> question) {
        surroundings.lock().lock();
        try {
            return question.get();
        } finally {
            surroundings.lock().unlock();
        }
    }

    @Override
    public void close() {}
}
