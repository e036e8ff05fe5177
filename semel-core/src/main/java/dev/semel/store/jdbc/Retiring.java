package dev.semel.store.jdbc;

import dev.semel.effect.Ledger;
import dev.semel.run.RunId;
import dev.semel.store.Edit;
import dev.semel.store.Name;
import dev.semel.store.Reads;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Removes runs that ended long ago, a lineage at a time: a later run of it would find what an earlier one did no more.
 * What a name or an effect still needs stays.
 */
final class Retiring {
    private static final int AT_ONCE = 16;

    private static final String MEMBERS = """
        SELECT run, lineage FROM semel_run WHERE lineage <> run
            AND lineage IN (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
        """;

    private static final String ENDED = """
        SELECT run FROM semel_end WHERE ended_at < ?
            AND run IN (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
        """;

    private static final String EFFECTS = """
        SELECT run FROM semel_effect WHERE (state IN (?, ?) OR expires_at > ?)
            AND run IN (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
        """;

    private static final String NAMES = """
        SELECT run FROM semel_key WHERE kind NOT IN (?, ?)
            AND run IN (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
        """;

    private static final String PARENTS = """
        SELECT l.run FROM semel_link l JOIN semel_work w ON w.run = l.parent
            WHERE l.run IN (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
        """;

    private static final String AT_WORK = """
        SELECT run FROM semel_work WHERE run IN (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
        """;

    // The names are those that last as long as the run itself.
    private static final List<String> ABOUT_A_RUN = List.of("""
        DELETE FROM semel_key
            WHERE run IN (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
        """, """
        DELETE FROM semel_quiet
            WHERE run IN (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
        """, """
        DELETE FROM semel_journal
            WHERE run IN (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
        """, """
        DELETE FROM semel_request
            WHERE run IN (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
        """, """
        DELETE FROM semel_use
            WHERE run IN (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
        """, """
        DELETE FROM semel_signal
            WHERE run IN (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
        """, """
        DELETE FROM semel_listener
            WHERE run IN (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
        """, """
        DELETE FROM semel_review
            WHERE run IN (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
        """, """
        DELETE FROM semel_effect
            WHERE run IN (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
        """, """
        DELETE FROM semel_link
            WHERE run IN (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
        """, """
        DELETE FROM semel_end
            WHERE run IN (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
        """);

    private static final String RUNS = """
        DELETE FROM semel_run WHERE run IN (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
        """;

    // An empty object, so that whoever reads it finds what it expects to find.
    private static final String BLANK = """
        UPDATE semel_run SET input = '{}' WHERE input <> '{}'
            AND run IN (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
        """;

    private static final List<String> PAYLOADS = List.of("""
        UPDATE semel_end SET output = NULL, entries = '[]' WHERE (output IS NOT NULL OR entries <> '[]')
            AND run IN (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
        """, """
        DELETE FROM semel_journal
            WHERE run IN (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
        """, """
        DELETE FROM semel_signal
            WHERE run IN (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
        """, """
        UPDATE semel_effect SET result = NULL, data = NULL WHERE (result IS NOT NULL OR data IS NOT NULL)
            AND run IN (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
        """);

    private final Session session;

    Retiring(Session session) {
        this.session = session;
    }

    private static final String OLDEST = """
        SELECT r.run, r.lineage, r.created_at, e.ended_at FROM semel_run r LEFT JOIN semel_end e ON e.run = r.run
        WHERE r.run > ? ORDER BY r.run LIMIT ?
        """;

    /** @param ended by the store's clock; null while it has not */
    private record Candidate(
            RunId run,
            boolean first,
            long created,
            @Nullable Long ended) {}

    private static Candidate candidate(ResultSet row) throws SQLException {
        RunId run = RunId.of(row.getBytes(1));
        boolean first = run.equals(RunId.of(row.getBytes(2)));
        long created = row.getLong(3);
        long ended = row.getLong(4);
        return new Candidate(run, first, created, row.wasNull() ? null : ended);
    }

