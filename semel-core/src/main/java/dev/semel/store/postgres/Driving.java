package dev.semel.store.postgres;

import static java.util.Objects.requireNonNull;

import dev.semel.effect.Ledger;
import dev.semel.run.RunId;
import dev.semel.run.RunState;
import dev.semel.store.Counted;
import dev.semel.store.Write;
import dev.semel.store.jdbc.Counting;
import dev.semel.store.jdbc.Gating;
import dev.semel.store.jdbc.Session;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/**
 * Writes the progress and results of runs for their owners, and records duplicate requests, with one statement for each
 * kind of write. The rows of the runs are locked before; the ledger decides before other parts of a write are applied.
 */
final class Driving {
    // The table is a queue, mostly empty and full of dead rows. A join with unnest() would scan it, because the planner
    // estimates that it is empty; a list of keys always uses the index.
    private static final String SET_STATE = """
        UPDATE semel_unfinished_run SET state = ?, crash_count = CASE WHEN ? = 1 THEN 0 ELSE crash_count END
            WHERE run = ANY (?)
        """;

    // After the lock, so that its snapshot contains all signals of earlier senders; a later sender waits for our lock
    // and then finds the run suspended.
    private static final String SUSPEND = """
        UPDATE semel_unfinished_run w SET owner = NULL, state = u.state, waiting_for = u.waiting_for,
            crash_count = CASE WHEN u.suspect = 1 THEN w.crash_count ELSE 0 END,
            due_at = CASE WHEN w.due_at < 0 OR w.cancel_requested > u.cancelled
                OR (SELECT count(*) FROM semel_signal s WHERE s.run = w.run) > u.signals THEN 0 ELSE u.due END
        FROM unnest(?::bytea[], ?::int[], ?::text[], ?::bigint[], ?::int[], ?::int[], ?::int[])
            AS u(run, state, waiting_for, due, signals, suspect, cancelled)
        WHERE w.run = u.run AND w.run = ANY (?)
        """;

    private static final String APPEND = """
        INSERT INTO semel_journal (run, seq, at, entries)
        SELECT run, seq, ?, entries FROM unnest(?::bytea[], ?::int[], ?::text[]) AS u(run, seq, entries)
        ON CONFLICT (run, seq) DO NOTHING
        """;

    private static final String DELETE_STATE = """
        DELETE FROM semel_unfinished_run WHERE owner = ? AND claim_count = ? AND run = ANY (?)
            RETURNING run, queue_state, has_crashed
        """;

    private static final String INSERT_RESULT = """
        INSERT INTO semel_finished_run (run, state, ended_at, output, error_code, error_message, error_step, entries,
            ws, workflow_id)
        SELECT run, state, ?, output, error_code, error_message, error_step, entries,
            CASE WHEN state > 10 THEN (SELECT r.ws FROM semel_run r WHERE r.run = u.run) END,
            CASE WHEN state > 10 THEN (SELECT r.workflow_id FROM semel_run r WHERE r.run = u.run) END
        FROM unnest(?::bytea[], ?::int[], ?::text[], ?::text[], ?::text[], ?::text[], ?::text[])
            AS u(run, state, output, error_code, error_message, error_step, entries)
        """;

    private static final String HAS_RESULT = """
        SELECT e.run FROM unnest(?::bytea[]) AS u(run)
        CROSS JOIN LATERAL (SELECT run FROM semel_finished_run e WHERE e.run = u.run LIMIT 1) e
        """;

