package dev.semel.testing.memory;

import dev.semel.effect.Ledger;
import dev.semel.run.RunId;
import dev.semel.run.RunState;
import dev.semel.store.NewRun;
import dev.semel.store.Review;
import dev.semel.store.Write;
import dev.semel.store.jdbc.Migrations;
import dev.semel.store.sqlite.SqliteStore;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.Collections;
import java.util.List;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * The rows of a memory store in SQLite's own schema, so that every query of a test can be asked of it, and every
 * constraint of the schema is held against it. A picture of one moment; nothing can be written to it.
 */
public final class Snapshot {
    private final Sink sink;

    /** Where rows go, with their columns in the order of the schema. */
    @FunctionalInterface
    private interface Sink {
        void add(String table, @Nullable Object[] columns) throws SQLException;
    }

    private Snapshot(Sink sink) {
        this.sink = sink;
    }

    /** Open until it is closed. */
    public static Connection of(MemoryStore store) throws SQLException {
        Connection connection = DriverManager.getConnection("jdbc:sqlite::memory:");
        connection.setAutoCommit(false);
        Migrations.run(connection, SqliteStore.MIGRATIONS);
        try (var statement = connection.createStatement()) {
            statement.execute("DELETE FROM semel_catalog");
        }
        take(store, (table, columns) -> insert(connection, table, columns));
        connection.commit();
        connection.setAutoCommit(true);
        try (var statement = connection.createStatement()) {
            statement.execute("PRAGMA query_only = ON");
        }
        return connection;
    }

    /** Every row as values in a list, the name of its table first; quicker than a database. */
    public static List<List<@Nullable Object>> rows(MemoryStore store) {
        List<List<@Nullable Object>> rows = new ArrayList<>();
        try {
            take(store, (table, columns) -> {
                List<@Nullable Object> row = new ArrayList<>(Arrays.asList(columns));
                row.addFirst(table);
                rows.add(row);
            });
        } catch (SQLException e) {
            throw new AssertionError("there is no database here", e);
        }
        return rows;
    }

    private static void take(MemoryStore store, Sink sink) throws SQLException {
        store.surroundings().lock().lock();
        try {
            Snapshot snapshot = new Snapshot(sink);
            snapshot.catalog(store.surroundings().tables());
            snapshot.doors(store.surroundings().tables());
            snapshot.hooks(store.surroundings().tables());
            snapshot.runs(store.surroundings().tables());
            snapshot.driving(store.surroundings().tables());
            snapshot.figures(store.surroundings().tables());
        } finally {
            store.surroundings().lock().unlock();
        }
    }

    /** What came, or comes, without a caller. */
    private void doors(Tables tables) throws SQLException {
        fill(
                "semel_event",
                tables.events.rows().values(),
                e -> row(
                        e.ws(),
                        e.eventId(),
                        e.seq(),
                        e.door().code(),
                        e.source(),
                        e.id(),
                        e.type(),
                        e.body(),
                        e.at(),
                        e.actor(),
                        e.correlationId(),
                        e.matched(),
                        e.notes()));
        fill(
                "semel_schedule",
                tables.schedules.rows().values(),
                s -> row(
                        s.ws(),
                        s.workflowId(),
                        s.name(),
                        s.spec(),
                        s.paused(),
                        s.nextNominal(),
                        s.nextAt(),
                        s.takenBy(),
                        s.takenUntil(),
                        s.lastRun()));
        fill(
                "semel_tick",
                tables.ticks.rows().values(),
                t -> row(
                        t.workflowId(),
                        t.schedule(),
                        t.nominal(),
                        t.state().code(),
                        t.reason(),
                        t.run(),
                        t.at(),
                        t.through()));
    }

    private void hooks(Tables tables) throws SQLException {
        fill(
                "semel_delivery",
                tables.deliveries.rows().values(),
                d -> row(
                        d.row().id(),
                        d.row().ws(),
                        d.row().hook(),
                        d.row().at(),
                        d.row().eventId(),
                        d.row().type(),
                        d.row().verdict().code(),
                        d.row().note(),
                        d.row().payload(),
                        d.payloadUntil(),
                        d.expiresAt()));
        fill(
                "semel_mark",
                tables.marks.rows().values(),
                m -> row(m.ws(), m.hook(), m.mark(), m.eventId(), m.delivery(), m.expiresAt()));
    }

