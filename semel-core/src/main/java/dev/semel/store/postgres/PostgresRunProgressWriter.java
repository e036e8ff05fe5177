package dev.semel.store.postgres;

import static java.util.Objects.requireNonNull;

import dev.semel.effect.EffectLedger;
import dev.semel.run.RunId;
import dev.semel.run.RunState;
import dev.semel.store.MetricUpdateCollector;
import dev.semel.store.StoreWrite;
import dev.semel.store.jdbc.JdbcMetricWriter;
import dev.semel.store.jdbc.run.JdbcConcurrencyAndRateLimiter;
import dev.semel.store.jdbc.session.JdbcSession;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/** The rows of the runs are locked before; the ledger decides before other parts of a write are applied. */
final class PostgresRunProgressWriter {
    // The table is a queue, mostly empty and full of dead rows. A join with unnest() would scan it, because the planner
    // estimates that it is empty; a list of keys always uses the index.
    private static final String SET_STATE = """
        UPDATE semel_unfinished_run SET state = ?, crash_count = CASE WHEN ? = 1 THEN 0 ELSE crash_count END
            WHERE run = ANY (?)
        """;

    // After the lock, so that its snapshot contains all signals of earlier senders; a later sender waits for our lock
    // and then finds the run suspended. A negative due_at: the run was woken while its owner suspended it. Its doubt
    // may
    // be decided by then, and a caller who reads the run must not get "in doubt" after the decision.
    private static final String SUSPEND = """
        UPDATE semel_unfinished_run w SET owner = NULL,
            state = CASE WHEN w.due_at < 0 AND u.state = 5 THEN 3 ELSE u.state END,
            waiting_for = CASE WHEN w.due_at < 0 AND u.state = 5 THEN NULL ELSE u.waiting_for END,
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
            RETURNING run, queue_state, has_crashed, started_at
        """;

