package dev.semel.store.postgres;

import dev.semel.effect.Ledger;
import dev.semel.run.RunId;
import dev.semel.store.Batch;
import dev.semel.store.Counted;
import dev.semel.store.Edit;
import dev.semel.store.Fair;
import dev.semel.store.Lane;
import dev.semel.store.Nothing;
import dev.semel.store.Review;
import dev.semel.store.StoreFailure;
import dev.semel.store.Write;
import dev.semel.store.jdbc.Claiming;
import dev.semel.store.jdbc.Counting;
import dev.semel.store.jdbc.Edits;
import dev.semel.store.jdbc.Session;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * One writing connection. The statements of a batch stand in one fixed order and lock their rows sorted, so that two
 * batches never wait for each other in a circle.
 */
final class PostgresLane implements Lane {
    // The fence is a statement of its own: inside a data statement the snapshot would be older than the lock. The
    // change is read after the lock, because a row that was updated meanwhile is read again.
    private static final String FENCE = """
        SELECT (extract(epoch FROM clock_timestamp()) * 1000000)::bigint, catalog_revision
        FROM semel_fence WHERE lease = ? AND slot = ? FOR NO KEY UPDATE
        """;

    // Without a slot the catalog itself is held, so that nobody changes it before this batch is done.
    private static final String CLOCK = """
        SELECT (extract(epoch FROM clock_timestamp()) * 1000000)::bigint, revision
        FROM semel_catalog WHERE singleton = 1 FOR SHARE
        """;

    private static final String LOCK_CATALOG = "SELECT revision FROM semel_catalog WHERE singleton = 1 FOR UPDATE";

    private static final String LOCK_SLOTS = "SELECT slot FROM semel_fence ORDER BY lease, slot FOR NO KEY UPDATE";

    private static final String CLAIM = """
        WITH free AS (
            SELECT one.run FROM unnest(?::text[], ?::int[]) AS share(workflow_id, most) CROSS JOIN LATERAL (
                SELECT run FROM semel_unfinished_run w WHERE w.workflow_id = share.workflow_id
                    AND owner IS NULL AND start_blocked = 0 AND due_at <= ? AND crash_count <= ?
                ORDER BY due_at, run LIMIT share.most FOR UPDATE SKIP LOCKED) AS one)
        UPDATE semel_unfinished_run w SET owner = ?, claim_count = w.claim_count + 1, waiting_for = NULL,
            state = CASE WHEN w.state IN (4, 5) THEN 3 ELSE GREATEST(w.state, 2) END
        WHERE w.run = ANY (ARRAY(SELECT run FROM free)) RETURNING w.run, w.claim_count, w.workflow_id
        """;

    private final PostgresStore store;
    private @Nullable Session session;

    PostgresLane(PostgresStore store) {
        this.store = store;
    }

    @Override
    public List<Object> apply(Batch batch) {
        List<Object> outcomes;
        try {
            outcomes = applyAll(connected(), batch);
        } catch (SQLException e) {
            abandon(e);
            throw Failures.of(e);
        } catch (RuntimeException e) {
            rollback(e);
            throw e;
        }
        try {
            connected().connection().commit();
            return outcomes;
        } catch (SQLException e) {
            abandon(e);
            throw Failures.ofCommit(e);
        }
    }

    private List<Object> applyAll(Session session, Batch batch) throws SQLException {
        if (batch.changesCatalog()) {
            stopAll(session);
        }
        Admitting.Moment moment = fence(session, batch.hold());
        long now = moment.now();
        Object[] outcomes = new Object[batch.writes().size()];
        Counted counted = new Counted();
        // Before anything is locked for them: a refusal leaves no row, not even one that was made to be locked.
        List<Indexed<Write.Admit>> admits = Outdated.refuse(session, moment, pick(batch, Write.Admit.class), outcomes);
        List<Indexed<Write.Tally>> tallies = pick(batch, Write.Tally.class);
        List<Turn> turns = Turn.of(batch.writes());
        Locking locks = new Locking(session, now);
        locks.take(batch, admits, turns);
        if (!admits.isEmpty()) {
            new Admitting(session, store.skew(), moment, counted).apply(admits, locks, outcomes);
        }
        Driving driving = new Driving(session, moment, locks, counted);
        driving.drive(turns, decided(batch), outcomes);
        if (!tallies.isEmpty()) {
            driving.tally(tallies, outcomes);
        }
        Edits edits = new Edits(session, store.ids(), counted);
        for (int i = 0; i < outcomes.length; i++) {
            switch (batch.writes().get(i)) {
                case Write.Claim claim -> outcomes[i] = claim(session, claim, moment);
                case Write.Tx _ ->
                    throw new UnsupportedOperationException("a transaction of the user has a connection of its own");
                case Write.Change<?> change -> {
                    Object absent = locks.absent(change.edit());
                    outcomes[i] = absent != null ? absent : Nothing.orNothing(edits.apply(change.edit(), now));
                }
                case Write.Admit _, Write.Append _, Write.End _, Write.Tally _, Write.Keep _ -> {}
            }
        }
        List<Indexed<Write.Keep>> keeps = pick(batch, Write.Keep.class);
        if (!keeps.isEmpty()) {
            new EventKeeping(session, moment).apply(keeps, outcomes);
        }
        locks.dropLetters();
        Counting.write(session, counted, batch.hold()); // last, since its rows come last in the order of locks
        if (store.hasCompany()) {
            Hints.send(session, store.self(), Hints.of(batch, outcomes, driving.freedPlaces()));
        }
        return java.util.Arrays.asList(outcomes);
    }

