package dev.semel.store.sqlite;

import dev.semel.key.Admissions;
import dev.semel.key.Admissions.Standing;
import dev.semel.key.Known;
import dev.semel.run.RunId;
import dev.semel.store.Batch;
import dev.semel.store.Lane;
import dev.semel.store.NewRun;
import dev.semel.store.Nothing;
import dev.semel.store.StoreFailure;
import dev.semel.store.Wish;
import dev.semel.store.Write;
import dev.semel.store.Write.Admitted;
import dev.semel.store.jdbc.Edits;
import dev.semel.store.jdbc.Session;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** The writer. Every write of a batch is applied in turn; one fsync makes them all durable. */
final class SqliteLane implements Lane {
    private static final String INSERT_RUN = """
        INSERT INTO semel_run (run, ws, chosen_id, workflow_id, version, door, actor, key, correlation_id, input,
                               fields, lineage, previous, duplicate_of, created_at)
        VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (run) DO NOTHING
        """;

    private static final String INSERT_WORK = """
        INSERT INTO semel_work (run, workflow_id, owner, claims, state, held)
        VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (run) DO NOTHING
        """;

    private static final String INSERT_END = """
        INSERT INTO semel_end (run, state, ended_at, output, error_code, error_message, error_step, entries)
        VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (run) DO NOTHING
        """;

    private static final String INSERT_REQUEST = """
        INSERT INTO semel_request (run, id, ws, conflict, at, status_code, actor, changed, times)
        VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (run, id) DO NOTHING
        """;

    private static final String COUNT = """
        INSERT INTO semel_use (run, replays, conflicts, last_at) VALUES (?, ?, ?, ?)
        ON CONFLICT (run) DO UPDATE SET replays = replays + excluded.replays,
            conflicts = conflicts + excluded.conflicts, last_at = MAX(last_at, excluded.last_at)
        """;

    /** What the lane needs from its surroundings. */
    record Ambience(LongSupplier clock, Supplier<RunId> ids, Checkpoints checkpoints) {}

    private final Writer writer;
    private final Session session;
    private final ReentrantLock turn;
    private final Ambience ambience;
    private final SqliteNames names;
    private final Edits edits;
    private long change;

    SqliteLane(Writer writer, ReentrantLock turn, Ambience ambience) {
        this.writer = writer;
        this.session = writer.session();
        this.turn = turn;
        this.ambience = ambience;
        this.names = new SqliteNames(session);
        this.edits = new Edits(session, ambience.ids());
    }

    @Override
    public List<Object> apply(Batch batch) {
        turn.lock();
        try {
            List<Object> outcomes;
            try {
                writer.ready();
                outcomes = applyAll(batch);
            } catch (SQLException e) {
                writer.failed(e);
                throw failure(e);
            } catch (RuntimeException e) {
                writer.failed(e);
                throw e;
            }
            commit();
            return outcomes;
        } finally {
            turn.unlock();
        }
    }

    private List<Object> applyAll(Batch batch) throws SQLException {
        long now = ambience.clock().getAsLong();
        Batch.Hold hold = batch.hold();
        Long owner = hold == null ? null : hold.lease();
        if (hold != null
                && session.one(
                                "SELECT 1 FROM semel_fence WHERE lease = ? AND slot = ?",
                                row -> 1,
                                hold.lease(),
                                hold.slot())
                        == null) {
            throw new StoreFailure.Fenced(hold.lease());
        }
        readChange();
        List<Object> outcomes = new ArrayList<>(batch.writes().size());
        for (Write<?> write : batch.writes()) {
            outcomes.add(applyOne(write, owner, now));
        }
        return outcomes;
    }

    private Object applyOne(Write<?> write, @Nullable Long owner, long now) throws SQLException {
        return switch (write) {
            case Write.Admit admit -> admit(admit, owner, now);
            case Write.Append append -> append(append, owner, now);
            case Write.End end -> end(end, owner, now);
            case Write.Tally tally -> tally(tally);
            case Write.Claim claim -> claim(claim, owner);
            case Write.Change<?> edit -> change(edit, now);
        };
    }