    private static final String INSERT_RESULT = """
        INSERT INTO semel_finished_run (run, state, ended_at, output, error_code, error_message, error_step, entries,
            started_at, ws, workflow_id)
        SELECT run, state, ?, output, error_code, error_message, error_step, entries, started_at,
            CASE WHEN state > 10 THEN (SELECT r.ws FROM semel_run r WHERE r.run = u.run) END,
            CASE WHEN state > 10 THEN (SELECT r.workflow_id FROM semel_run r WHERE r.run = u.run) END
        FROM unnest(?::bytea[], ?::int[], ?::text[], ?::text[], ?::text[], ?::text[], ?::text[], ?::bigint[])
            AS u(run, state, output, error_code, error_message, error_step, entries, started_at)
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
                request_count, rejected_key)
            SELECT u.* FROM unnest(?::bytea[], ?::bytea[], ?::int[], ?::int[], ?::bigint[], ?::int[], ?::text[],
                                   ?::text[], ?::bigint[], ?::text[])
                AS u(run, id, ws, conflict, at, status_code, actor, changed_fields, request_count, rejected_key)
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
    private final PostgresTriggerAdmissionWriter.BatchContext context;
    private final PostgresBatchRowLocker locks;
    private final MetricUpdateCollector counted;
    private final Set<RunId> crashed = new HashSet<>();
    private final Map<RunId, Long> started = new HashMap<>();
    private boolean freedQueueEntries;

    PostgresRunProgressWriter(
            JdbcSession session,
            PostgresTriggerAdmissionWriter.BatchContext context,
            PostgresBatchRowLocker locks,
            MetricUpdateCollector counted) {
        this.counted = counted;
        this.session = session;
        this.context = context;
        this.locks = locks;
    }

    /** Whether a run left a queue, so that another run may start. */
    boolean freedQueueEntries() {
        return freedQueueEntries;
    }

    void writeOwned(List<RunProgressBatchItem> turns, Collection<EffectLedger.EffectId> others, Object[] outcomes)
            throws SQLException {
        List<RunProgressBatchItem> mine = mine(turns);
        new PostgresEffectLedgerWriter(session, context.now(), counted).apply(mine, others);
        mine.removeIf(turn -> turn.deferred);
        List<StoreWrite.AppendJournal> appends = new ArrayList<>();
        List<StoreWrite.EndRun> ends = new ArrayList<>();
        for (RunProgressBatchItem turn : mine) {
            switch (turn.write) {
                case StoreWrite.AppendJournal append -> appends.add(append);
                case StoreWrite.EndRun end -> ends.add(end);
                case StoreWrite.ExecuteCommand<StoreWrite.OwnerWriteResult> _ ->
                    throw new IllegalStateException("An owner write is an append or an end");
            }
        }
        append(appends, ends);
        Set<RunId> ended = end(ends);
        addRecordedEnds(turns, ended);
        for (RunProgressBatchItem turn : turns) {
            boolean recorded = turn.ends() ? ended.contains(turn.run()) : mine.contains(turn);
            outcomes[turn.position] = turn.deferred
                    ? StoreWrite.Deferred.DEFERRED
                    : recorded ? recorded(turn) : StoreWrite.OwnerWriteResult.FENCED;
        }
    }

    /** Returns the writes whose execution still owns its run at that point of the batch. */
    private List<RunProgressBatchItem> mine(List<RunProgressBatchItem> turns) {
        Long lease = context.lease();
        List<RunProgressBatchItem> mine = new ArrayList<>();
        Set<RunId> over = new HashSet<>();
        if (lease == null) {
            return mine;
        }
        for (RunProgressBatchItem turn : turns) {
            PostgresBatchRowLocker.LockedRun work = locks.lockedRun(turn.run());
            boolean owned = !locks.locksRuns() || work != null && work.isOwnedBy(lease, turn.execution);
            if (owned && !over.contains(turn.run())) {
                mine.add(turn);
                if (turn.givesUpRun()) {
                    over.add(turn.run());
                }
            }
        }
        return mine;
    }

    private StoreWrite.OwnerWriteResult recorded(RunProgressBatchItem turn) {
        PostgresBatchRowLocker.LockedRun work = locks.lockedRun(turn.run());
        return new StoreWrite.OwnerWriteResult(
                true, !turn.ends() && work != null && work.cancelRequested(), List.copyOf(turn.verdicts));
    }

    private void append(List<StoreWrite.AppendJournal> appends, List<StoreWrite.EndRun> ends) throws SQLException {
        List<StoreWrite.AppendJournal> entries =
                appends.stream().filter(append -> !append.entries().isEmpty()).toList();
        if (!entries.isEmpty()) {
            new ArrayStatement<>(session, APPEND, entries)
                    .value(context.now())
                    .ids(StoreWrite.AppendJournal::run)
                    .ints(StoreWrite.AppendJournal::seq)
                    .texts(StoreWrite.AppendJournal::entries)
                    .update();
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
        PostgresBatchRowLocker.LockedRun work = locks.lockedRun(run);
        return work != null && work.state() == move.state().code() && (work.crashCount() == 0 || !move.progress());
    }

    private void move(TreeMap<RunId, StateChange> moves) throws SQLException {
        Map<StateChange, List<RunId>> alike = new LinkedHashMap<>();
        moves.forEach((run, move) ->
                alike.computeIfAbsent(move, _ -> new ArrayList<>()).add(run));
        for (Map.Entry<StateChange, List<RunId>> move : alike.entrySet()) {
            new ArrayStatement<>(session, SET_STATE, move.getValue())
                    .value(move.getKey().state().code())
                    .value(move.getKey().progress() ? 1 : 0)
                    .ids(run -> run)
                    .update();
        }
    }

    private void rest(Collection<StoreWrite.AppendJournal> appends) throws SQLException {
        if (appends.isEmpty()) {
            return;
        }
        new ArrayStatement<>(session, SUSPEND, appends)
                .ids(StoreWrite.AppendJournal::run)
                .ints(append -> append.state().code())
                .texts(append -> rest(append).waitingFor())
                .longs(append -> rest(append).due())
                .ints(append -> rest(append).signals())
                .ints(append -> rest(append).suspect() ? 1 : 0)
                .ints(append -> rest(append).cancelSeen() ? 1 : 0)
                .ids(StoreWrite.AppendJournal::run)
                .update();
    }

    private static StoreWrite.Suspension rest(StoreWrite.AppendJournal append) {
        return requireNonNull(append.suspension());
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
            new ArrayStatement<>(session, INSERT_RESULT, ours)
                    .value(context.now())
                    .ids(StoreWrite.EndRun::run)
                    .ints(end -> end.state().code())
                    .texts(end -> end.result().output())
                    .texts(end -> end.result().errorCode())
                    .texts(end -> end.result().errorMessage())
                    .texts(end -> end.result().errorStep())
                    .texts(StoreWrite.EndRun::entries)
                    .longs(end -> started.getOrDefault(end.run(), 0L))
                    .update();
        }
        for (StoreWrite.EndRun end : ours) {
            if (end.state() == RunState.COMPLETED && (end.hadFailedAttempt() || crashed.contains(end.run()))) {
                JdbcMetricWriter.countRecovery(session, end.run(), context.now(), counted);
            }
        }
        return ended;
    }

    private void leave(int claim, List<RunId> runs, Set<RunId> ended) throws SQLException {
        List<RunId> gated = new ArrayList<>();
        new ArrayStatement<>(session, DELETE_STATE, runs)
                .nullableValue(context.lease())
                .value(claim)
                .ids(run -> run)
                .forEach(row -> {
                    RunId run = RunId.of(row.getBytes(1));
                    ended.add(run);
                    started.put(run, row.getLong(4));
                    if (row.getInt(2) != 0) {
                        gated.add(run);
                    }
                    if (row.getInt(3) == 1) {
                        crashed.add(run);
                    }
                });
        if (!gated.isEmpty()) {
            freedQueueEntries = true;
            new JdbcConcurrencyAndRateLimiter(session)
                    .leaveQueues(gated.stream().sorted().toList());
        }
    }

    /** Adds runs of a retry after a lost response: the lease is still held, so a recorded result is ours. */
    private void addRecordedEnds(List<RunProgressBatchItem> turns, Set<RunId> ended) throws SQLException {
        List<RunId> missing = turns.stream()
                .filter(turn -> turn.ends() && !turn.deferred && !ended.contains(turn.run()))
                .map(RunProgressBatchItem::run)
                .toList();
        if (!missing.isEmpty() && context.lease() != null) {
            ended.addAll(ArrayStatement.ofRuns(session, HAS_RESULT, missing).runIds());
        }
    }

    void recordDuplicates(
            List<PostgresBatchWriter.IndexedWrite<StoreWrite.RecordDuplicates>> tallies, Object[] outcomes)
            throws SQLException {
        List<StoreWrite.DuplicateRequest> rows = tallies.stream()
                .flatMap(tally -> tally.write().rows().stream())
                .sorted(Comparator.comparing(StoreWrite.DuplicateRequest::run)
                        .thenComparing(StoreWrite.DuplicateRequest::id))
                .toList();
        List<RunId> matched =
                rows.stream().map(StoreWrite.DuplicateRequest::run).distinct().toList();
        Set<RunId> inserted = new HashSet<>();
        Map<RunId, String> workflows = new LinkedHashMap<>();
        new ArrayStatement<>(session, RECORD_DUPLICATES, rows)
                .array(matched)
                .ids(StoreWrite.DuplicateRequest::run)
                .ids(StoreWrite.DuplicateRequest::id)
                .ints(StoreWrite.DuplicateRequest::workspace)
                .ints(row -> row.conflict() ? 1 : 0)
                .longs(StoreWrite.DuplicateRequest::at)
                .ints(StoreWrite.DuplicateRequest::statusCode)
                .texts(StoreWrite.DuplicateRequest::actor)
                .texts(StoreWrite.DuplicateRequest::changed)
                .longs(StoreWrite.DuplicateRequest::times)
                .texts(StoreWrite.DuplicateRequest::rejectedKey)
                .forEach(row -> {
                    RunId id = RunId.of(row.getBytes(1));
                    String workflowId = row.getString(2);
                    if (workflowId == null) {
                        inserted.add(id);
                    } else {
                        workflows.put(id, workflowId);
                    }
                });
        rows.stream()
                .filter(row -> inserted.contains(row.id()))
                .forEach(row -> counted.countDuplicateRequest(row, requireNonNull(workflows.get(row.run()))));
        for (var tally : tallies) {
            outcomes[tally.position()] = true;
        }
    }
}