    // differs: locks the run row until the commit. A run that retention deletes right now is skipped, which prevents a
    // deadlock; retention deletes the run row first and so finds all rows that were recorded before.
    private static final String RECORD_DUPLICATES = """
        WITH there AS MATERIALIZED (
            SELECT l.run, l.workflow_id FROM unnest(?::bytea[]) AS w(run)
            CROSS JOIN LATERAL (
                SELECT r.run, r.workflow_id FROM semel_run r WHERE r.run = w.run LIMIT 1 FOR KEY SHARE SKIP LOCKED) l),
        seen AS (
            INSERT INTO semel_duplicate_request (run, id, ws, conflict, at, status_code, actor, changed_fields,
                request_count)
            SELECT u.* FROM unnest(?::bytea[], ?::bytea[], ?::int[], ?::int[], ?::bigint[], ?::int[], ?::text[],
                                   ?::text[], ?::bigint[])
                AS u(run, id, ws, conflict, at, status_code, actor, changed_fields, request_count)
            WHERE u.run IN (SELECT run FROM there)
            ON CONFLICT (run, id) DO NOTHING
            RETURNING run, id, conflict, at, request_count),
        used AS (
            INSERT INTO semel_duplicate_count (run, replays, conflicts, last_at)
            SELECT run, sum(request_count * (1 - conflict))::bigint, sum(request_count * conflict)::bigint, max(at)
            FROM seen GROUP BY run ORDER BY run
            ON CONFLICT (run) DO UPDATE SET replays = semel_duplicate_count.replays + excluded.replays,
                conflicts = semel_duplicate_count.conflicts + excluded.conflicts,
                last_at = GREATEST(semel_duplicate_count.last_at, excluded.last_at))
        SELECT id, NULL::text FROM seen UNION ALL SELECT run, workflow_id FROM there
        """;

    private final Session session;
    private final Admitting.Moment moment;
    private final Locking locks;
    private final Counted counted;
    private final Set<RunId> crashed = new HashSet<>();
    private boolean freedPlaces;

    Driving(Session session, Admitting.Moment moment, Locking locks, Counted counted) {
        this.counted = counted;
        this.session = session;
        this.moment = moment;
        this.locks = locks;
    }

    /** Whether a run left a queue, so that another run may start. */
    boolean freedPlaces() {
        return freedPlaces;
    }

    void drive(List<Turn> turns, Collection<Ledger.Id> others, Object[] outcomes) throws SQLException {
        List<Turn> mine = mine(turns);
        new Bookkeeping(session, moment.now(), counted).apply(mine, others);
        mine.removeIf(turn -> turn.deferred);
        List<Write.Append> appends = new ArrayList<>();
        List<Write.End> ends = new ArrayList<>();
        for (Turn turn : mine) {
            switch (turn.write) {
                case Write.Append append -> appends.add(append);
                case Write.End end -> ends.add(end);
                case Write.Change<Write.Owned> _ -> throw new IllegalStateException("An owner write is an append or an end");
            }
        }
        append(appends, ends);
        Set<RunId> ended = end(ends);
        addRecordedEnds(turns, ended);
        for (Turn turn : turns) {
            boolean recorded = turn.ends() ? ended.contains(turn.run()) : mine.contains(turn);
            outcomes[turn.at] =
                    turn.deferred ? Write.Deferred.DEFERRED : recorded ? recorded(turn) : Write.Owned.FENCED;
        }
    }

    /** Returns the writes whose execution still owns its run at that point of the batch. */
    private List<Turn> mine(List<Turn> turns) {
        Long lease = moment.lease();
        List<Turn> mine = new ArrayList<>();
        Set<RunId> over = new HashSet<>();
        if (lease == null) {
            return mine;
        }
        for (Turn turn : turns) {
            Locking.Work work = locks.work(turn.run());
            boolean owned = !locks.locksWork() || work != null && work.isDrivenBy(lease, turn.by);
            if (owned && !over.contains(turn.run())) {
                mine.add(turn);
                if (turn.isLast()) {
                    over.add(turn.run());
                }
            }
        }
        return mine;
    }

    private Write.Owned recorded(Turn turn) {
        Locking.Work work = locks.work(turn.run());
        return new Write.Owned(true, !turn.ends() && work != null && work.cancel(), List.copyOf(turn.verdicts));
    }

    private void append(List<Write.Append> appends, List<Write.End> ends) throws SQLException {
        List<Write.Append> entries =
                appends.stream().filter(append -> !append.entries().isEmpty()).toList();
        if (!entries.isEmpty()) {
            PreparedStatement statement = session.statement(APPEND);
            new Arrays(session, statement)
                    .one(moment.now())
                    .bytes(entries.stream().map(append -> append.run().bytes()).toArray(byte[][]::new))
                    .ints(entries.stream().mapToInt(Write.Append::seq).toArray())
                    .texts(entries.stream().map(Write.Append::entries).toArray(String[]::new));
            statement.executeUpdate();
        }
        TreeMap<RunId, Move> moves = new TreeMap<>();
        TreeMap<RunId, Write.Append> rests = new TreeMap<>();
        for (Write.Append append : appends) {
            moves.merge(append.run(), Move.of(append), Move::then);
            if (append.rest() != null) {
                rests.put(append.run(), append);
            }
        }
        moves.keySet().removeAll(rests.keySet());
        ends.forEach(end -> moves.remove(end.run()));
        moves.entrySet().removeIf(move -> isCurrent(move.getKey(), move.getValue()));
        move(moves);
        rest(rests.values());
    }

