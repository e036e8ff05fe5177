package dev.semel.store.postgres;

import dev.semel.key.Known;
import dev.semel.run.RunId;
import dev.semel.run.RunState;
import dev.semel.store.Counted;
import dev.semel.store.NewRun;
import dev.semel.store.Write;
import dev.semel.store.Write.Admitted;
import dev.semel.store.jdbc.Gating;
import dev.semel.store.jdbc.Session;
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
final class Creating {
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
     * @param sinceAt when its expired key was first used; 0 if none expired
     */
    record Row(int at, Write.Admit admit, Admitted.Fresh from, long sinceAt) {
        RunId run() {
            return admit.run().id();
        }
    }

    /** Which worker executes a new run first: this one, any worker that claims it, or none yet. */
    private enum Lot {
        OWN,
        FREE,
        QUEUED;

        static Lot of(Row row) {
            // A run with start conditions is claimed when it is due, by a worker with free capacity.
            boolean own = row.admit().own() && row.admit().run().gate() == null;
            return row.admit().run().state() == RunState.QUEUED ? QUEUED : own ? OWN : FREE;
        }
    }

    private final Session session;
    private final Admitting.Moment moment;
    private final Counted counted;

    Creating(Session session, Admitting.Moment moment, Counted counted) {
        this.counted = counted;
        this.session = session;
        this.moment = moment;
    }

    void apply(List<Row> rows, Object[] outcomes) throws SQLException {
        Gating gating = new Gating(session);
        TreeMap<RunId, NewRun> gated = new TreeMap<>();
        Set<RunId> waiting = new HashSet<>();
        for (Lot lot : Lot.values()) {
            List<Row> some = rows.stream()
                    .filter(row -> Lot.of(row) == lot)
                    .sorted(Comparator.comparing(Row::run))
                    .toList();
            if (!some.isEmpty()) {
                Set<RunId> made = create(some, lot, outcomes);
                for (Row row : some) {
                    NewRun run = row.admit().run();
                    if (made.contains(row.run())) {
                        counted.fresh(run, row.sinceAt(), moment.now());
                    }
                    if (run.gate() != null && made.contains(row.run())) {
                        gated.put(row.run(), run);
                    } else if (gating.stillGated(run)) {
                        waiting.add(row.run());
                    }
                }
            }
        }
        for (NewRun run : gated.values()) {
            if (!gating.enter(run, moment.now())) {
                waiting.add(run.id());
            }
        }
        for (Row row : rows) {
            if (waiting.contains(row.run()) && outcomes[row.at()] instanceof Admitted.Fresh fresh) {
                outcomes[row.at()] = fresh.behindItsGate();
            }
        }
    }

