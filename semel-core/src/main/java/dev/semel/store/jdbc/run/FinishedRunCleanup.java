package dev.semel.store.jdbc.run;

import dev.semel.admission.RunDeduplicationKey;
import dev.semel.effect.EffectGeneration;
import dev.semel.effect.EffectLedger;
import dev.semel.json.StrictJsonCodec;
import dev.semel.run.RunId;
import dev.semel.store.HumanReviewStoreWriteCommand;
import dev.semel.store.StoreQueries;
import dev.semel.store.StoreWriteCommand;
import dev.semel.store.jdbc.session.JdbcSession;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ObjectNode;

/**
 * Applies retention to finished runs: deletes them, or erases their payloads. It treats a lineage as a whole, because a
 * later run reuses results of earlier ones, and keeps lineages that a key or an effect still needs.
 */
public final class FinishedRunCleanup {
    private static final int AT_ONCE = 16;

    private static final String MEMBERS = """
        SELECT run, lineage FROM semel_run WHERE lineage <> run
            AND lineage IN (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
        """;

    private static final String ENDED = """
        SELECT run FROM semel_finished_run WHERE ended_at < ?
            AND run IN (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
        """;

    private static final String EFFECTS = """
        SELECT run FROM semel_effect
            WHERE (state IN (?, ?) OR expires_at > ? OR (window_micros > 0 AND generation >= ?))
            AND run IN (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
        """;

    private static final String NAMES = """
        SELECT run FROM semel_key WHERE kind NOT IN (?, ?)
            AND run IN (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
        """;

    // A run whose parent was deleted counts as its own parent.
    private static final String PARENTS = """
        SELECT l.run, COALESCE((SELECT p.lineage FROM semel_run p WHERE p.run = l.parent), l.run) FROM semel_run_link l
            WHERE l.parent IS NOT NULL
            AND l.run IN (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
        """;

    private static final String AT_WORK = """
        SELECT run FROM semel_unfinished_run WHERE run IN (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
        """;

    // The keys that are left here have no window of their own: they last as long as the run.
    private static final List<String> ABOUT_A_RUN = List.of("""
        DELETE FROM semel_key
            WHERE run IN (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
        """, """
        DELETE FROM semel_debounce
            WHERE run IN (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
        """, """
        DELETE FROM semel_journal
            WHERE run IN (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
        """, """
        DELETE FROM semel_duplicate_request
            WHERE run IN (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
        """, """
        DELETE FROM semel_duplicate_count
            WHERE run IN (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
        """, """
        DELETE FROM semel_signal
            WHERE run IN (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
        """, """
        DELETE FROM semel_signal_wait
            WHERE run IN (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
        """, """
        DELETE FROM semel_review
            WHERE run IN (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
        """, """
        DELETE FROM semel_effect
            WHERE run IN (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
        """, """
        DELETE FROM semel_effect_history
            WHERE run IN (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
        """, """
        DELETE FROM semel_run_link
            WHERE run IN (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
        """, """
        DELETE FROM semel_finished_run
            WHERE run IN (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
        """);

    private static final String RUNS = """
        DELETE FROM semel_run WHERE run IN (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
        """;

    // An empty object, so that readers still find a JSON object.
    private static final String BLANK = """
        UPDATE semel_run SET input = '{}' WHERE input <> '{}'
            AND run IN (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
        """;

    private static final List<String> PAYLOADS = List.of("""
        UPDATE semel_finished_run SET output = NULL, entries = '[]' WHERE (output IS NOT NULL OR entries <> '[]')
            AND run IN (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
        """, """
        DELETE FROM semel_journal
            WHERE run IN (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
        """, """
        DELETE FROM semel_signal
            WHERE run IN (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
        """, """
        UPDATE semel_effect SET result = NULL, content = NULL,
            data = CASE WHEN data = 'noted' OR substr(data, 1, 11) = 'suppressed ' THEN data END
            WHERE (result IS NOT NULL OR data IS NOT NULL OR content IS NOT NULL)
            AND run IN (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
        """);

    private static final String QUESTIONS = """
        SELECT ws, id, question FROM semel_review
            WHERE run IN (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            ORDER BY ws, id
        """;

    private final JdbcSession session;

    public FinishedRunCleanup(JdbcSession session) {
        this.session = session;
    }

