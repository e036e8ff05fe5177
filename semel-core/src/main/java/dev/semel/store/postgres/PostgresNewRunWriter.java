package dev.semel.store.postgres;

import dev.semel.admission.RunDeduplicationKeyRecord;
import dev.semel.run.RunId;
import dev.semel.run.RunState;
import dev.semel.store.MetricUpdateCollector;
import dev.semel.store.NewRun;
import dev.semel.store.StoreWrite;
import dev.semel.store.StoreWrite.AdmitResult;
import dev.semel.store.jdbc.run.JdbcConcurrencyAndRateLimiter;
import dev.semel.store.jdbc.session.JdbcSession;
import java.sql.SQLException;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** Inserts the runs of admitted triggers with their state rows, links and carried journals. */
final class PostgresNewRunWriter {
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

    /** @param keyFirstUsedAt when its expired key was first used; 0 if none expired */
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
    private final PostgresTriggerAdmissionWriter.BatchContext context;
    private final MetricUpdateCollector counted;

    PostgresNewRunWriter(
            JdbcSession session, PostgresTriggerAdmissionWriter.BatchContext context, MetricUpdateCollector counted) {
        this.counted = counted;
        this.session = session;
        this.context = context;
    }

    void apply(List<NewRunRow> rows, Object[] outcomes) throws SQLException {
        JdbcConcurrencyAndRateLimiter limiter = new JdbcConcurrencyAndRateLimiter(session);
        TreeMap<RunId, NewRun> gated = new TreeMap<>();
        Set<RunId> waiting = new HashSet<>();
        for (InitialOwner initialOwner : InitialOwner.values()) {
            List<NewRunRow> some = rows.stream()
                    .filter(row -> InitialOwner.of(row) == initialOwner)
                    .sorted(Comparator.comparing(NewRunRow::run))
                    .toList();
            if (!some.isEmpty()) {
                Set<RunId> made = create(some, initialOwner, outcomes);
                for (NewRunRow row : some) {
                    NewRun run = row.admit().run();
                    if (made.contains(row.run())) {
                        counted.countFreshTrigger(run, row.keyFirstUsedAt(), context.now());
                    }
                    if (run.startConditions() != null && made.contains(row.run())) {
                        gated.put(row.run(), run);
                    } else if (limiter.isStillBlocked(run)) {
                        waiting.add(row.run());
                    }
                }
            }
        }
        for (NewRun run : gated.values()) {
            if (!limiter.applyTo(run, context.now())) {
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
            new ArrayStatement<>(session, LINK, linked)
                    .ids(NewRun::id)
                    .ids(run -> run.links().parent())
                    .ids(run -> run.links().replayOf())
                    .ints(run -> run.links().depth())
                    .update();
        }
    }

    /** Inserts the journal entries that new runs carry over from another run. */
    private void carry(List<NewRunRow> rows, Set<RunId> made) throws SQLException {
        List<NewRun> carrying = rows.stream()
                .map(row -> row.admit().run())
                .filter(run ->
                        made.contains(run.id()) && !run.links().carriedJournal().isEmpty())
                .toList();
        if (!carrying.isEmpty()) {
            new ArrayStatement<>(session, CARRY, carrying)
                    .value(context.now())
                    .ids(NewRun::id)
                    .texts(run -> run.links().carriedJournal())
                    .update();
        }
    }

    private Set<RunId> create(List<NewRunRow> rows, InitialOwner initialOwner, Object[] outcomes) throws SQLException {
        Long owner = initialOwner == InitialOwner.OWN ? context.lease() : null;
        boolean queued = initialOwner == InitialOwner.QUEUED;
        Set<RunId> made = bind(new ArrayStatement<>(session, CREATE, rows).value(context.now()))
                .nullableValue(owner)
                .value(owner == null ? 0 : 1)
                .value(queued ? RunState.QUEUED.code() : RunState.STARTED.code())
                .value(queued ? 1 : 0)
                .runIds();
        link(rows, made);
        carry(rows, made);
        Set<RunId> owned = owner == null ? Set.of() : made.size() == rows.size() ? made : owned(rows, owner);
        Map<RunId, AdmitResult.Fresh> recorded = made.size() == rows.size()
                ? Map.of()
                : recorded(rows.stream()
                        .map(NewRunRow::run)
                        .filter(run -> !made.contains(run))
                        .toList());
        for (NewRunRow row : rows) {
            AdmitResult.Fresh from = recorded.getOrDefault(row.run(), row.origins());
            outcomes[row.position()] = new AdmitResult.Fresh(
                    context.now(),
                    owned.contains(row.run()),
                    from.lineage(),
                    from.previous(),
                    row.origins().duplicateOf(),
                    false);
        }
        return made;
    }

    /** Reads the origins of recorded runs: on a retry after a lost response the keys no longer show them. */
    private Map<RunId, AdmitResult.Fresh> recorded(List<RunId> runs) throws SQLException {
        Map<RunId, AdmitResult.Fresh> found = new HashMap<>();
        ArrayStatement.ofRuns(session, RECORDED, runs).forEach(row -> {
            byte[] previous = row.getBytes(3);
            StoreWrite.PreviousHolder earlier = previous == null
                    ? null
                    : new StoreWrite.PreviousHolder(RunId.of(previous), row.getString(4), false);
            RunId lineage = RunId.of(row.getBytes(2));
            found.put(
                    RunId.of(row.getBytes(1)),
                    new AdmitResult.Fresh(context.now(), false, lineage, earlier, null, false));
        });
        return found;
    }

    private static ArrayStatement<NewRunRow> bind(ArrayStatement<NewRunRow> statement) throws SQLException {
        return statement
                .ids(NewRunRow::run)
                .ints(row -> row.admit().run().workspace())
                .texts(row -> row.admit().run().chosenId())
                .texts(row -> row.admit().run().workflowId())
                .ints(row -> row.admit().run().version())
                .ints(row -> row.admit().run().origin().triggerSource().code())
                .texts(row -> row.admit().run().origin().actor())
                .texts(row -> row.admit().run().origin().key())
                .texts(row -> row.admit().run().origin().correlationId())
                .texts(row -> row.admit().run().input())
                .bytes(row -> row.admit().run().fields())
                .ids(row -> row.origins().lineage())
                .ids(row -> idOf(row.origins().previous()))
                .ids(row -> idOf(row.origins().duplicateOf()));
    }

    private static @Nullable RunId idOf(StoreWrite.@Nullable PreviousHolder earlier) {
        return earlier == null ? null : earlier.run();
    }

    private static @Nullable RunId idOf(@Nullable RunDeduplicationKeyRecord keyRecord) {
        return keyRecord == null ? null : keyRecord.run();
    }

    private Set<RunId> owned(List<NewRunRow> rows, long owner) throws SQLException {
        return new ArrayStatement<>(session, OWNED, rows)
                .ids(NewRunRow::run)
                .value(owner)
                .runIds();
    }
}