    /** Inserts the link rows of new runs that another run started. */
    private void link(List<Row> rows, Set<RunId> made) throws SQLException {
        List<NewRun> linked = rows.stream()
                .map(row -> row.admit().run())
                .filter(run -> made.contains(run.id()))
                .filter(run -> run.links().isLinked())
                .toList();
        if (!linked.isEmpty()) {
            PreparedStatement statement = session.statement(LINK);
            new Arrays(session, statement)
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
    private void carry(List<Row> rows, Set<RunId> made) throws SQLException {
        List<NewRun> carrying = rows.stream()
                .map(row -> row.admit().run())
                .filter(run -> made.contains(run.id()) && !run.links().carried().isEmpty())
                .toList();
        if (!carrying.isEmpty()) {
            PreparedStatement statement = session.statement(CARRY);
            new Arrays(session, statement)
                    .one(moment.now())
                    .bytes(carrying.stream().map(run -> run.id().bytes()).toArray(byte[][]::new))
                    .texts(carrying.stream().map(run -> run.links().carried()).toArray(String[]::new));
            statement.executeUpdate();
        }
    }

    private static byte @Nullable [] bytes(@Nullable RunId run) {
        return run == null ? null : run.bytes();
    }

    private Set<RunId> create(List<Row> rows, Lot lot, Object[] outcomes) throws SQLException {
        Long owner = lot == Lot.OWN ? moment.lease() : null;
        boolean queued = lot == Lot.QUEUED;
        PreparedStatement statement = session.statement(CREATE);
        Arrays arrays = new Arrays(session, statement).one(moment.now());
        bind(arrays, rows);
        arrays.oneOrNull(owner).one(owner == null ? 0 : 1);
        arrays.one(queued ? RunState.QUEUED.code() : RunState.STARTED.code()).one(queued ? 1 : 0);
        Set<RunId> made = Driving.runs(statement);
        link(rows, made);
        carry(rows, made);
        Set<RunId> owned = owner == null ? Set.of() : made.size() == rows.size() ? made : owned(rows, owner);
        Map<RunId, Admitted.Fresh> recorded = made.size() == rows.size()
                ? Map.of()
                : recorded(rows.stream().filter(row -> !made.contains(row.run())));
        for (Row row : rows) {
            Admitted.Fresh from = recorded.getOrDefault(row.run(), row.from());
            outcomes[row.at()] = new Admitted.Fresh(
                    moment.now(),
                    owned.contains(row.run()),
                    from.lineage(),
                    from.earlier(),
                    row.from().duplicateOf());
        }
        return made;
    }

    /** Reads the origins of recorded runs: on a retry after a lost response the keys no longer show them. */
    private Map<RunId, Admitted.Fresh> recorded(Stream<Row> rows) throws SQLException {
        PreparedStatement statement = session.statement(RECORDED);
        new Arrays(session, statement).bytes(rows.map(row -> row.run().bytes()).toArray(byte[][]::new));
        Map<RunId, Admitted.Fresh> found = new HashMap<>();
        try (ResultSet row = statement.executeQuery()) {
            while (row.next()) {
                byte[] previous = row.getBytes(3);
                Write.Earlier earlier =
                        previous == null ? null : new Write.Earlier(RunId.of(previous), row.getString(4), false);
                RunId lineage = RunId.of(row.getBytes(2));
                found.put(RunId.of(row.getBytes(1)), new Admitted.Fresh(moment.now(), false, lineage, earlier, null));
            }
        }
        return found;
    }

    private static void bind(Arrays arrays, List<Row> rows) throws SQLException {
        List<NewRun> runs = rows.stream().map(row -> row.admit().run()).toList();
        List<Admitted.Fresh> from = rows.stream().map(Row::from).toList();
        arrays.bytes(runs.stream().map(run -> run.id().bytes()).toArray(byte[][]::new))
                .ints(runs.stream().mapToInt(NewRun::workspace).toArray())
                .texts(runs.stream().map(NewRun::chosenId).toArray(String[]::new))
                .texts(runs.stream().map(NewRun::workflowId).toArray(String[]::new))
                .ints(runs.stream().mapToInt(NewRun::version).toArray())
                .ints(runs.stream().mapToInt(run -> run.origin().door().code()).toArray())
                .texts(runs.stream().map(run -> run.origin().actor()).toArray(String[]::new))
                .texts(runs.stream().map(run -> run.origin().key()).toArray(String[]::new))
                .texts(runs.stream().map(run -> run.origin().correlationId()).toArray(String[]::new))
                .texts(runs.stream().map(NewRun::input).toArray(String[]::new))
                .bytes(runs.stream().map(NewRun::fields).toArray(byte[][]::new))
                .bytes(from.stream().map(fresh -> fresh.lineage().bytes()).toArray(byte[][]::new))
                .bytes(from.stream().map(fresh -> bytes(fresh.earlier())).toArray(byte[][]::new))
                .bytes(from.stream().map(fresh -> bytes(fresh.duplicateOf())).toArray(byte[][]::new));
    }

    private static byte @Nullable [] bytes(Write.@Nullable Earlier earlier) {
        return earlier == null ? null : earlier.run().bytes();
    }

    private static byte @Nullable [] bytes(@Nullable Known known) {
        return known == null ? null : known.run().bytes();
    }

    private Set<RunId> owned(List<Row> rows, long owner) throws SQLException {
        PreparedStatement statement = session.statement(OWNED);
        new Arrays(session, statement)
                .bytes(rows.stream().map(row -> row.run().bytes()).toArray(byte[][]::new))
                .one(owner);
        return Driving.runs(statement);
    }
}