    private static final String OLDEST = """
        SELECT r.run, r.lineage, r.created_at, e.ended_at FROM semel_run r LEFT JOIN semel_finished_run e
            ON e.run = r.run
        WHERE r.run > ? ORDER BY r.run LIMIT ?
        """;

    /** @param ended by the store's clock; null for an unfinished run */
    private record RetentionCandidate(
            RunId run,
            boolean first,
            long created,
            @Nullable Long ended) {}

    private static RetentionCandidate candidate(ResultSet row) throws SQLException {
        RunId run = RunId.of(row.getBytes(1));
        boolean first = run.equals(RunId.of(row.getBytes(2)));
        long created = row.getLong(3);
        long ended = row.getLong(4);
        return new RetentionCandidate(run, first, created, row.wasNull() ? null : ended);
    }

    public static StoreQueries.OldLineages findOldLineages(
            JdbcSession session, @Nullable RunId from, int limit, long endedBefore) throws SQLException {
        List<RetentionCandidate> slice =
                session.queryList(OLDEST, FinishedRunCleanup::candidate, from == null ? RunId.MIN : from, limit);
        List<RunId> found = slice.stream()
                .filter(one -> one.first() && one.ended() != null && one.ended() < endedBefore)
                .map(RetentionCandidate::run)
                .toList();
        // Ids rise with time: all runs after one that is too young are too young.
        boolean last = slice.size() < limit || slice.getLast().created() >= endedBefore;
        return new StoreQueries.OldLineages(found, last ? null : slice.getLast().run());
    }

    /** Erases payloads and returns the number of runs that had one; a retry returns 0. */
    public int erasePayloads(StoreWriteCommand.ErasePayloads blank, long now) throws SQLException {
        int blanked = 0;
        for (List<RunId> some : chunks(free(blank.lineages(), blank.endedBefore(), NeededEffects.forResults(now)))) {
            blanked += session.update(BLANK, bound(some));
            rejectResumed(some);
            for (String statement : PAYLOADS) {
                session.update(statement, bound(some));
            }
            eraseReviewPayloads(some);
        }
        return blanked;
    }

    private record StoredQuestion(int ws, String id, String text) {}

    /** A review shows data of its run: what an approval is about, and the data of a changed message. */
    private void eraseReviewPayloads(List<RunId> some) throws SQLException {
        List<StoredQuestion> questions = session.queryList(
                QUESTIONS, row -> new StoredQuestion(row.getInt(1), row.getString(2), row.getString(3)), bound(some));
        for (StoredQuestion question : questions) {
            if (StrictJsonCodec.parse(question.text()) instanceof ObjectNode text
                    && HumanReviewStoreWriteCommand.ReviewQuestion.PAYLOADS.stream()
                            .anyMatch(text::has)) {
                text.remove(HumanReviewStoreWriteCommand.ReviewQuestion.PAYLOADS);
                session.update(
                        "UPDATE semel_review SET question = ? WHERE ws = ? AND id = ?",
                        StrictJsonCodec.write(text),
                        question.ws(),
                        question.id());
            }
        }
    }

    /**
     * @param windowEndsAfter effects whose window ends after this time are needed
     * @param generation effects with a window and at least this generation are needed
     */
    private record NeededEffects(long windowEndsAfter, int generation) {
        /** A result is needed while it suppresses other effects. */
        static NeededEffects forResults(long now) {
            return new NeededEffects(now, Integer.MAX_VALUE);
        }

        /** A row is needed for longer: without it the next send would get a generation that was sent before. */
        static NeededEffects forRows(long now) {
            return new NeededEffects(now - EffectGeneration.KEPT_AFTER_WINDOW, EffectGeneration.first(now));
        }
    }

    /** Returns the runs whose whole lineage ended before {@code endedBefore} and is not needed any more. */
    private List<RunId> free(List<RunId> first, long endedBefore, NeededEffects effects) throws SQLException {
        Map<RunId, RunId> lineages = members(first);
        List<RunId> all = List.copyOf(lineages.keySet());
        Set<RunId> needed = needed(all, effects);
        needed.addAll(children(all, endedBefore));
        Set<RunId> staying = young(lineages, endedBefore);
        lineages.forEach((run, lineage) -> {
            if (needed.contains(run)) {
                staying.add(lineage);
            }
        });
        return all.stream().filter(run -> !staying.contains(lineages.get(run))).toList();
    }