    private void catalog(Tables tables) throws SQLException {
        fill(
                "semel_workspace",
                tables.workspaces.rows().values(),
                w -> row(w.row().ws(), w.row().name(), w.row().secret(), w.createdAt()));
        fill(
                "semel_token",
                tables.tokens.rows().values(),
                t -> row(
                        t.tokenId(),
                        t.ws(),
                        t.name(),
                        t.hash(),
                        t.scopes(),
                        t.quotaPerMinute(),
                        t.createdAt(),
                        t.revokedAt(),
                        t.madeBy()));
        fill("semel_catalog", tables.catalog.rows().values(), change -> row(1, change));
        fill(
                "semel_workflow",
                tables.workflows.rows().values(),
                w -> row(
                        w.ws(),
                        w.name(),
                        w.workflowId(),
                        w.version(),
                        w.paused(),
                        w.createdAt(),
                        w.rollout().candidate(),
                        w.rollout().share()));
        fill(
                "semel_version",
                tables.versions.rows().values(),
                v -> row(v.workflowId(), v.version(), v.body(), v.publishedAt(), v.by()));
        fill(
                "semel_setting",
                tables.settings.rows().values(),
                s -> row(s.ws(), s.kind(), s.name(), s.version(), s.body(), s.changedAt(), s.changedBy(), s.removed()));
        fill(
                "semel_audit",
                tables.audit.rows().values(),
                a -> row(
                        a.row().id(),
                        a.ws(),
                        a.row().at(),
                        a.row().actor(),
                        a.row().action(),
                        a.row().target(),
                        a.row().reason()));
    }

    private void runs(Tables tables) throws SQLException {
        fill("semel_key", tables.keys.rows().values(), Snapshot::key);
        fill("semel_run", tables.runs.rows().values(), Snapshot::run);
        fill("semel_work", tables.work.rows().values(), Snapshot::work);
        fill("semel_end", tables.ends.rows().values(), end -> end(end, tables.runs.get(end.run())));
        fill(
                "semel_journal",
                tables.journal.rows().values(),
                chunk -> row(chunk.run(), chunk.seq(), chunk.at(), chunk.entries()));
        fill("semel_request", tables.requests.rows().values(), Snapshot::request);
        fill(
                "semel_use",
                tables.uses.rows().entrySet(),
                use -> row(
                        use.getKey(),
                        use.getValue().replays(),
                        use.getValue().conflicts(),
                        use.getValue().lastSeenAt()));
        fill(
                "semel_link",
                tables.links.rows().values(),
                link -> row(link.run(), link.parent(), link.replayOf(), link.depth()));
    }

    private void driving(Tables tables) throws SQLException {
        fill(
                "semel_lease",
                tables.leases.rows().values(),
                lease -> row(
                        lease.lease(),
                        lease.name(),
                        lease.startedAt(),
                        lease.until(),
                        lease.version(),
                        lease.runs(),
                        lease.renewedAt(),
                        lease.ahead()));
        fill(
                "semel_fence",
                tables.fence.rows().values(),
                slot -> row(slot.lease(), slot.slot(), tables.catalog.get(Tables.ONE)));
        fill(
                "semel_reply",
                tables.replies.rows().entrySet(),
                reply -> row(
                        reply.getKey().first(),
                        reply.getKey().second().first(),
                        reply.getKey().second().second(),
                        reply.getValue().id(),
                        reply.getValue().digest(),
                        reply.getValue().answer(),
                        reply.getValue().expiresAt()));
        fill("semel_effect", tables.effects.rows().values(), Snapshot::effect);
        fill(
                "semel_signal",
                tables.signals.rows().values(),
                s -> row(
                        s.run(),
                        s.signal().name(),
                        s.signal().key(),
                        s.signal().id(),
                        s.signal().value(),
                        s.signal().at()));
        letters(tables);
        fill("semel_review", tables.reviews.rows().values(), Snapshot::review);
        fill("semel_queue", tables.queues.rows().entrySet(), queue -> row(queue.getKey(), queue.getValue()));
        fill(
                "semel_place",
                tables.places.rows().values(),
                place -> row(place.queue(), place.ticket(), place.run(), place.cap(), place.begun()));
        fill("semel_rate", tables.rates.rows().entrySet(), rate -> row(rate.getKey(), rate.getValue()));
        fill("semel_quiet", tables.quiet.rows().entrySet(), quiet -> row(quiet.getKey(), quiet.getValue()));
    }

    private void figures(Tables tables) throws SQLException {
        fill("semel_count", tables.counts.rows().entrySet(), count -> {
            Tables.CountKey key = count.getKey();
            return row(
                    key.cell().ws(),
                    key.cell().minute(),
                    key.cell().workflowId(),
                    key.cell().figure().code(),
                    key.cell().step(),
                    key.span(),
                    key.lease(),
                    key.slot(),
                    count.getValue());
        });
        fill(
                "semel_fact",
                tables.facts.rows().values(),
                f -> row(
                        f.ws(),
                        f.figure().code(),
                        f.at(),
                        f.run(),
                        f.digest(),
                        f.workflowId(),
                        f.step(),
                        f.object(),
                        f.worth(),
                        f.data(),
                        f.sinceAt()));
    }

