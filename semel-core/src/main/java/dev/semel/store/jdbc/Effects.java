package dev.semel.store.jdbc;

import dev.semel.effect.Ledger;
import dev.semel.run.RunId;
import dev.semel.store.Counted;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Reads and writes rows of the effect ledger. */
public final class Effects {
    private static final String FIND = """
        SELECT ws, digest, step, run, claim, reservation, state, generation, attempt, first_at, accepted_at,
            window_micros, expires_at,
               data, result, key, path, workflow_id, protection, action, object, worth
        FROM semel_effect WHERE ws = ? AND digest = ?
        """;

    private static final String INSERT = """
        INSERT INTO semel_effect (ws, digest, step, run, claim, reservation, state, generation, attempt, first_at,
            accepted_at,
                                  window_micros, expires_at, data, result, key, path, workflow_id, protection, action,
                                      object,
                                  worth)
        VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
        """;

    private static final String UPDATE = """
        UPDATE semel_effect SET step = ?, run = ?, claim = ?, reservation = ?, state = ?, generation = ?, attempt = ?,
            first_at = ?, accepted_at = ?, window_micros = ?, expires_at = ?, data = ?, result = ?, key = ?, path = ?,
                workflow_id = ?,
            protection = ?, action = ?, object = ?, worth = ?
        WHERE ws = ? AND digest = ?
        """;

    private static final String OF_RUN = """
        SELECT ws, digest, step, run, claim, reservation, state, generation, attempt, first_at, accepted_at,
            window_micros, expires_at,
               data, result, key, path, workflow_id, protection, action, object, worth
        FROM semel_effect WHERE run = ? ORDER BY first_at, digest LIMIT 10000
        """;

    private Effects() {}

    static List<Ledger.Row> of(Session session, RunId run) throws SQLException {
        return session.list(OF_RUN, Effects::row, run);
    }

    public static Ledger.@Nullable Row find(Session session, Ledger.Id id) throws SQLException {
        return session.one(FIND, Effects::row, id.workspace(), id.digest());
    }

    /** Reads the row, decides and writes. Safe only for a store with one writer, or under a lock on the row. */
    public static Ledger.Verdict apply(Session session, Ledger.Op op, long now, Counted counted) throws SQLException {
        Ledger.Row row = find(session, op.id());
        Ledger.Change change = Ledger.apply(row, op, now);
        Ledger.Row next = change.row();
        counted.deed(op, next);
        if (next != null && row == null) {
            insert(session, next);
        } else if (next != null) {
            update(session, next);
        }
        return change.verdict();
    }

    private static void insert(Session session, Ledger.Row row) throws SQLException {
        session.update(
                INSERT,
                row.id().workspace(),
                row.id().digest(),
                row.holder().step(),
                row.holder().run(),
                row.holder().claim(),
                row.holder().turn(),
                row.state().code(),
                row.generation(),
                row.attempt(),
                row.firstAt(),
                row.acceptedAt(),
                row.window(),
                row.expiresAt(),
                row.data(),
                row.result(),
                row.facts().key(),
                row.facts().path(),
                row.facts().workflowId(),
                row.facts().protection(),
                row.facts().does(),
                row.facts().object(),
                row.facts().worth());
    }

    static void update(Session session, Ledger.Row row) throws SQLException {
        session.update(
                UPDATE,
                row.holder().step(),
                row.holder().run(),
                row.holder().claim(),
                row.holder().turn(),
                row.state().code(),
                row.generation(),
                row.attempt(),
                row.firstAt(),
                row.acceptedAt(),
                row.window(),
                row.expiresAt(),
                row.data(),
                row.result(),
                row.facts().key(),
                row.facts().path(),
                row.facts().workflowId(),
                row.facts().protection(),
                row.facts().does(),
                row.facts().object(),
                row.facts().worth(),
                row.id().workspace(),
                row.id().digest());
    }

    /** Maps all columns, in the order of the table. */
    public static Ledger.Row row(ResultSet row) throws SQLException {
        return new Ledger.Row(
                new Ledger.Id(row.getInt(1), row.getString(2)),
                new Ledger.Holder(row.getString(3), RunId.of(row.getBytes(4)), row.getInt(5), row.getInt(6)),
                Ledger.State.of(row.getInt(7)),
                row.getInt(8),
                row.getInt(9),
                row.getLong(10),
                row.getLong(11),
                row.getLong(12),
                row.getLong(13),
                row.getString(14),
                row.getString(15),
                new Ledger.Facts(
                        row.getString(16),
                        row.getString(17),
                        row.getString(18),
                        row.getString(19),
                        row.getString(20),
                        row.getString(21),
                        row.getString(22)));
    }
}
