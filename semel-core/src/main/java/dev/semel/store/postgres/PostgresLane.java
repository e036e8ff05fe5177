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
 * A write lane: applies batches on one PostgreSQL connection. All batches run their statements in one fixed order and
 * lock rows sorted, so that two batches never deadlock.
 */
final class PostgresLane implements Lane {
    // The fence is a statement of its own: inside a data statement the snapshot would be older than the lock. The
    // catalog revision is read after the lock, because PostgreSQL reads an updated row again.
    private static final String FENCE = """
        SELECT (extract(epoch FROM clock_timestamp()) * 1000000)::bigint, catalog_revision
        FROM semel_fence WHERE lease = ? AND slot = ? FOR NO KEY UPDATE
        """;

    // Without a slot the batch locks the catalog itself, so that it does not change before the batch ends.
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
            lockCatalogAndSlots(session);
        }
        Admitting.Moment moment = fence(session, batch.hold());
        long now = moment.now();
        Object[] outcomes = new Object[batch.writes().size()];
        Counted counted = new Counted();
        // Before their locks: a rejected trigger must leave no row, not even one inserted only to be locked.
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
                    throw new UnsupportedOperationException("A user transaction needs a lane of its own");
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
        Counting.write(session, counted, batch.hold()); // last, because counters are last in the lock order
        if (store.hasCompany()) {
            Hints.send(session, store.self(), Hints.of(batch, outcomes, driving.freedPlaces()));
        }
        return java.util.Arrays.asList(outcomes);
    }

    /**
     * Waits until no worker has a batch in flight and lets none begin, so that no trigger runs concurrently with a
     * change of the catalog. These are the first statements, the catalog before the slots, so that two such batches
     * queue up.
     */
    private static void lockCatalogAndSlots(Session session) throws SQLException {
        // Shorter than the lock timeout of other batches: a hanging worker must not make them fail because of this
        // batch.
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
        if (hold == null) { // not needed under a lease: a breaking migration ends all leases
            PostgresLeases.refuseNewer(session);
        }
        return moment;
    }

    /**
     * A lock timeout on the slot means that a hanging session of this worker holds it. Then the worker gives up this
     * lease, which is always safe, and the next lease has new slots.
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

    /** Returns the effects that users decide in this batch. */
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

    /** A write and its position in the batch. */
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

    /** Drops the connection and its prepared statements after a failure; the next batch opens a new one. */
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