    static Reads.Old look(Session session, @Nullable RunId from, int limit, long endedBefore) throws SQLException {
        List<Candidate> slice = session.list(OLDEST, Retiring::candidate, from == null ? new RunId(0, 0) : from, limit);
        List<RunId> found = slice.stream()
                .filter(one -> one.first() && one.ended() != null && one.ended() < endedBefore)
                .map(Candidate::run)
                .toList();
        // Ids rise with time: what comes after one that is too young is younger still.
        boolean last = slice.size() < limit || slice.getLast().created() >= endedBefore;
        return new Reads.Old(found, last ? null : slice.getLast().run());
    }

    /** How many runs had a payload that is gone now; done again it finds none. */
    int blank(Edit.BlankRuns blank, long now) throws SQLException {
        int blanked = 0;
        for (List<RunId> some : chunks(free(blank.first(), blank.endedBefore(), now))) {
            blanked += session.update(BLANK, bound(some));
            refuseResumed(some);
            for (String statement : PAYLOADS) {
                session.update(statement, bound(some));
            }
        }
        return blanked;
    }

    /** Those whose whole lineage has ended before then, and is needed by nobody. */
    private List<RunId> free(List<RunId> first, long endedBefore, long now) throws SQLException {
        Map<RunId, RunId> lineages = new LinkedHashMap<>();
        first.forEach(run -> lineages.put(run, run));
        for (List<RunId> some : chunks(first)) {
            session.list(
                            MEMBERS,
                            row -> new RunId[] {RunId.of(row.getBytes(1)), RunId.of(row.getBytes(2))},
                            bound(some))
                    .forEach(pair -> lineages.put(pair[0], pair[1]));
        }
        List<RunId> all = List.copyOf(lineages.keySet());
        Set<RunId> ended = new HashSet<>();
        Set<RunId> needed = new HashSet<>();
        for (List<RunId> some : chunks(all)) {
            ended.addAll(runs(ENDED, bound(some, endedBefore)));
            needed.addAll(runs(EFFECTS, bound(some, Ledger.State.RESERVED.code(), Ledger.State.UNKNOWN.code(), now)));
            needed.addAll(runs(NAMES, bound(some, Name.Kind.RUN.code(), Name.Kind.CHILD.code())));
            needed.addAll(runs(PARENTS, bound(some)));
        }
        Set<RunId> staying = new HashSet<>();
        lineages.forEach((run, lineage) -> {
            if (!ended.contains(run) || needed.contains(run)) {
                staying.add(lineage);
            }
        });
        return all.stream().filter(run -> !staying.contains(lineages.get(run))).toList();
    }

    /** How many runs are gone. */
    int retire(Edit.DeleteRuns delete, long now) throws SQLException {
        int gone = 0;
        for (List<RunId> some : chunks(free(delete.first(), delete.endedBefore(), now))) {
            // The run first: of two sweeps at once one removes it and counts it, and whoever still wants to add
            // something to the run (a tally) finds that it goes, or was before us and is found by what follows.
            gone += session.update(RUNS, bound(some));
            refuseResumed(some);
            for (String statement : ABOUT_A_RUN) {
                session.update(statement, bound(some));
            }
        }
        return gone;
    }

    /** Between the look and the lock somebody may have let one of them go on in place: then all is undone and done again. */
    private void refuseResumed(List<RunId> some) throws SQLException {
        if (!runs(AT_WORK, bound(some)).isEmpty()) {
            throw new SQLException("a run went on in place; the batch is applied again", "40001");
        }
    }

    private List<RunId> runs(String sql, Object[] values) throws SQLException {
        return session.list(sql, row -> RunId.of(row.getBytes(1)), values);
    }

    private static List<List<RunId>> chunks(List<RunId> runs) {
        List<List<RunId>> chunks = new ArrayList<>();
        for (int at = 0; at < runs.size(); at += AT_ONCE) {
            chunks.add(runs.subList(at, Math.min(runs.size(), at + AT_ONCE)));
        }
        return chunks;
    }

    /** As many runs as the statement has room for; the last one fills what is left. */
    private static Object[] bound(List<RunId> runs, Object... before) {
        List<Object> values = new ArrayList<>(List.of(before));
        for (int i = 0; i < AT_ONCE; i++) {
            values.add(runs.get(Math.min(i, runs.size() - 1)));
        }
        return values.toArray();
    }
}
