package dev.semel.store.jdbc;

import dev.semel.store.DatabaseRows;
import dev.semel.store.StoreWriteCommand;
import dev.semel.store.StoreWriteCommand.SettingResult;
import dev.semel.store.WorkspaceSettingName;
import dev.semel.store.jdbc.session.JdbcSession;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.List;
import org.jspecify.annotations.Nullable;

final class JdbcWorkspaceSettingWriter {
    private static final int MOST_ATTEMPTS = 20;

    private static final String NEWEST = """
        SELECT ws, kind, name, version, body, changed_at, changed_by, removed FROM semel_setting
        WHERE ws = ? AND kind = ? AND name = ? ORDER BY version DESC LIMIT 1
        """;

    private static final String VERSION = """
        SELECT ws, kind, name, version, body, changed_at, changed_by, removed FROM semel_setting
        WHERE ws = ? AND kind = ? AND name = ? AND version = ?
        """;

    // Large documents are read one at a time, so that a page fits into memory.
    private static final String PAGE = """
        SELECT s.ws, s.kind, s.name, s.version, CASE WHEN length(s.body) > 4096 THEN '' ELSE s.body END,
               s.changed_at, s.changed_by, s.removed
        FROM semel_setting s
        WHERE s.ws = ? AND s.kind = ? AND s.name > ? AND s.removed = 0 AND NOT EXISTS (
            SELECT 1 FROM semel_setting n
            WHERE n.ws = s.ws AND n.kind = s.kind AND n.name = s.name AND n.version > s.version)
        ORDER BY s.name LIMIT ?
        """;

    private static final String VERSIONS = """
        SELECT ws, kind, name, version, CASE WHEN length(body) > 4096 THEN '' ELSE body END,
               changed_at, changed_by, removed
        FROM semel_setting WHERE ws = ? AND kind = ? AND name = ? ORDER BY version DESC LIMIT 200
        """;

    private static final String LOCK_WORKSPACE = """
        UPDATE semel_workspace SET created_at = created_at WHERE ws = ?
        """;

    private static final String ADD = """
        INSERT INTO semel_setting (ws, kind, name, version, body, changed_at, changed_by, removed)
        VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (ws, kind, name, version) DO NOTHING
        """;

    private static final String REPLACE = """
        UPDATE semel_setting SET version = ?, body = ?, changed_at = ?, changed_by = ?, removed = ?
        WHERE ws = ? AND kind = ? AND name = ? AND version = ?
        """;

    private final JdbcSession session;

    JdbcWorkspaceSettingWriter(JdbcSession session) {
        this.session = session;
    }

    /** @param changed false if the document was already as requested, or the change was rejected */
    record SettingChange(SettingResult result, boolean changed) {}

    SettingChange save(StoreWriteCommand.SaveSetting put, long now) throws SQLException {
        DatabaseRows.SettingRow wanted = row(put.name(), put.body(), put.actor(), now);
        for (int attempt = 0; attempt < MOST_ATTEMPTS; attempt++) {
            DatabaseRows.SettingRow newest = newestOrLock(put.name());
            if (newest != null && !newest.removed() && newest.body().equals(put.body())) {
                return new SettingChange(new SettingResult.Saved(newest), false);
            }
            int current = newest == null || newest.removed() ? 0 : newest.version();
            if (put.expectedVersion() != null && put.expectedVersion() != current) {
                return new SettingChange(new SettingResult.VersionConflict(current), false);
            }
            DatabaseRows.SettingRow placed = writeNext(put.name(), newest, wanted);
            if (placed != null) {
                return new SettingChange(new SettingResult.Saved(placed), true);
            }
        }
        throw conflictLimit(put.name());
    }

    SettingChange remove(StoreWriteCommand.RemoveSetting remove, long now) throws SQLException {
        DatabaseRows.SettingRow wanted = row(remove.name(), null, remove.actor(), now);
        for (int attempt = 0; attempt < MOST_ATTEMPTS; attempt++) {
            DatabaseRows.SettingRow newest = newest(session, remove.name());
            if (newest == null) {
                return new SettingChange(new SettingResult.NotFound(), false);
            }
            if (newest.removed()) {
                return new SettingChange(new SettingResult.Saved(newest), false);
            }
            if (remove.expectedVersion() != null && remove.expectedVersion() != newest.version()) {
                return new SettingChange(new SettingResult.VersionConflict(newest.version()), false);
            }
            DatabaseRows.SettingRow placed = writeNext(remove.name(), newest, wanted);
            if (placed != null) {
                return new SettingChange(new SettingResult.Saved(placed), true);
            }
        }
        throw conflictLimit(remove.name());
    }

