package dev.semel.store.postgres;

import dev.semel.run.RunId;
import dev.semel.store.Write;
import dev.semel.store.jdbc.Session;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;

/** What owners write about their runs, and what is remembered of repeats: one statement for each kind of write. */
final class Driving {
    private static final String MOVE = """
        WITH mine AS MATERIALIZED (
            SELECT w.run, u.state FROM unnest(?::bytea[], ?::int[]) AS u(run, state)
            JOIN semel_work w ON w.run = u.run
            WHERE w.owner = ? ORDER BY w.run FOR NO KEY UPDATE OF w)
        UPDATE semel_work w SET state = mine.state FROM mine WHERE w.run = mine.run RETURNING w.run
        """;

    private static final String APPEND = """
        INSERT INTO semel_journal (run, seq, at, entries)
        SELECT run, seq, ?, entries FROM unnest(?::bytea[], ?::int[], ?::text[]) AS u(run, seq, entries)
        ON CONFLICT (run, seq) DO NOTHING
        """;

    // The deleted row carries the new one along, so no join is needed to know which runs were still ours.
    private static final String END = """
        WITH gone AS (
            DELETE FROM semel_work w
            USING unnest(?::bytea[], ?::int[], ?::text[], ?::text[], ?::text[], ?::text[], ?::text[])
                AS u(run, state, output, error_code, error_message, error_step, entries)
            WHERE w.run = u.run AND w.owner = ?
            RETURNING u.run, u.state, u.output, u.error_code, u.error_message, u.error_step, u.entries)
        INSERT INTO semel_end (run, state, ended_at, output, error_code, error_message, error_step, entries)
        SELECT run, state, ?, output, error_code, error_message, error_step, entries FROM gone
        RETURNING run
        """;

    private static final String ENDED = """
        SELECT e.run FROM unnest(?::bytea[]) AS u(run)
        CROSS JOIN LATERAL (SELECT run FROM semel_end e WHERE e.run = u.run LIMIT 1) e
        """;

    private static final String TALLY = """
        WITH seen AS (
            INSERT INTO semel_request (run, id, ws, conflict, at, status_code, actor, changed, times)
            SELECT * FROM unnest(?::bytea[], ?::bytea[], ?::int[], ?::int[], ?::bigint[], ?::int[], ?::text[],
                                 ?::text[], ?::bigint[])
            ON CONFLICT (run, id) DO NOTHING
            RETURNING run, conflict, at, times)
        INSERT INTO semel_use (run, replays, conflicts, last_at)
        SELECT run, sum(times * (1 - conflict))::bigint, sum(times * conflict)::bigint, max(at)
        FROM seen GROUP BY run ORDER BY run
        ON CONFLICT (run) DO UPDATE SET replays = semel_use.replays + excluded.replays,
            conflicts = semel_use.conflicts + excluded.conflicts,
            last_at = GREATEST(semel_use.last_at, excluded.last_at)
        """;

    private final Session session;
    private final Admitting.Moment moment;

    Driving(Session session, Admitting.Moment moment) {
        this.session = session;
        this.moment = moment;
    }

    void append(List<PostgresLane.Indexed<Write.Append>> appends, Object[] outcomes) throws SQLException {
        TreeMap<RunId, Integer> states = new TreeMap<>();
        for (var append : appends) {
            states.put(append.write().run(), append.write().state().code());
        }
        Set<RunId> mine = moment.lease() == null ? Set.of() : move(states, moment.lease());
        List<Write.Append> ours = appends.stream()
                .map(PostgresLane.Indexed::write)
                .filter(append -> mine.contains(append.run()))
                .collect(Collectors.toList());
        PreparedStatement statement = session.statement(APPEND);
        new Arrays(session, statement)
                .one(moment.now())
                .bytes(ours.stream().map(append -> append.run().bytes()).toArray(byte[][]::new))
                .ints(ours.stream().mapToInt(Write.Append::seq).toArray())
                .texts(ours.stream().map(Write.Append::entries).toArray(String[]::new));
        statement.executeUpdate();
        for (var append : appends) {
            outcomes[append.at()] = mine.contains(append.write().run()) ? Write.Owned.RECORDED : Write.Owned.FENCED;
        }
    }

