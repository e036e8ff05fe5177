package dev.semel.store.postgres;

import dev.semel.admission.KeyRecord;
import dev.semel.run.RunId;
import dev.semel.workflow.RunState;
import dev.semel.store.MetricUpdates;
import dev.semel.store.NewRun;
import dev.semel.store.StoreWrite;
import dev.semel.store.StoreWrite.AdmitResult;
import dev.semel.store.jdbc.RunStartLimits;
import dev.semel.store.jdbc.JdbcSession;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Inserts the runs of admitted triggers with their state rows, links and carried journals. */
final class NewRunBatchWriter {
    // The state row is inserted only with a new run row: the retry of an admission must not restart a finished run.
    private static final String CREATE = """
        WITH made AS (
            INSERT INTO semel_run (run, ws, chosen_id, workflow_id, version, trigger_source, actor, key, correlation_id,
                                   input, field_hashes, lineage, previous_run, duplicate_of, created_at)
            SELECT run, ws, chosen_id, workflow_id, version, trigger_source, actor, key, correlation_id, input,
                field_hashes,
                   lineage, previous_run, duplicate_of, ?
            FROM unnest(?::bytea[], ?::int[], ?::text[], ?::text[], ?::int[], ?::int[], ?::text[], ?::text[],
                        ?::text[], ?::text[], ?::bytea[], ?::bytea[], ?::bytea[], ?::bytea[])
                AS u(run, ws, chosen_id, workflow_id, version, trigger_source, actor, key, correlation_id, input,
                    field_hashes,
                     lineage, previous_run, duplicate_of)
            ON CONFLICT (run) DO NOTHING
            RETURNING run, workflow_id)
        INSERT INTO semel_unfinished_run (run, workflow_id, owner, claim_count, state, start_blocked)
        SELECT run, workflow_id, ?, ?, ?, ? FROM made
        RETURNING run
        """;

    private static final String LINK = """
        INSERT INTO semel_run_link (run, parent, replay_of, depth)
        SELECT run, parent, replay_of, depth
        FROM unnest(?::bytea[], ?::bytea[], ?::bytea[], ?::int[]) AS u(run, parent, replay_of, depth)
        """;

    private static final String CARRY = """
        INSERT INTO semel_journal (run, seq, at, entries)
        SELECT run, 0, ?, entries FROM unnest(?::bytea[], ?::text[]) AS u(run, entries)
        """;

    private static final String OWNED = """
        SELECT w.run FROM unnest(?::bytea[]) AS u(run)
        CROSS JOIN LATERAL (SELECT run, owner FROM semel_unfinished_run w WHERE w.run = u.run LIMIT 1) w
            WHERE w.owner = ?
        """;

    private static final String RECORDED = """
        SELECT r.run, r.lineage, r.previous_run, p.chosen_id FROM unnest(?::bytea[]) AS u(run)
        CROSS JOIN LATERAL (SELECT run, lineage, previous_run FROM semel_run r WHERE r.run = u.run LIMIT 1) r
        LEFT JOIN LATERAL (SELECT chosen_id FROM semel_run p WHERE p.run = r.previous_run LIMIT 1) p ON true
        """;

    /**
     * A fresh trigger, its position in the batch and the origins of its run.
     *
     * @param keyFirstUsedAt when its expired key was first used; 0 if none expired
     */
    record NewRunRow(int position, StoreWrite.AdmitRun admit, AdmitResult.Fresh origins, long keyFirstUsedAt) {
        RunId run() {
            return admit.run().id();
        }
    }

    /** Which worker executes a new run first: this one, any worker that claims it, or none yet. */
    private enum InitialOwner {
        OWN,
        FREE,
        QUEUED;

        static InitialOwner of(NewRunRow row) {
            // A run with start conditions is claimed when it is due, by a worker with free capacity.
            boolean own = row.admit().hasCapacity() && row.admit().run().startConditions() == null;
            return row.admit().run().state() == RunState.QUEUED ? QUEUED : own ? OWN : FREE;
        }
    }

    private final JdbcSession session;
    private final AdmissionBatchWriter.BatchContext moment;
    private final MetricUpdates counted;