    private static IllegalStateException conflictLimit(WorkspaceSettingName name) {
        return new IllegalStateException(
                "Saving a " + name.kind().word() + " failed: other writers created its next version " + MOST_ATTEMPTS
                        + " times in a row. Nothing was changed. Retry.");
    }

    /** If there is none, locks the workspace, so that concurrent creations wait for this one. */
    private DatabaseRows.@Nullable SettingRow newestOrLock(WorkspaceSettingName name) throws SQLException {
        DatabaseRows.SettingRow found = newest(session, name);
        if (found != null) {
            return found;
        }
        session.update(LOCK_WORKSPACE, name.workspace());
        return newest(session, name);
    }

    /**
     * Writes the version after the one that was read. Null: another writer did so first. The version number decides:
     * with a history it can be inserted once; without one the only row can leave its old number once.
     */
    private DatabaseRows.@Nullable SettingRow writeNext(
            WorkspaceSettingName name, DatabaseRows.@Nullable SettingRow before, DatabaseRows.SettingRow wanted)
            throws SQLException {
        int version = before == null ? 1 : before.version() + 1;
        int removed = wanted.removed() ? 1 : 0;
        String kind = name.kind().word();
        int placed = before == null || name.kind().keepsHistory()
                ? session.update(
                        ADD,
                        name.workspace(),
                        kind,
                        name.text(),
                        version,
                        wanted.body(),
                        wanted.changedAt(),
                        wanted.changedBy(),
                        removed)
                : session.update(
                        REPLACE,
                        version,
                        wanted.body(),
                        wanted.changedAt(),
                        wanted.changedBy(),
                        removed,
                        name.workspace(),
                        kind,
                        name.text(),
                        before.version());
        return placed == 1 ? numbered(wanted, version) : null;
    }

    /** @param body null for a removal */
    private static DatabaseRows.SettingRow row(
            WorkspaceSettingName name, @Nullable String body, String actor, long now) {
        String text = body == null ? "" : body;
        return new DatabaseRows.SettingRow(
                name.workspace(), name.kind().word(), name.text(), 1, text, now, actor, body == null);
    }

    private static DatabaseRows.SettingRow numbered(DatabaseRows.SettingRow row, int version) {
        return new DatabaseRows.SettingRow(
                row.ws(), row.kind(), row.name(), version, row.body(), row.changedAt(), row.changedBy(), row.removed());
    }

    private static DatabaseRows.@Nullable SettingRow newest(JdbcSession session, WorkspaceSettingName name)
            throws SQLException {
        return session.queryOne(
                NEWEST,
                JdbcWorkspaceSettingWriter::read,
                name.workspace(),
                name.kind().word(),
                name.text());
    }

    static DatabaseRows.@Nullable SettingRow findCurrent(JdbcSession session, int ws, String kind, String name)
            throws SQLException {
        DatabaseRows.SettingRow newest = session.queryOne(NEWEST, JdbcWorkspaceSettingWriter::read, ws, kind, name);
        return newest == null || newest.removed() ? null : newest;
    }

    static DatabaseRows.@Nullable SettingRow findVersion(
            JdbcSession session, int ws, String kind, String name, int version) throws SQLException {
        return session.queryOne(VERSION, JdbcWorkspaceSettingWriter::read, ws, kind, name, version);
    }

    static List<DatabaseRows.SettingRow> list(JdbcSession session, int ws, String kind, String after, int limit)
            throws SQLException {
        return session.queryList(PAGE, JdbcWorkspaceSettingWriter::read, ws, kind, after, limit);
    }

    static List<DatabaseRows.SettingRow> listVersions(JdbcSession session, int ws, String kind, String name)
            throws SQLException {
        return session.queryList(VERSIONS, JdbcWorkspaceSettingWriter::read, ws, kind, name);
    }

    private static DatabaseRows.SettingRow read(ResultSet row) throws SQLException {
        return new DatabaseRows.SettingRow(
                row.getInt(1),
                row.getString(2),
                row.getString(3),
                row.getInt(4),
                row.getString(5),
                row.getLong(6),
                row.getString(7),
                row.getInt(8) == 1);
    }
}