    /** The state of a run after all writes of a batch, and whether one of them was progress. */
    private record Move(RunState state, boolean progress) {
        static Move of(Write.Append append) {
            return new Move(append.state(), append.isProgress());
        }

        Move then(Move later) {
            return new Move(later.state(), progress || later.progress());
        }
    }

    /** Whether the row has the new state already, as after most appends: then it is only locked, not written. */
    private boolean isCurrent(RunId run, Move move) {
        Locking.Work work = locks.work(run);
        return work != null && work.state() == move.state().code() && (work.falls() == 0 || !move.progress());
    }

    private void move(TreeMap<RunId, Move> moves) throws SQLException {
        Map<Move, List<RunId>> alike = new LinkedHashMap<>();
        moves.forEach((run, move) ->
                alike.computeIfAbsent(move, _ -> new ArrayList<>()).add(run));
        for (Map.Entry<Move, List<RunId>> move : alike.entrySet()) {
            PreparedStatement statement = session.statement(SET_STATE);
            new Arrays(session, statement)
                    .one(move.getKey().state().code())
                    .one(move.getKey().progress() ? 1 : 0)
                    .bytes(bytes(move.getValue()));
            statement.executeUpdate();
        }
    }

    private static byte[][] bytes(Collection<RunId> runs) {
        return runs.stream().map(RunId::bytes).toArray(byte[][]::new);
    }

    private void rest(Collection<Write.Append> appends) throws SQLException {
        if (appends.isEmpty()) {
            return;
        }
        List<Write.Rest> rests =
                appends.stream().map(append -> requireNonNull(append.rest())).toList();
        PreparedStatement statement = session.statement(SUSPEND);
        new Arrays(session, statement)
                .bytes(appends.stream().map(append -> append.run().bytes()).toArray(byte[][]::new))
                .ints(appends.stream().mapToInt(append -> append.state().code()).toArray())
                .texts(rests.stream().map(Write.Rest::waits).toArray(String[]::new))
                .longs(rests.stream().mapToLong(Write.Rest::due).toArray())
                .ints(rests.stream().mapToInt(Write.Rest::signals).toArray())
                .ints(rests.stream().mapToInt(rest -> rest.suspect() ? 1 : 0).toArray())
                .ints(rests.stream().mapToInt(rest -> rest.cancelled() ? 1 : 0).toArray())
                .bytes(appends.stream().map(append -> append.run().bytes()).toArray(byte[][]::new));
        statement.executeUpdate();
    }

    /** Deletes the state rows of ended runs that we still own and inserts their results. Returns the ended runs. */
    private Set<RunId> end(List<Write.End> ends) throws SQLException {
        Map<Integer, List<RunId>> byClaim = new TreeMap<>();
        ends.forEach(end -> byClaim.computeIfAbsent(end.by().claim(), _ -> new ArrayList<>())
                .add(end.run()));
        Set<RunId> ended = new HashSet<>();
        for (Map.Entry<Integer, List<RunId>> each : byClaim.entrySet()) {
            leave(each.getKey(), each.getValue(), ended);
        }
        List<Write.End> ours = ends.stream()
                .filter(end -> ended.contains(end.run()))
                .sorted(Comparator.comparing(Write.End::run))
                .toList();
        if (!ours.isEmpty()) {
            PreparedStatement statement = session.statement(INSERT_RESULT);
            new Arrays(session, statement)
                    .one(moment.now())
                    .bytes(ours.stream().map(end -> end.run().bytes()).toArray(byte[][]::new))
                    .ints(ours.stream().mapToInt(end -> end.state().code()).toArray())
                    .texts(ours.stream().map(end -> end.ending().output()).toArray(String[]::new))
                    .texts(ours.stream().map(end -> end.ending().errorCode()).toArray(String[]::new))
                    .texts(ours.stream().map(end -> end.ending().errorMessage()).toArray(String[]::new))
                    .texts(ours.stream().map(end -> end.ending().errorStep()).toArray(String[]::new))
                    .texts(ours.stream().map(Write.End::entries).toArray(String[]::new));
            statement.executeUpdate();
        }
        for (Write.End end : ours) {
            if (end.state() == RunState.COMPLETED && (end.stumbled() || crashed.contains(end.run()))) {
                Counting.recovered(session, end.run(), moment.now(), counted);
            }
        }
        return ended;
    }

