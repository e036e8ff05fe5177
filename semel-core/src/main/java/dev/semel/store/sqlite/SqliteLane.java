package dev.semel.store.sqlite;

import dev.semel.key.Admissions;
import dev.semel.key.Admissions.Standing;
import dev.semel.key.Known;
import dev.semel.run.RunId;
import dev.semel.run.RunState;
import dev.semel.store.Batch;
import dev.semel.store.Counted;
import dev.semel.store.Lane;
import dev.semel.store.NewRun;
import dev.semel.store.Nothing;
import dev.semel.store.StoreFailure;
import dev.semel.store.Wish;
import dev.semel.store.Write;
import dev.semel.store.Write.Admitted;
import dev.semel.store.jdbc.Counting;
import dev.semel.store.jdbc.Edits;
import dev.semel.store.jdbc.EventRows;
import dev.semel.store.jdbc.Gating;
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
        INSERT INTO semel_run (run, ws, chosen_id, workflow_id, version, trigger_source, actor, key, correlation_id, input,
                               field_hashes, lineage, previous_run, duplicate_of, created_at)
        VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (run) DO NOTHING
        """;

    private static final String INSERT_WORK = """
        INSERT INTO semel_unfinished_run (run, workflow_id, owner, claim_count, state, start_blocked)
        VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (run) DO NOTHING
        """;

    /** What the lane needs from its surroundings. */
    record Ambience(LongSupplier clock, Supplier<RunId> ids, Checkpoints checkpoints) {}

    private final Writer writer;
    private final Session session;
    private final ReentrantLock turn;
    private final Ambience ambience;
    private final SqliteNames names;
    private final Edits edits;
    private final SqliteDriving driving;
    private final Gating gating;
    private final Counted counted = new Counted();
    private long change;

    SqliteLane(Writer writer, ReentrantLock turn, Ambience ambience) {
        this.writer = writer;
        this.session = writer.session();
        this.turn = turn;
        this.ambience = ambience;
        this.names = new SqliteNames(session);
        this.edits = new Edits(session, ambience.ids(), counted);
        this.driving = new SqliteDriving(session, counted);
        this.gating = new Gating(session);
    }

    @Override
    public List<Object> apply(Batch batch) {
        turn.lock();
        try {
            List<Object> outcomes;
            try {
                outcomes = applyAllowing(batch, batch.writes().size());
            } catch (SQLException e) {
                writer.failed(e);
                throw failure(e);
            } catch (RuntimeException | Error e) {
                writer.failed(e); // an error too: the next batch must not commit what this one left
                throw e;
            }
            commit();
            return outcomes;
        } finally {
            turn.unlock();
        }
    }

    /**
     * A statement of a user that is stopped in the middle of a write takes the whole transaction with it, so all of the
     * batch is applied again; that deed says at once that it was stopped.
     *
     * @param stops at most one for each write
     */
    private List<Object> applyAllowing(Batch batch, int stops) throws SQLException {
        writer.ready();
        try {
            return applyAll(batch);
        } catch (SqliteDriving.Stopped e) {
            if (stops == 0) {
                throw new StoreFailure.Poisoned("the code of a tx step was stopped again and again", e);
            }
            writer.failed(e);
        }
        return applyAllowing(batch, stops - 1);
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
        counted.clear();
        List<Object> outcomes = new ArrayList<>(batch.writes().size());
        for (Write<?> write : batch.writes()) {
            outcomes.add(applyOne(write, owner, now));
        }
        Counting.write(session, counted, hold);
        return outcomes;
    }

    private Object applyOne(Write<?> write, @Nullable Long owner, long now) throws SQLException {
        return switch (write) {
            case Write.Admit admit -> admit(admit, owner, now);
            case Write.Append append -> driving.append(append, owner, now);
            case Write.End end -> driving.end(end, owner, now);
            case Write.Tally tally -> driving.tally(tally);
            case Write.Keep keep -> EventRows.keep(session, keep, now, change);
            case Write.Claim claim -> driving.claim(claim, owner, now);
            case Write.Tx tx -> driving.tx(tx, owner, now);
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
        Long now = session.one("SELECT revision FROM semel_catalog WHERE singleton = 1", row -> row.getLong(1));
        change = now == null ? 0 : now;
    }

    private Admitted admit(Write.Admit admit, @Nullable Long owner, long now) throws SQLException {
        RunId mine = admit.run().id();
        // One that is on record was in time, and is applied again after a lost answer.
        if (admit.change() != change && !recorded(mine)) {
            return new Admitted.Stale();
        }
        Admitted absorbed = gating.absorb(admit, now);
        if (absorbed != null) {
            return absorbed;
        }
        List<Wish> taken = new ArrayList<>();
        List<SqliteNames.Retake> retakes = new ArrayList<>();
        List<@Nullable Known> held = new ArrayList<>();
        Known duplicateOf = null;
        RunId given = admit.run().links().lineage();
        RunId lineage = given == null ? mine : given;
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
        Known failed = SqliteNames.failed(retakes, admit);
        if (blocked || failed != null) {
            for (Wish wish : taken) {
                names.letGo(wish, mine);
            }
            return blocked || failed == null ? new Admitted.Held(now, held) : new Admitted.Failed(now, failed);
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
        boolean queued = run.state() == RunState.QUEUED;
        // A run behind a gate is claimed when its time has come, by whoever has room then.
        Long owner = queued || run.gate() != null ? null : lease;
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
        boolean waits = !isNew && gating.stillGated(run);
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
            link(run, now);
            counted.fresh(run, origins.sinceAt(), now);
            waits = !gating.enter(run, now);
        }
        Write.Earlier from = isNew ? earlier : names.recorded(run.id());
        boolean owned = owner != null && owns(run.id(), owner);
        return new Admitted.Fresh(now, owned, origins.lineage(), from, duplicateOf, waits);
    }

    private void link(NewRun run, long now) throws SQLException {
        NewRun.Links links = run.links();
        if (links.isLinked()) {
            session.update(
                    "INSERT INTO semel_run_link (run, parent, replay_of, depth) VALUES (?, ?, ?, ?)",
                    run.id(),
                    links.parent(),
                    links.replayOf(),
                    links.depth());
        }
        if (!links.carried().isEmpty()) {
            session.update(
                    "INSERT INTO semel_journal (run, seq, at, entries) VALUES (?, 0, ?, ?)",
                    run.id(),
                    now,
                    links.carried());
        }
    }

    private boolean owns(RunId run, long owner) throws SQLException {
        return session.one("SELECT 1 FROM semel_unfinished_run WHERE run = ? AND owner = ?", row -> 1, run, owner) != null;
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