    private Object change(Write.Change<?> edit, long now) throws SQLException {
        Object done = Nothing.orNothing(edits.apply(edit.edit(), now));
        readChange(); // for the triggers behind it in the batch
        return done;
    }

    /** Under which catalog the next trigger is admitted. */
    private void readChange() throws SQLException {
        Long now = session.one("SELECT change FROM semel_catalog WHERE one = 1", row -> row.getLong(1));
        change = now == null ? 0 : now;
    }

    private Admitted admit(Write.Admit admit, @Nullable Long owner, long now) throws SQLException {
        RunId mine = admit.run().id();
        // One that is on record was in time, and is applied again after a lost answer.
        if (admit.change() != change && !recorded(mine)) {
            return new Admitted.Stale();
        }
        List<Wish> taken = new ArrayList<>();
        List<SqliteNames.Retake> retakes = new ArrayList<>();
        List<@Nullable Known> held = new ArrayList<>();
        Known duplicateOf = null;
        RunId lineage = mine;
        boolean blocked = false;
        for (Wish wish : admit.wishes()) {
            Known known = names.take(wish, mine, now) ? null : SqliteReads.find(session, wish.name());
            boolean live = false;
            if (known == null) {
                taken.add(wish);
            } else if (known.run().equals(mine)) {
                lineage = known.lineage(); // applied again after a lost answer
            } else {
                Standing standing = Admissions.standing(known, now);
                live = standing == Standing.LIVE;
                if (!live) {
                    retakes.add(new SqliteNames.Retake(wish, known, standing));
                } else if (!wish.binding()) {
                    duplicateOf = known;
                }
            }
            blocked |= live && wish.binding();
            held.add(live && wish.binding() ? known : null);
        }
        if (blocked) {
            for (Wish wish : taken) {
                names.letGo(wish, mine);
            }
            return new Admitted.Held(now, held);
        }
        for (SqliteNames.Retake retake : retakes) {
            names.retake(retake, mine, now);
        }
        return create(
                admit.run(), admit.own() ? owner : null, now, SqliteNames.Origins.of(lineage, retakes, duplicateOf));
    }

    private boolean recorded(RunId run) throws SQLException {
        return session.one("SELECT 1 FROM semel_run WHERE run = ?", row -> 1, run) != null;
    }

    private Admitted create(NewRun run, @Nullable Long lease, long now, SqliteNames.Origins origins)
            throws SQLException {
        boolean queued = run.state() == dev.semel.run.RunState.QUEUED;
        Long owner = queued ? null : lease;
        Write.Earlier earlier = origins.earlier();
        Known duplicateOf = origins.duplicateOf();
        boolean isNew = session.update(
                        INSERT_RUN,
                        run.id(),
                        run.workspace(),
                        run.chosenId(),
                        run.workflowId(),
                        run.version(),
                        run.origin().door().code(),
                        run.origin().actor(),
                        run.origin().key(),
                        run.origin().correlationId(),
                        run.input(),
                        run.fields(),
                        origins.lineage(),
                        earlier == null ? null : earlier.run(),
                        duplicateOf == null ? null : duplicateOf.run(),
                        now)
                == 1;
        if (isNew) {
            // Only with a new run row: an applied-again admission must not bring a finished run back to work.
            session.update(
                    INSERT_WORK,
                    run.id(),
                    run.workflowId(),
                    owner,
                    owner == null ? 0 : 1,
                    run.state().code(),
                    queued ? 1 : 0);
        }
        Write.Earlier from = isNew ? earlier : names.recorded(run.id());
        return new Admitted.Fresh(now, owner != null && owns(run.id(), owner), origins.lineage(), from, duplicateOf);
    }