    NewRunBatchWriter(JdbcSession session, AdmissionBatchWriter.BatchContext moment, MetricUpdates counted) {
        this.counted = counted;
        this.session = session;
        this.moment = moment;
    }

    void apply(List<NewRunRow> rows, Object[] outcomes) throws SQLException {
        RunStartLimits gating = new RunStartLimits(session);
        TreeMap<RunId, NewRun> gated = new TreeMap<>();
        Set<RunId> waiting = new HashSet<>();
        for (InitialOwner lot : InitialOwner.values()) {
            List<NewRunRow> some = rows.stream()
                    .filter(row -> InitialOwner.of(row) == lot)
                    .sorted(Comparator.comparing(NewRunRow::run))
                    .toList();
            if (!some.isEmpty()) {
                Set<RunId> made = create(some, lot, outcomes);
                for (NewRunRow row : some) {
                    NewRun run = row.admit().run();
                    if (made.contains(row.run())) {
                        counted.countFreshTrigger(run, row.keyFirstUsedAt(), moment.now());
                    }
                    if (run.startConditions() != null && made.contains(row.run())) {
                        gated.put(row.run(), run);
                    } else if (gating.isStillBlocked(run)) {
                        waiting.add(row.run());
                    }
                }
            }
        }
        for (NewRun run : gated.values()) {
            if (!gating.applyTo(run, moment.now())) {
                waiting.add(run.id());
            }
        }
        for (NewRunRow row : rows) {
            if (waiting.contains(row.run()) && outcomes[row.position()] instanceof AdmitResult.Fresh fresh) {
                outcomes[row.position()] = fresh.asQueued();
            }
        }
    }

    /** Inserts the link rows of new runs that another run started. */
    private void link(List<NewRunRow> rows, Set<RunId> made) throws SQLException {
        List<NewRun> linked = rows.stream()
                .map(row -> row.admit().run())
                .filter(run -> made.contains(run.id()))
                .filter(run -> run.links().isLinked())
                .toList();
        if (!linked.isEmpty()) {
            PreparedStatement statement = session.prepare(LINK);
            new ArrayParameterBinder(session, statement)
                    .bytes(linked.stream().map(run -> run.id().bytes()).toArray(byte[][]::new))
                    .bytes(linked.stream()
                            .map(run -> bytes(run.links().parent()))
                            .toArray(byte[][]::new))
                    .bytes(linked.stream()
                            .map(run -> bytes(run.links().replayOf()))
                            .toArray(byte[][]::new))
                    .ints(linked.stream().mapToInt(run -> run.links().depth()).toArray());
            statement.executeUpdate();
        }
    }

    /** Inserts the journal entries that new runs carry over from another run. */
    private void carry(List<NewRunRow> rows, Set<RunId> made) throws SQLException {
        List<NewRun> carrying = rows.stream()
                .map(row -> row.admit().run())
                .filter(run -> made.contains(run.id()) && !run.links().carriedJournal().isEmpty())
                .toList();
        if (!carrying.isEmpty()) {
            PreparedStatement statement = session.prepare(CARRY);
            new ArrayParameterBinder(session, statement)
                    .value(moment.now())
                    .bytes(carrying.stream().map(run -> run.id().bytes()).toArray(byte[][]::new))
                    .texts(carrying.stream().map(run -> run.links().carriedJournal()).toArray(String[]::new));
            statement.executeUpdate();
        }
    }

    private static byte @Nullable [] bytes(@Nullable RunId run) {
        return run == null ? null : run.bytes();
    }