    private void leave(int claim, List<RunId> runs, Set<RunId> ended) throws SQLException {
        PreparedStatement statement = session.statement(DELETE_STATE);
        new Arrays(session, statement).oneOrNull(moment.lease()).one(claim).bytes(bytes(runs));
        List<RunId> gated = new ArrayList<>();
        try (ResultSet row = statement.executeQuery()) {
            while (row.next()) {
                RunId run = RunId.of(row.getBytes(1));
                ended.add(run);
                if (row.getInt(2) != 0) {
                    gated.add(run);
                }
                if (row.getInt(3) == 1) {
                    crashed.add(run);
                }
            }
        }
        if (!gated.isEmpty()) {
            freedPlaces = true;
            new Gating(session).leave(gated.stream().sorted().toList());
        }
    }

    /** Adds runs of a retry after a lost response: the lease is still held, so a recorded result is ours. */
    private void addRecordedEnds(List<Turn> turns, Set<RunId> ended) throws SQLException {
        byte[][] missing = turns.stream()
                .filter(turn -> turn.ends() && !turn.deferred && !ended.contains(turn.run()))
                .map(turn -> turn.run().bytes())
                .toArray(byte[][]::new);
        if (missing.length > 0 && moment.lease() != null) {
            PreparedStatement statement = session.statement(HAS_RESULT);
            new Arrays(session, statement).bytes(missing);
            ended.addAll(runs(statement));
        }
    }

    void tally(List<PostgresLane.Indexed<Write.Tally>> tallies, Object[] outcomes) throws SQLException {
        List<Write.Seen> rows = tallies.stream()
                .flatMap(tally -> tally.write().rows().stream())
                .sorted(Comparator.comparing(Write.Seen::run).thenComparing(Write.Seen::id))
                .toList();
        PreparedStatement statement = session.statement(RECORD_DUPLICATES);
        new Arrays(session, statement)
                .bytes(rows.stream()
                        .map(Write.Seen::run)
                        .distinct()
                        .map(RunId::bytes)
                        .toArray(byte[][]::new))
                .bytes(rows.stream().map(row -> row.run().bytes()).toArray(byte[][]::new))
                .bytes(rows.stream().map(row -> row.id().bytes()).toArray(byte[][]::new))
                .ints(rows.stream().mapToInt(Write.Seen::workspace).toArray())
                .ints(rows.stream().mapToInt(row -> row.conflict() ? 1 : 0).toArray())
                .longs(rows.stream().mapToLong(Write.Seen::at).toArray())
                .ints(rows.stream().mapToInt(Write.Seen::statusCode).toArray())
                .texts(rows.stream().map(Write.Seen::actor).toArray(String[]::new))
                .texts(rows.stream().map(Write.Seen::changed).toArray(String[]::new))
                .longs(rows.stream().mapToLong(Write.Seen::times).toArray());
        Set<RunId> inserted = new HashSet<>();
        Map<RunId, String> workflows = new LinkedHashMap<>();
        try (ResultSet row = statement.executeQuery()) {
            while (row.next()) {
                RunId id = RunId.of(row.getBytes(1));
                String workflowId = row.getString(2);
                if (workflowId == null) {
                    inserted.add(id);
                } else {
                    workflows.put(id, workflowId);
                }
            }
        }
        rows.stream()
                .filter(row -> inserted.contains(row.id()))
                .forEach(row -> counted.seen(row, requireNonNull(workflows.get(row.run()))));
        for (var tally : tallies) {
            outcomes[tally.at()] = true;
        }
    }

    /** Reads the run ids in the first column of a statement's result. */
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