    private boolean owns(RunId run, long owner) throws SQLException {
        return session.one("SELECT 1 FROM semel_work WHERE run = ? AND owner = ?", row -> 1, run, owner) != null;
    }

    private Write.Owned append(Write.Append append, @Nullable Long owner, long now) throws SQLException {
        int mine = owner == null
                ? 0
                : session.update(
                        "UPDATE semel_work SET state = ? WHERE run = ? AND owner = ?",
                        append.state().code(),
                        append.run(),
                        owner);
        if (mine == 0) {
            return Write.Owned.FENCED;
        }
        session.update("""
            INSERT INTO semel_journal (run, seq, at, entries) VALUES (?, ?, ?, ?) ON CONFLICT (run, seq) DO NOTHING
            """, append.run(), append.seq(), now, append.entries());
        return Write.Owned.RECORDED;
    }

    private Write.Owned end(Write.End end, @Nullable Long owner, long now) throws SQLException {
        int mine = owner == null
                ? 0
                : session.update("DELETE FROM semel_work WHERE run = ? AND owner = ?", end.run(), owner);
        if (mine == 0) {
            // Applied a second time after a lost answer: with the lease still held, the end on record is ours.
            boolean ended = session.one("SELECT 1 FROM semel_end WHERE run = ?", row -> 1, end.run()) != null;
            return owner != null && ended ? Write.Owned.RECORDED : Write.Owned.FENCED;
        }
        Write.Ending ending = end.ending();
        session.update(
                INSERT_END,
                end.run(),
                end.state().code(),
                now,
                ending.output(),
                ending.errorCode(),
                ending.errorMessage(),
                ending.errorStep(),
                end.entries());
        return Write.Owned.RECORDED;
    }

    private boolean tally(Write.Tally tally) throws SQLException {
        for (Write.Seen row : tally.rows()) {
            int isNew = session.update(
                    INSERT_REQUEST,
                    row.run(),
                    row.id(),
                    row.workspace(),
                    row.conflict() ? 1 : 0,
                    row.at(),
                    row.statusCode(),
                    row.actor(),
                    row.changed(),
                    row.times());
            if (isNew == 1) {
                session.update(
                        COUNT,
                        row.run(),
                        row.conflict() ? 0L : row.times(),
                        row.conflict() ? row.times() : 0L,
                        row.at());
            }
        }
        return true;
    }

    private List<RunId> claim(Write.Claim claim, @Nullable Long owner) throws SQLException {
        if (owner == null) {
            return List.of();
        }
        List<RunId> free = session.list(
                "SELECT run FROM semel_work WHERE owner IS NULL AND held = 0 ORDER BY run LIMIT ?",
                row -> RunId.of(row.getBytes(1)),
                claim.limit());
        for (RunId run : free) {
            session.update("""
                UPDATE semel_work SET owner = ?, claims = claims + 1, state = MAX(state, 2) WHERE run = ?
                """, owner, run);
        }
        return free;
    }

    private void commit() {
        try {
            session.connection().commit();
        } catch (SQLException e) {
            writer.failed(e);
            // A failed fsync or a full disk at COMMIT: whether the frames are in the WAL is told by applying again.
            throw new StoreFailure.CommitUnknown(e);
        }
        try {
            ambience.checkpoints().finish(session.connection());
        } catch (SQLException e) {
            writer.failed(e);
        }
    }

    private static StoreFailure failure(SQLException e) {
        int code = e.getErrorCode() & 0xff;
        // 18 TOOBIG, 19 CONSTRAINT, 20 MISMATCH, 25 RANGE: the value is bad, not the store.
        return switch (code) {
            case 18, 19, 20, 25 -> new StoreFailure.Poisoned("the store refused a value", e);
            default -> new StoreFailure.Down("the store refused to write: " + e.getMessage(), e);
        };
    }

    @Override
    public void close() {}
}