    private Set<RunId> move(TreeMap<RunId, Integer> states, long lease) throws SQLException {
        PreparedStatement statement = session.statement(MOVE);
        new Arrays(session, statement)
                .bytes(states.keySet().stream().map(RunId::bytes).toArray(byte[][]::new))
                .ints(states.values().stream().mapToInt(Integer::intValue).toArray())
                .one(lease);
        return runs(statement);
    }

    void end(List<PostgresLane.Indexed<Write.End>> ends, Object[] outcomes) throws SQLException {
        List<Write.End> sorted = ends.stream()
                .map(PostgresLane.Indexed::write)
                .sorted(Comparator.comparing(Write.End::run))
                .toList();
        PreparedStatement statement = session.statement(END);
        byte[][] ids = sorted.stream().map(end -> end.run().bytes()).toArray(byte[][]::new);
        new Arrays(session, statement)
                .bytes(ids)
                .ints(sorted.stream().mapToInt(end -> end.state().code()).toArray())
                .texts(sorted.stream().map(end -> end.ending().output()).toArray(String[]::new))
                .texts(sorted.stream().map(end -> end.ending().errorCode()).toArray(String[]::new))
                .texts(sorted.stream().map(end -> end.ending().errorMessage()).toArray(String[]::new))
                .texts(sorted.stream().map(end -> end.ending().errorStep()).toArray(String[]::new))
                .texts(sorted.stream().map(Write.End::entries).toArray(String[]::new))
                .oneOrNull(moment.lease())
                .one(moment.now());
        Set<RunId> recorded = runs(statement);
        if (recorded.size() < ends.size() && moment.lease() != null) {
            // Applied a second time after a lost answer: with the lease still held, an end on record is ours.
            PreparedStatement again = session.statement(ENDED);
            new Arrays(session, again).bytes(ids);
            recorded.addAll(runs(again));
        }
        for (var end : ends) {
            outcomes[end.at()] = recorded.contains(end.write().run()) ? Write.Owned.RECORDED : Write.Owned.FENCED;
        }
    }

    void tally(List<PostgresLane.Indexed<Write.Tally>> tallies, Object[] outcomes) throws SQLException {
        List<Write.Seen> rows = tallies.stream()
                .flatMap(tally -> tally.write().rows().stream())
                .sorted(Comparator.comparing(Write.Seen::run).thenComparing(Write.Seen::id))
                .toList();
        PreparedStatement statement = session.statement(TALLY);
        new Arrays(session, statement)
                .bytes(rows.stream().map(row -> row.run().bytes()).toArray(byte[][]::new))
                .bytes(rows.stream().map(row -> row.id().bytes()).toArray(byte[][]::new))
                .ints(rows.stream().mapToInt(Write.Seen::workspace).toArray())
                .ints(rows.stream().mapToInt(row -> row.conflict() ? 1 : 0).toArray())
                .longs(rows.stream().mapToLong(Write.Seen::at).toArray())
                .ints(rows.stream().mapToInt(Write.Seen::statusCode).toArray())
                .texts(rows.stream().map(Write.Seen::actor).toArray(String[]::new))
                .texts(rows.stream().map(Write.Seen::changed).toArray(String[]::new))
                .longs(rows.stream().mapToLong(Write.Seen::times).toArray());
        statement.executeUpdate();
        for (var tally : tallies) {
            outcomes[tally.at()] = true;
        }
    }

    /** The run ids that a statement returns in its first column. */
    static Set<RunId> runs(PreparedStatement statement) throws SQLException {
        Set<RunId> runs = new HashSet<>();
        try (ResultSet row = statement.executeQuery()) {
            while (row.next()) {
                runs.add(RunId.of(row.getBytes(1)));
            }
        }
        return runs;
    }
}
