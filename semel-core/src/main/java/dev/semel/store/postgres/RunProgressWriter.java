package dev.semel.store.postgres;

import static java.util.Objects.requireNonNull;

import dev.semel.effect.EffectLedger;
import dev.semel.run.RunId;
import dev.semel.workflow.RunState;
import dev.semel.store.MetricUpdates;
import dev.semel.store.StoreWrite;
import dev.semel.store.jdbc.MetricWriter;
import dev.semel.store.jdbc.RunStartLimits;
import dev.semel.store.jdbc.JdbcSession;
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
final class RunProgressWriter {
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

    private final JdbcSession session;
    private final AdmissionBatchWriter.BatchContext moment;
    private final BatchLocks locks;
    private final MetricUpdates counted;
    private final Set<RunId> crashed = new HashSet<>();
    private boolean freedQueueEntries;

    RunProgressWriter(JdbcSession session, AdmissionBatchWriter.BatchContext moment, BatchLocks locks, MetricUpdates counted) {
        this.counted = counted;
        this.session = session;
        this.moment = moment;
        this.locks = locks;
    }

    /** Whether a run left a queue, so that another run may start. */
    boolean freedQueueEntries() {
        return freedQueueEntries;
    }

    void writeOwned(List<OwnerWrite> turns, Collection<EffectLedger.EffectId> others, Object[] outcomes) throws SQLException {
        List<OwnerWrite> mine = mine(turns);
        new LedgerBatchWriter(session, moment.now(), counted).apply(mine, others);
        mine.removeIf(turn -> turn.deferred);
        List<StoreWrite.AppendJournal> appends = new ArrayList<>();
        List<StoreWrite.EndRun> ends = new ArrayList<>();
        for (OwnerWrite turn : mine) {
            switch (turn.write) {
                case StoreWrite.AppendJournal append -> appends.add(append);
                case StoreWrite.EndRun end -> ends.add(end);
                case StoreWrite.ExecuteCommand<StoreWrite.OwnerWriteResult> _ -> throw new IllegalStateException("An owner write is an append or an end");
            }
        }
        append(appends, ends);
        Set<RunId> ended = end(ends);
        addRecordedEnds(turns, ended);
        for (OwnerWrite turn : turns) {
            boolean recorded = turn.ends() ? ended.contains(turn.run()) : mine.contains(turn);
            outcomes[turn.position] =
                    turn.deferred ? StoreWrite.Deferred.DEFERRED : recorded ? recorded(turn) : StoreWrite.OwnerWriteResult.FENCED;
        }
    }

    /** Returns the writes whose execution still owns its run at that point of the batch. */
    private List<OwnerWrite> mine(List<OwnerWrite> turns) {
        Long lease = moment.lease();
        List<OwnerWrite> mine = new ArrayList<>();
        Set<RunId> over = new HashSet<>();
        if (lease == null) {
            return mine;
        }
        for (OwnerWrite turn : turns) {
            BatchLocks.LockedRun work = locks.lockedRun(turn.run());
            boolean owned = !locks.locksRuns() || work != null && work.isDrivenBy(lease, turn.execution);
            if (owned && !over.contains(turn.run())) {
                mine.add(turn);
                if (turn.givesUpRun()) {
                    over.add(turn.run());
                }
            }
        }
        return mine;
    }

    private StoreWrite.OwnerWriteResult recorded(OwnerWrite turn) {
        BatchLocks.LockedRun work = locks.lockedRun(turn.run());
        return new StoreWrite.OwnerWriteResult(true, !turn.ends() && work != null && work.cancelRequested(), List.copyOf(turn.verdicts));
    }