    /**
     * Waits until no batch is in flight and lets none begin, at any worker: a change of the catalog has no trigger
     * beside it. First of all statements, and the catalog before the slots, so that two such batches stand in line.
     */
    private static void stopAll(Session session) throws SQLException {
        // Shorter than others wait for a name: a worker that hangs must not make them give up because of this batch.
        session.update("SET LOCAL lock_timeout = '1s'");
        session.one(LOCK_CATALOG, row -> row.getLong(1));
        session.list(LOCK_SLOTS, row -> row.getInt(1));
        session.update("SET LOCAL lock_timeout = '2s'");
    }

    private Admitting.Moment fence(Session session, Batch.@Nullable Hold hold) throws SQLException {
        long skew = store.skew();
        Long lease = hold == null ? null : hold.lease();
        Session.RowReader<Admitting.Moment> reader =
                row -> new Admitting.Moment(row.getLong(1) + skew, row.getLong(2), lease);
        Admitting.Moment moment = hold == null ? session.one(CLOCK, reader) : fenced(session, hold, reader);
        if (moment == null) {
            throw new StoreFailure.Fenced(hold == null ? 0 : hold.lease());
        }
        if (hold == null) { // under a lease this is not asked: a migration that is too new ends all leases
            PostgresLeases.refuseNewer(session);
        }
        return moment;
    }

    /**
     * A slot that cannot be had in the whole time for a lock is held by a session of ours that hangs. Then this lease is
     * given up, which is always safe, and the next one has slots of its own.
     */
    private static Admitting.@Nullable Moment fenced(
            Session session, Batch.Hold hold, Session.RowReader<Admitting.Moment> reader) throws SQLException {
        try {
            return session.one(FENCE, reader, hold.lease(), hold.slot());
        } catch (SQLException e) {
            if ("55P03".equals(e.getSQLState())) {
                return null;
            }
            throw e;
        }
    }

    private static List<Write.Driver> claim(Session session, Write.Claim claim, Admitting.Moment moment)
            throws SQLException {
        Long lease = moment.lease();
        if (lease == null || claim.limit() == 0) {
            return List.of();
        }
        List<Fair.Group> groups = Claiming.groups(session, claim, moment.now());
        return Fair.claim(claim.limit(), groups, moment.now(), shares -> {
            PreparedStatement statement = session.statement(CLAIM);
            new Arrays(session, statement)
                    .texts(shares.stream()
                            .map(share -> share.group().workflowId())
                            .toArray(String[]::new))
                    .ints(shares.stream().mapToInt(Fair.Share::most).toArray())
                    .one(moment.now())
                    .one(claim.falls())
                    .one(lease);
            List<Fair.Taken> taken = new ArrayList<>();
            try (ResultSet row = statement.executeQuery()) {
                while (row.next()) {
                    Write.Driver driver = new Write.Driver(RunId.of(row.getBytes(1)), row.getInt(2));
                    taken.add(new Fair.Taken(row.getString(3), driver));
                }
            }
            return taken;
        });
    }

    /** The effects that people decide in this batch. */
    private static List<Ledger.Id> decided(Batch batch) {
        List<Ledger.Id> decided = new ArrayList<>();
        for (Write<?> write : batch.writes()) {
            Edit<?> edit = write instanceof Write.Change<?> change ? change.edit() : null;
            edit = edit instanceof Edit.Once<?> once ? once.edit() : edit;
            edit = edit instanceof Edit.Noted<?> noted ? noted.edit() : edit;
            edit = edit instanceof Edit.Reviewing<?>(Review.Rule rule) ? rule.deed() : edit;
            if (edit instanceof Edit.Decide decide) {
                decided.add(decide.effect());
            }
        }
        return decided;
    }

    /** A write and its place in the batch. */
    record Indexed<W>(int at, W write) {}

    private static <W extends Write<?>> List<Indexed<W>> pick(Batch batch, Class<W> kind) {
        List<Indexed<W>> picked = new ArrayList<>();
        List<Write<?>> writes = batch.writes();
        for (int i = 0; i < writes.size(); i++) {
            if (kind.isInstance(writes.get(i))) {
                picked.add(new Indexed<>(i, kind.cast(writes.get(i))));
            }
        }
        return picked;
    }

    private Session connected() throws SQLException {
        Session current = session;
        if (current == null) {
            current = new Session(store.connect(Purpose.LANE));
            session = current;
        }
        return current;
    }

    private void rollback(Exception cause) {
        try {
            if (session != null) {
                session.connection().rollback();
            }
        } catch (SQLException e) {
            abandon(e);
            cause.addSuppressed(e);
        }
    }

    /** After any failure of the connection the next batch gets a new one; what it had prepared goes with it. */
    private void abandon(Exception cause) {
        Session current = session;
        session = null;
        try {
            if (current != null) {
                current.close();
            }
        } catch (SQLException e) {
            cause.addSuppressed(e);
        }
    }

    @Override
    public void close() {
        abandon(new IllegalStateException("closed"));
    }
}