    /** Returns all runs of these lineages, each with the first run of its lineage. */
    private Map<RunId, RunId> members(List<RunId> first) throws SQLException {
        Map<RunId, RunId> lineages = new LinkedHashMap<>();
        first.forEach(run -> lineages.put(run, run));
        for (List<RunId> some : chunks(first)) {
            lineages.putAll(pairs(MEMBERS, some));
        }
        return lineages;
    }

    private Map<RunId, RunId> pairs(String sql, List<RunId> some) throws SQLException {
        Map<RunId, RunId> pairs = new LinkedHashMap<>();
        session.queryList(sql, row -> new RunId[] {RunId.of(row.getBytes(1)), RunId.of(row.getBytes(2))}, bound(some))
                .forEach(pair -> pairs.put(pair[0], pair[1]));
        return pairs;
    }

    /** Returns the lineages that have a run which did not end before {@code endedBefore}. */
    private Set<RunId> young(Map<RunId, RunId> lineages, long endedBefore) throws SQLException {
        Set<RunId> ended = new HashSet<>();
        for (List<RunId> some : chunks(List.copyOf(lineages.keySet()))) {
            ended.addAll(runs(ENDED, bound(some, endedBefore)));
        }
        Set<RunId> young = new HashSet<>();
        lineages.forEach((run, lineage) -> {
            if (!ended.contains(run)) {
                young.add(lineage);
            }
        });
        return young;
    }

    private Set<RunId> needed(List<RunId> all, NeededEffects effects) throws SQLException {
        Set<RunId> needed = new HashSet<>();
        for (List<RunId> some : chunks(all)) {
            needed.addAll(runs(
                    EFFECTS,
                    bound(
                            some,
                            EffectLedger.EffectState.RESERVED.code(),
                            EffectLedger.EffectState.UNKNOWN.code(),
                            effects.windowEndsAfter(),
                            effects.generation())));
            needed.addAll(runs(
                    NAMES,
                    bound(some, RunDeduplicationKey.KeyKind.RUN.code(), RunDeduplicationKey.KeyKind.CHILD.code())));
        }
        return needed;
    }

    /** Returns the child runs whose parent's lineage stays: a replay of the parent reuses their results. */
    private Set<RunId> children(List<RunId> all, long endedBefore) throws SQLException {
        Map<RunId, RunId> parents = new LinkedHashMap<>();
        for (List<RunId> some : chunks(all)) {
            parents.putAll(pairs(PARENTS, some));
        }
        Set<RunId> young = young(members(parents.values().stream().distinct().toList()), endedBefore);
        Set<RunId> children = new HashSet<>();
        parents.forEach((child, lineage) -> {
            if (young.contains(lineage)) {
                children.add(child);
            }
        });
        return children;
    }

    public int deleteRuns(StoreWriteCommand.DeleteRuns delete, long now) throws SQLException {
        int gone = 0;
        for (List<RunId> some : chunks(free(delete.lineages(), delete.endedBefore(), NeededEffects.forRows(now)))) {
            // The run row first: of two concurrent sweeps one deletes and counts it. A writer of duplicate requests
            // either finds the run row locked, or wrote before us and the following statements delete its rows.
            gone += session.update(RUNS, bound(some));
            rejectResumed(some);
            for (String statement : ABOUT_A_RUN) {
                session.update(statement, bound(some));
            }
        }
        return gone;
    }

    /** A user may have resumed a run between our read and our lock: then the batch is rolled back and retried. */
    private void rejectResumed(List<RunId> some) throws SQLException {
        if (!runs(AT_WORK, bound(some)).isEmpty()) {
            throw new SQLException("a run was resumed in place; the batch is applied again", "40001");
        }
    }

    private List<RunId> runs(String sql, Object[] values) throws SQLException {
        return session.queryList(sql, row -> RunId.of(row.getBytes(1)), values);
    }

    private static List<List<RunId>> chunks(List<RunId> runs) {
        List<List<RunId>> chunks = new ArrayList<>();
        for (int at = 0; at < runs.size(); at += AT_ONCE) {
            chunks.add(runs.subList(at, Math.min(runs.size(), at + AT_ONCE)));
        }
        return chunks;
    }

    /** Fills all run parameters of a statement; the last run is repeated for the rest. */
    private static Object[] bound(List<RunId> runs, Object... before) {
        List<Object> values = new ArrayList<>(List.of(before));
        for (int i = 0; i < AT_ONCE; i++) {
            values.add(runs.get(Math.min(i, runs.size() - 1)));
        }
        return values.toArray();
    }
}