    private void letters(Tables tables) throws SQLException {
        fill(
                "semel_listener",
                tables.listeners.rows().values(),
                l -> row(l.run(), l.path(), l.to().workspace(), l.to().name(), l.to().key(), l.since(), l.undoing()));
        fill(
                "semel_letter",
                tables.letters.rows().values(),
                l -> row(
                        l.to().workspace(),
                        l.to().name(),
                        l.letter(),
                        l.to().key(),
                        l.id(),
                        l.digest(),
                        l.value(),
                        l.runs().stream().map(RunId::text).collect(java.util.stream.Collectors.joining(" ")),
                        l.at(),
                        l.expiresAt()));
    }

    private static @Nullable Object[] review(Review.Row review) {
        return row(
                review.ws(),
                review.id(),
                review.run(),
                review.step(),
                review.workflowId(),
                review.kind().code(),
                review.version(),
                review.effect(),
                review.reviewer(),
                review.question(),
                review.askedAt(),
                review.dueAt(),
                review.nextAt(),
                review.decidedAt(),
                review.decision(),
                review.decidedBy(),
                review.note());
    }

    private static @Nullable Object[] key(Tables.Key key) {
        return row(
                key.name().workspace(),
                key.name().kind().code(),
                key.name().text(),
                key.run(),
                key.digest(),
                key.firstAt(),
                key.expiresAt(),
                key.flags());
    }

    private static @Nullable Object[] run(Tables.Run run) {
        NewRun asked = run.asked();
        return row(
                run.id(),
                asked.workspace(),
                asked.chosenId(),
                asked.workflowId(),
                asked.version(),
                asked.origin().door().code(),
                asked.origin().actor(),
                asked.origin().key(),
                asked.origin().correlationId(),
                run.input(),
                asked.fields(),
                run.lineage(),
                run.previous(),
                run.duplicateOf(),
                run.createdAt());
    }

    private static @Nullable Object[] work(Work work) {
        return row(
                work.run,
                work.workflowId,
                work.owner,
                work.claims,
                work.state().code(),
                work.held,
                work.due,
                work.waits,
                work.cancel,
                work.falls,
                work.gated.ordinal(),
                work.fell);
    }

    private static @Nullable Object[] end(Tables.End end, Tables.@Nullable Run run) {
        Write.Ending ending = end.end().ending();
        Tables.Run failed = end.state() == RunState.COMPLETED ? null : run;
        return row(
                end.run(),
                end.state().code(),
                end.end().endedAt(),
                ending.output(),
                ending.errorCode(),
                ending.errorMessage(),
                ending.errorStep(),
                end.end().entries(),
                failed == null ? null : failed.asked().workspace(),
                failed == null ? null : failed.asked().workflowId());
    }

    private static @Nullable Object[] request(Write.Seen seen) {
        return row(
                seen.run(),
                seen.id(),
                seen.workspace(),
                seen.conflict(),
                seen.at(),
                seen.statusCode(),
                seen.actor(),
                seen.changed(),
                seen.times());
    }

    private static @Nullable Object[] effect(Ledger.Row effect) {
        return row(
                effect.id().workspace(),
                effect.id().digest(),
                effect.holder().step(),
                effect.holder().run(),
                effect.holder().claim(),
                effect.holder().turn(),
                effect.state().code(),
                effect.generation(),
                effect.attempt(),
                effect.firstAt(),
                effect.acceptedAt(),
                effect.window(),
                effect.expiresAt(),
                effect.data(),
                effect.result(),
                effect.facts().key(),
                effect.facts().path(),
                effect.facts().workflowId(),
                effect.facts().protection(),
                effect.facts().does(),
                effect.facts().object(),
                effect.facts().worth());
    }

    private static @Nullable Object[] row(@Nullable Object... values) {
        return values;
    }

    private <V> void fill(String table, Collection<V> rows, Function<V, @Nullable Object[]> columns)
            throws SQLException {
        for (V row : rows) {
            sink.add(table, columns.apply(row));
        }
    }

    private static void insert(Connection connection, String table, @Nullable Object[] columns) throws SQLException {
        String marks = String.join(", ", Collections.nCopies(columns.length, "?"));
        try (PreparedStatement insert =
                connection.prepareStatement("INSERT INTO %s VALUES (%s)".formatted(table, marks))) {
            for (int i = 0; i < columns.length; i++) {
                insert.setObject(i + 1, plain(columns[i]));
            }
            insert.executeUpdate();
        }
    }

    private static @Nullable Object plain(@Nullable Object value) {
        return switch (value) {
            case RunId id -> id.bytes();
            case Boolean flag -> flag ? 1 : 0;
            case null, default -> value;
        };
    }
}
