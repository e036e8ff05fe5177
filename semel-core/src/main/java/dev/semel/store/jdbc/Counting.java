package dev.semel.store.jdbc;

import dev.semel.run.RunId;
import dev.semel.store.Batch;
import dev.semel.store.Counted;
import dev.semel.store.Edit;
import dev.semel.store.Figure;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Writes what a batch counted, in statements that both stores understand. */
public final class Counting {
    private static final int FINE = 1;
    private static final int HOUR = 60;

    private static final String COUNT = """
        INSERT INTO semel_metric_count (ws, minute, workflow_id, metric, step, span_minutes, lease, slot, total)
        VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
        ON CONFLICT (ws, minute, workflow_id, metric, step, span_minutes, lease, slot)
        DO UPDATE SET total = semel_metric_count.total + excluded.total
        """;

    private static final String FACT = """
        INSERT INTO semel_metric_detail (ws, metric, at, run, digest, workflow_id, step, object, worth, data, key_first_at)
        VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (ws, metric, at, run, digest) DO NOTHING
        """;

    private static final String MADE = "SELECT ws, workflow_id FROM semel_run WHERE run = ?";

    private static final String OLD_COUNTS = """
        SELECT ws, minute, workflow_id, metric, step, span_minutes, lease, slot FROM semel_metric_count
        WHERE span_minutes = ? AND minute < ? ORDER BY minute, ws, workflow_id, metric, step, lease, slot LIMIT ?
        """;

    private static final String TAKE_COUNT = """
        DELETE FROM semel_metric_count WHERE ws = ? AND minute = ? AND workflow_id = ? AND metric = ? AND step = ?
            AND span_minutes = ? AND lease = ? AND slot = ? RETURNING total
        """;

    private static final String OLD_FACTS = """
        SELECT ws, metric, at, run, digest FROM semel_metric_detail WHERE at < ? ORDER BY at LIMIT ?
        """;

    private static final String DELETE_FACT = """
        DELETE FROM semel_metric_detail WHERE ws = ? AND metric = ? AND at = ? AND run = ? AND digest = ?
        """;

    private Counting() {}

    /**
     * The last statements of a batch. Its rows are those of the slot that it holds, so that it waits for nobody; without
     * one they are shared, and locked in one order.
     */
    public static void write(Session session, Counted counted, Batch.@Nullable Hold hold) throws SQLException {
        if (counted.isEmpty()) {
            return;
        }
        long lease = hold == null ? 0 : hold.lease();
        int slot = hold == null ? 0 : hold.slot();
        List<@Nullable Object[]> counts = new ArrayList<>();
        counted.cells()
                .forEach((cell, n) -> counts.add(new @Nullable Object[] {
                    cell.ws(), cell.minute(), cell.workflowId(), cell.figure().code(), cell.step(), FINE, lease, slot, n
                }));
        session.updateAll(COUNT, counts);
        List<@Nullable Object[]> facts = new ArrayList<>();
        for (Counted.Fact fact : counted.facts()) {
            facts.add(new @Nullable Object[] {
                fact.ws(),
                fact.figure().code(),
                fact.at(),
                fact.run(),
                fact.digest(),
                fact.workflowId(),
                fact.step(),
                fact.object(),
                fact.worth(),
                fact.data(),
                fact.sinceAt()
            });
        }
        session.updateAll(FACT, facts);
    }

    /** A run completed that had stumbled: what it is a run of stands on record. */
    public static void recovered(Session session, RunId run, long now, Counted counted) throws SQLException {
        record Made(int ws, String workflowId) {}
        Made made = session.one(MADE, row -> new Made(row.getInt(1), row.getString(2)), run);
        if (made != null) {
            counted.recovered(made.ws(), made.workflowId(), run, now);
        }
    }

    static int tidy(Session session, Edit.TidyFigures tidy) throws SQLException {
        int gone = 0;
        for (Row old : session.list(OLD_COUNTS, Counting::row, FINE, tidy.fine(), tidy.limit())) {
            // Whoever takes the row has its number: a row that somebody else took is counted by them.
            Long n = take(session, old);
            if (n != null) {
                Counted.Cell at = old.cell();
                long hour = at.minute() - at.minute() % HOUR;
                session.update(
                        COUNT, at.ws(), hour, at.workflowId(), at.figure().code(), at.step(), HOUR, 0L, 0, n);
                gone++;
            }
        }
        for (Row old : session.list(OLD_COUNTS, Counting::row, HOUR, tidy.counts(), tidy.limit())) {
            gone += take(session, old) == null ? 0 : 1;
        }
        record Old(int ws, int figure, long at, RunId run, String digest) {}
        List<Old> facts = session.list(
                OLD_FACTS,
                row -> new Old(
                        row.getInt(1), row.getInt(2), row.getLong(3), RunId.of(row.getBytes(4)), row.getString(5)),
                tidy.facts(),
                tidy.limit());
        for (Old old : facts) {
            gone += session.update(DELETE_FACT, old.ws(), old.figure(), old.at(), old.run(), old.digest());
        }
        return gone;
    }

    private record Row(Counted.Cell cell, int span, long lease, int slot) {}

    private static Row row(ResultSet row) throws SQLException {
        Counted.Cell cell = new Counted.Cell(
                row.getInt(1), row.getLong(2), row.getString(3), Figure.of(row.getInt(4)), row.getString(5));
        return new Row(cell, row.getInt(6), row.getLong(7), row.getInt(8));
    }

    private static @Nullable Long take(Session session, Row old) throws SQLException {
        Counted.Cell at = old.cell();
        return session.one(
                TAKE_COUNT,
                row -> row.getLong(1),
                at.ws(),
                at.minute(),
                at.workflowId(),
                at.figure().code(),
                at.step(),
                old.span(),
                old.lease(),
                old.slot());
    }
}