    private Set<RunId> create(List<NewRunRow> rows, InitialOwner lot, Object[] outcomes) throws SQLException {
        Long owner = lot == InitialOwner.OWN ? moment.lease() : null;
        boolean queued = lot == InitialOwner.QUEUED;
        PreparedStatement statement = session.prepare(CREATE);
        ArrayParameterBinder arrays = new ArrayParameterBinder(session, statement).value(moment.now());
        bind(arrays, rows);
        arrays.nullableValue(owner).value(owner == null ? 0 : 1);
        arrays.value(queued ? RunState.QUEUED.code() : RunState.STARTED.code()).value(queued ? 1 : 0);
        Set<RunId> made = RunProgressWriter.readRunIds(statement);
        link(rows, made);
        carry(rows, made);
        Set<RunId> owned = owner == null ? Set.of() : made.size() == rows.size() ? made : owned(rows, owner);
        Map<RunId, AdmitResult.Fresh> recorded = made.size() == rows.size()
                ? Map.of()
                : recorded(rows.stream().filter(row -> !made.contains(row.run())));
        for (NewRunRow row : rows) {
            AdmitResult.Fresh from = recorded.getOrDefault(row.run(), row.origins());
            outcomes[row.position()] = new AdmitResult.Fresh(
                    moment.now(),
                    owned.contains(row.run()),
                    from.lineage(),
                    from.previous(),
                    row.origins().duplicateOf());
        }
        return made;
    }

    /** Reads the origins of recorded runs: on a retry after a lost response the keys no longer show them. */
    private Map<RunId, AdmitResult.Fresh> recorded(Stream<NewRunRow> rows) throws SQLException {
        PreparedStatement statement = session.prepare(RECORDED);
        new ArrayParameterBinder(session, statement).bytes(rows.map(row -> row.run().bytes()).toArray(byte[][]::new));
        Map<RunId, AdmitResult.Fresh> found = new HashMap<>();
        try (ResultSet row = statement.executeQuery()) {
            while (row.next()) {
                byte[] previous = row.getBytes(3);
                StoreWrite.PreviousHolder earlier =
                        previous == null ? null : new StoreWrite.PreviousHolder(RunId.of(previous), row.getString(4), false);
                RunId lineage = RunId.of(row.getBytes(2));
                found.put(RunId.of(row.getBytes(1)), new AdmitResult.Fresh(moment.now(), false, lineage, earlier, null));
            }
        }
        return found;
    }

    private static void bind(ArrayParameterBinder arrays, List<NewRunRow> rows) throws SQLException {
        List<NewRun> runs = rows.stream().map(row -> row.admit().run()).toList();
        List<AdmitResult.Fresh> from = rows.stream().map(NewRunRow::origins).toList();
        arrays.bytes(runs.stream().map(run -> run.id().bytes()).toArray(byte[][]::new))
                .ints(runs.stream().mapToInt(NewRun::workspace).toArray())
                .texts(runs.stream().map(NewRun::chosenId).toArray(String[]::new))
                .texts(runs.stream().map(NewRun::workflowId).toArray(String[]::new))
                .ints(runs.stream().mapToInt(NewRun::version).toArray())
                .ints(runs.stream().mapToInt(run -> run.origin().triggerSource().code()).toArray())
                .texts(runs.stream().map(run -> run.origin().actor()).toArray(String[]::new))
                .texts(runs.stream().map(run -> run.origin().key()).toArray(String[]::new))
                .texts(runs.stream().map(run -> run.origin().correlationId()).toArray(String[]::new))
                .texts(runs.stream().map(NewRun::input).toArray(String[]::new))
                .bytes(runs.stream().map(NewRun::fields).toArray(byte[][]::new))
                .bytes(from.stream().map(fresh -> fresh.lineage().bytes()).toArray(byte[][]::new))
                .bytes(from.stream().map(fresh -> bytes(fresh.previous())).toArray(byte[][]::new))
                .bytes(from.stream().map(fresh -> bytes(fresh.duplicateOf())).toArray(byte[][]::new));
    }

    private static byte @Nullable [] bytes(StoreWrite.@Nullable PreviousHolder earlier) {
        return earlier == null ? null : earlier.run().bytes();
    }

    private static byte @Nullable [] bytes(@Nullable KeyRecord known) {
        return known == null ? null : known.run().bytes();
    }

    private Set<RunId> owned(List<NewRunRow> rows, long owner) throws SQLException {
        PreparedStatement statement = session.prepare(OWNED);
        new ArrayParameterBinder(session, statement)
                .bytes(rows.stream().map(row -> row.run().bytes()).toArray(byte[][]::new))
                .value(owner);
        return RunProgressWriter.readRunIds(statement);
    }
}