    private void append(List<StoreWrite.AppendJournal> appends, List<StoreWrite.EndRun> ends) throws SQLException {
        List<StoreWrite.AppendJournal> entries =
                appends.stream().filter(append -> !append.entries().isEmpty()).toList();
        if (!entries.isEmpty()) {
            PreparedStatement statement = session.prepare(APPEND);
            new ArrayParameterBinder(session, statement)
                    .value(moment.now())
                    .bytes(entries.stream().map(append -> append.run().bytes()).toArray(byte[][]::new))
                    .ints(entries.stream().mapToInt(StoreWrite.AppendJournal::seq).toArray())
                    .texts(entries.stream().map(StoreWrite.AppendJournal::entries).toArray(String[]::new));
            statement.executeUpdate();
        }
        TreeMap<RunId, StateChange> moves = new TreeMap<>();
        TreeMap<RunId, StoreWrite.AppendJournal> rests = new TreeMap<>();
        for (StoreWrite.AppendJournal append : appends) {
            moves.merge(append.run(), StateChange.of(append), StateChange::then);
            if (append.suspension() != null) {
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
    private record StateChange(RunState state, boolean progress) {
        static StateChange of(StoreWrite.AppendJournal append) {
            return new StateChange(append.state(), append.isProgress());
        }

        StateChange then(StateChange later) {
            return new StateChange(later.state(), progress || later.progress());
        }
    }

    /** Whether the row has the new state already, as after most appends: then it is only locked, not written. */
    private boolean isCurrent(RunId run, StateChange move) {
        BatchLocks.LockedRun work = locks.lockedRun(run);
        return work != null && work.state() == move.state().code() && (work.crashCount() == 0 || !move.progress());
    }

    private void move(TreeMap<RunId, StateChange> moves) throws SQLException {
        Map<StateChange, List<RunId>> alike = new LinkedHashMap<>();
        moves.forEach((run, move) ->
                alike.computeIfAbsent(move, _ -> new ArrayList<>()).add(run));
        for (Map.Entry<StateChange, List<RunId>> move : alike.entrySet()) {
            PreparedStatement statement = session.prepare(SET_STATE);
            new ArrayParameterBinder(session, statement)
                    .value(move.getKey().state().code())
                    .value(move.getKey().progress() ? 1 : 0)
                    .bytes(bytes(move.getValue()));
            statement.executeUpdate();
        }
    }

    private static byte[][] bytes(Collection<RunId> runs) {
        return runs.stream().map(RunId::bytes).toArray(byte[][]::new);
    }

    private void rest(Collection<StoreWrite.AppendJournal> appends) throws SQLException {
        if (appends.isEmpty()) {
            return;
        }
        List<StoreWrite.Suspension> rests =
                appends.stream().map(append -> requireNonNull(append.suspension())).toList();
        PreparedStatement statement = session.prepare(SUSPEND);
        new ArrayParameterBinder(session, statement)
                .bytes(appends.stream().map(append -> append.run().bytes()).toArray(byte[][]::new))
                .ints(appends.stream().mapToInt(append -> append.state().code()).toArray())
                .texts(rests.stream().map(StoreWrite.Suspension::waitingFor).toArray(String[]::new))
                .longs(rests.stream().mapToLong(StoreWrite.Suspension::due).toArray())
                .ints(rests.stream().mapToInt(StoreWrite.Suspension::signals).toArray())
                .ints(rests.stream().mapToInt(rest -> rest.suspect() ? 1 : 0).toArray())
                .ints(rests.stream().mapToInt(rest -> rest.cancelSeen() ? 1 : 0).toArray())
                .bytes(appends.stream().map(append -> append.run().bytes()).toArray(byte[][]::new));
        statement.executeUpdate();
    }

    /** Deletes the state rows of ended runs that we still own and inserts their results. Returns the ended runs. */
    private Set<RunId> end(List<StoreWrite.EndRun> ends) throws SQLException {
        Map<Integer, List<RunId>> byClaim = new TreeMap<>();
        ends.forEach(end -> byClaim.computeIfAbsent(end.by().claim(), _ -> new ArrayList<>())
                .add(end.run()));
        Set<RunId> ended = new HashSet<>();
        for (Map.Entry<Integer, List<RunId>> each : byClaim.entrySet()) {
            leave(each.getKey(), each.getValue(), ended);
        }
        List<StoreWrite.EndRun> ours = ends.stream()
                .filter(end -> ended.contains(end.run()))
                .sorted(Comparator.comparing(StoreWrite.EndRun::run))
                .toList();
        if (!ours.isEmpty()) {
            PreparedStatement statement = session.prepare(INSERT_RESULT);
            new ArrayParameterBinder(session, statement)
                    .value(moment.now())
                    .bytes(ours.stream().map(end -> end.run().bytes()).toArray(byte[][]::new))
                    .ints(ours.stream().mapToInt(end -> end.state().code()).toArray())
                    .texts(ours.stream().map(end -> end.result().output()).toArray(String[]::new))
                    .texts(ours.stream().map(end -> end.result().errorCode()).toArray(String[]::new))
                    .texts(ours.stream().map(end -> end.result().errorMessage()).toArray(String[]::new))
                    .texts(ours.stream().map(end -> end.result().errorStep()).toArray(String[]::new))
                    .texts(ours.stream().map(StoreWrite.EndRun::entries).toArray(String[]::new));
            statement.executeUpdate();
        }
        for (StoreWrite.EndRun end : ours) {
            if (end.state() == RunState.COMPLETED && (end.hadFailedAttempt() || crashed.contains(end.run()))) {
                MetricWriter.countRecovery(session, end.run(), moment.now(), counted);
            }
        }
        return ended;
    }

    private void leave(int claim, List<RunId> runs, Set<RunId> ended) throws SQLException {
        PreparedStatement statement = session.prepare(DELETE_STATE);
        new ArrayParameterBinder(session, statement).nullableValue(moment.lease()).value(claim).bytes(bytes(runs));
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
            freedQueueEntries = true;
            new RunStartLimits(session).leaveQueues(gated.stream().sorted().toList());
        }
    }

    /** Adds runs of a retry after a lost response: the lease is still held, so a recorded result is ours. */
    private void addRecordedEnds(List<OwnerWrite> turns, Set<RunId> ended) throws SQLException {
        byte[][] missing = turns.stream()
                .filter(turn -> turn.ends() && !turn.deferred && !ended.contains(turn.run()))
                .map(turn -> turn.run().bytes())
                .toArray(byte[][]::new);
        if (missing.length > 0 && moment.lease() != null) {
            PreparedStatement statement = session.prepare(HAS_RESULT);
            new ArrayParameterBinder(session, statement).bytes(missing);
            ended.addAll(readRunIds(statement));
        }
    }

    void recordDuplicates(List<PostgresWriteLane.IndexedWrite<StoreWrite.RecordDuplicates>> tallies, Object[] outcomes) throws SQLException {
        List<StoreWrite.DuplicateRequest> rows = tallies.stream()
                .flatMap(tally -> tally.write().rows().stream())
                .sorted(Comparator.comparing(StoreWrite.DuplicateRequest::run).thenComparing(StoreWrite.DuplicateRequest::id))
                .toList();
        PreparedStatement statement = session.prepare(RECORD_DUPLICATES);
        new ArrayParameterBinder(session, statement)
                .bytes(rows.stream()
                        .map(StoreWrite.DuplicateRequest::run)
                        .distinct()
                        .map(RunId::bytes)
                        .toArray(byte[][]::new))
                .bytes(rows.stream().map(row -> row.run().bytes()).toArray(byte[][]::new))
                .bytes(rows.stream().map(row -> row.id().bytes()).toArray(byte[][]::new))
                .ints(rows.stream().mapToInt(StoreWrite.DuplicateRequest::workspace).toArray())
                .ints(rows.stream().mapToInt(row -> row.conflict() ? 1 : 0).toArray())
                .longs(rows.stream().mapToLong(StoreWrite.DuplicateRequest::at).toArray())
                .ints(rows.stream().mapToInt(StoreWrite.DuplicateRequest::statusCode).toArray())
                .texts(rows.stream().map(StoreWrite.DuplicateRequest::actor).toArray(String[]::new))
                .texts(rows.stream().map(StoreWrite.DuplicateRequest::changed).toArray(String[]::new))
                .longs(rows.stream().mapToLong(StoreWrite.DuplicateRequest::times).toArray());
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
                .forEach(row -> counted.countDuplicateRequest(row, requireNonNull(workflows.get(row.run()))));
        for (var tally : tallies) {
            outcomes[tally.position()] = true;
        }
    }

    /** Reads the run ids in the first column of a statement's result. */
    static Set<RunId> readRunIds(PreparedStatement statement) throws SQLException {
        Set<RunId> runs = new HashSet<>();
        try (ResultSet row = statement.executeQuery()) {
            while (row.next()) {
                runs.add(RunId.of(row.getBytes(1)));
            }
        }
        return runs;
    }
}
