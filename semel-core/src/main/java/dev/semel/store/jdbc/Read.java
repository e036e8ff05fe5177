package dev.semel.store.jdbc;

import dev.semel.key.Known;
import dev.semel.run.RunId;
import dev.semel.run.RunState;
import dev.semel.store.Name;
import dev.semel.store.NewRun;
import dev.semel.store.Rollout;
import dev.semel.store.Rows;
import dev.semel.store.Write;
import dev.semel.trigger.Door;
import java.sql.ResultSet;
import java.sql.SQLException;
import org.jspecify.annotations.Nullable;

/**
 * Maps result-set rows of both dialects to store values. Columns are in the order of the statements in {@link
 * JdbcReads}.
 */
public final class Read {
    private Read() {}

    /**
     * Maps eleven columns from {@code at}: run, chosen_id, digest, field_hashes, workflow_id, version, state, lineage,
     * first_at, expires_at, flags.
     */
    public static Known known(ResultSet row, int at) throws SQLException {
        return new Known(
                RunId.of(row.getBytes(at)),
                row.getString(at + 1),
                row.getBytes(at + 2),
                row.getBytes(at + 3),
                row.getString(at + 4),
                row.getInt(at + 5),
                RunState.of(row.getInt(at + 6)),
                RunId.of(row.getBytes(at + 7)),
                row.getLong(at + 8),
                row.getLong(at + 9),
                row.getInt(at + 10));
    }

    static @Nullable RunId runId(ResultSet row, int at) throws SQLException {
        byte[] bytes = row.getBytes(at);
        return bytes == null ? null : RunId.of(bytes);
    }

    public static Rows.Run run(ResultSet row) throws SQLException {
        Rows.End end = null;
        int endState = row.getInt(17);
        if (endState != 0) {
            end = new Rows.End(
                    row.getLong(18),
                    new Write.Ending(row.getString(19), row.getString(20), row.getString(21), row.getString(22)),
                    row.getString(23));
        }
        return new Rows.Run(
                RunId.of(row.getBytes(1)),
                row.getInt(2),
                row.getString(3),
                row.getString(4),
                row.getInt(5),
                RunState.of(end == null ? row.getInt(15) : endState),
                new NewRun.Origin(Door.of(row.getInt(6)), row.getString(7), row.getString(8), row.getString(9)),
                row.getString(10),
                RunId.of(row.getBytes(11)),
                runId(row, 12),
                runId(row, 13),
                row.getLong(14),
                end == null ? work(row) : null,
                end,
                new Rows.Counts(row.getLong(24), row.getLong(25), row.getLong(26)),
                runId(row, 31),
                runId(row, 32),
                row.getInt(33));
    }

    private static Rows.Work work(ResultSet row) throws SQLException {
        return new Rows.Work(row.getInt(16), row.getInt(27), row.getInt(28) == 1, row.getLong(29), row.getString(30));
    }

    static Write.Seen seen(ResultSet row) throws SQLException {
        return new Write.Seen(
                RunId.of(row.getBytes(1)),
                row.getInt(2),
                RunId.of(row.getBytes(3)),
                row.getInt(4) == 1,
                row.getLong(5),
                row.getInt(6),
                row.getString(7),
                row.getString(8),
                row.getLong(9));
    }

    static Rows.Held held(ResultSet row) throws SQLException {
        return new Rows.Held(
                new Name(row.getInt(1), Name.Kind.of(row.getInt(2)), row.getString(3)),
                known(row, 4),
                row.getString(15),
                row.getString(16),
                new Rows.Counts(row.getLong(17), row.getLong(18), row.getLong(19)),
                row.getString(20),
                row.getString(21));
    }

    static Rows.Version version(ResultSet row) throws SQLException {
        return new Rows.Version(
                row.getString(1),
                row.getString(2),
                row.getInt(3),
                row.getInt(4),
                row.getString(5),
                row.getLong(6),
                row.getString(7));
    }

    static Rows.Workflow workflow(ResultSet row) throws SQLException {
        return new Rows.Workflow(
                row.getInt(1),
                row.getString(2),
                row.getString(3),
                new Rollout(row.getInt(4), row.getInt(7), row.getInt(8), row.getInt(9)),
                row.getInt(5) == 1,
                row.getLong(6),
                false);
    }

    static Rows.Token token(ResultSet row) throws SQLException {
        return new Rows.Token(
                row.getString(1),
                row.getInt(2),
                row.getString(3),
                row.getString(4),
                row.getBytes(5),
                row.getString(6),
                row.getInt(7),
                row.getLong(8),
                row.getLong(9),
                row.getString(10));
    }

    static Rows.Workspace workspace(ResultSet row) throws SQLException {
        return new Rows.Workspace(row.getInt(1), row.getString(2), row.getBytes(3));
    }

    static Rows.Audit audit(ResultSet row) throws SQLException {
        return new Rows.Audit(
                RunId.of(row.getBytes(1)),
                row.getLong(2),
                row.getString(3),
                row.getString(4),
                row.getString(5),
                row.getString(6));
    }

    static Rows.Worker worker(ResultSet row) throws SQLException {
        return new Rows.Worker(
                row.getLong(1),
                row.getString(2),
                row.getString(3),
                row.getLong(4),
                row.getLong(5),
                row.getLong(6),
                row.getInt(7),
                row.getLong(8));
    }
}
