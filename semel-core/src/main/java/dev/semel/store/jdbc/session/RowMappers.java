package dev.semel.store.jdbc.session;

import dev.semel.admission.RunDeduplicationKey;
import dev.semel.admission.RunDeduplicationKeyRecord;
import dev.semel.admission.TriggerSource;
import dev.semel.run.RunId;
import dev.semel.run.RunState;
import dev.semel.store.DatabaseRows;
import dev.semel.store.NewRun;
import dev.semel.store.StoreWrite;
import dev.semel.store.WorkflowVersionRollout;
import java.sql.ResultSet;
import java.sql.SQLException;
import org.jspecify.annotations.Nullable;

/** Columns are in the order of the statements in {@code JdbcStoreQueries}. */
public final class RowMappers {
    private RowMappers() {}

    /**
     * Maps eleven columns from {@code at}: run, chosen_id, digest, field_hashes, workflow_id, version, state, lineage,
     * first_at, expires_at, flags.
     */
    public static RunDeduplicationKeyRecord mapKeyRecord(ResultSet row, int at) throws SQLException {
        return new RunDeduplicationKeyRecord(
                RunId.of(row.getBytes(at)),
                row.getString(at + 1),
                DebouncedKeyDigest.digest(row.getBytes(at + 2)),
                DebouncedKeyDigest.fields(row.getBytes(at + 2), row.getBytes(at + 3)),
                row.getString(at + 4),
                row.getInt(at + 5),
                RunState.of(row.getInt(at + 6)),
                RunId.of(row.getBytes(at + 7)),
                row.getLong(at + 8),
                row.getLong(at + 9),
                row.getInt(at + 10));
    }

    public static @Nullable RunId mapRunId(ResultSet row, int at) throws SQLException {
        byte[] bytes = row.getBytes(at);
        return bytes == null ? null : RunId.of(bytes);
    }

    public static DatabaseRows.RunRow mapRun(ResultSet row) throws SQLException {
        DatabaseRows.RunEnd end = null;
        int endState = row.getInt(17);
        if (endState != 0) {
            end = new DatabaseRows.RunEnd(
                    row.getLong(18),
                    new StoreWrite.RunResult(
                            row.getString(19), row.getString(20), row.getString(21), row.getString(22)),
                    row.getString(23));
        }
        return new DatabaseRows.RunRow(
                RunId.of(row.getBytes(1)),
                row.getInt(2),
                row.getString(3),
                row.getString(4),
                row.getInt(5),
                RunState.of(end == null ? row.getInt(15) : endState),
                new NewRun.TriggerOrigin(
                        TriggerSource.of(row.getInt(6)), row.getString(7), row.getString(8), row.getString(9)),
                row.getString(10),
                RunId.of(row.getBytes(11)),
                mapRunId(row, 12),
                mapRunId(row, 13),
                row.getLong(14),
                end == null ? work(row) : null,
                end,
                new DatabaseRows.DuplicateCounts(row.getLong(24), row.getLong(25), row.getLong(26)),
                mapRunId(row, 31),
                mapRunId(row, 32),
                row.getInt(33),
                row.getLong(34));
    }

    private static DatabaseRows.RunProgress work(ResultSet row) throws SQLException {
        return new DatabaseRows.RunProgress(
                row.getInt(16), row.getInt(27), row.getInt(28) == 1, row.getLong(29), row.getString(30));
    }

    public static StoreWrite.DuplicateRequest mapDuplicateRequest(ResultSet row) throws SQLException {
        return new StoreWrite.DuplicateRequest(
                RunId.of(row.getBytes(1)),
                row.getInt(2),
                RunId.of(row.getBytes(3)),
                row.getInt(4) == 1,
                row.getLong(5),
                row.getInt(6),
                row.getString(7),
                row.getString(8),
                row.getLong(9),
                row.getString(10));
    }

    public static DatabaseRows.KeyRow mapKeyRow(ResultSet row) throws SQLException {
        return new DatabaseRows.KeyRow(
                new RunDeduplicationKey(row.getInt(1), RunDeduplicationKey.KeyKind.of(row.getInt(2)), row.getString(3)),
                mapKeyRecord(row, 4),
                row.getString(15),
                row.getString(16),
                new DatabaseRows.DuplicateCounts(row.getLong(17), row.getLong(18), row.getLong(19)),
                row.getString(20),
                row.getString(21));
    }

    public static DatabaseRows.VersionRow mapVersion(ResultSet row) throws SQLException {
        return new DatabaseRows.VersionRow(
                row.getString(1),
                row.getString(2),
                row.getInt(3),
                row.getInt(4),
                row.getString(5),
                row.getLong(6),
                row.getString(7));
    }

    public static DatabaseRows.WorkflowRow mapWorkflow(ResultSet row) throws SQLException {
        return new DatabaseRows.WorkflowRow(
                row.getInt(1),
                row.getString(2),
                row.getString(3),
                new WorkflowVersionRollout(row.getInt(4), row.getInt(7), row.getInt(8), row.getInt(9)),
                row.getInt(5) == 1,
                row.getLong(6),
                false);
    }

    public static DatabaseRows.TokenRow mapToken(ResultSet row) throws SQLException {
        return new DatabaseRows.TokenRow(
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

    public static DatabaseRows.WorkspaceRow mapWorkspace(ResultSet row) throws SQLException {
        return new DatabaseRows.WorkspaceRow(row.getInt(1), row.getString(2), row.getBytes(3));
    }

    public static DatabaseRows.AuditRow mapAudit(ResultSet row) throws SQLException {
        return new DatabaseRows.AuditRow(
                RunId.of(row.getBytes(1)),
                row.getLong(2),
                row.getString(3),
                row.getString(4),
                row.getString(5),
                row.getString(6));
    }

    public static DatabaseRows.WorkerRow mapWorker(ResultSet row) throws SQLException {
        return new DatabaseRows.WorkerRow(
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
