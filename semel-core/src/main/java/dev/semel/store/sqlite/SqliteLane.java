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

/** The only write lane of the SQLite store: applies the writes of a batch in order and commits them with one fsync. */
final class SqliteLane implements Lane {
    private static final String INSERT_RUN = """
        INSERT INTO semel_run (run, ws, chosen_id, workflow_id, version, trigger_source, actor, key, correlation_id,
            input,
                               field_hashes, lineage, previous_run, duplicate_of, created_at)
        VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (run) DO NOTHING
        """;

    private static final String INSERT_WORK = """
        INSERT INTO semel_unfinished_run (run, workflow_id, owner, claim_count, state, start_blocked)
        VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (run) DO NOTHING
        """;

    /** The dependencies of the lane. */
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
    private long catalogRevision;

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
                outcomes = applyWithRetries(batch, batch.writes().size());
            } catch (SQLException e) {
                writer.failed(e);
                throw failure(e);
            } catch (RuntimeException | Error e) {
                writer.failed(e); // also on an error: the next batch must not commit what this one left
                throw e;
            }
            commit();
            return outcomes;
        } finally {
            turn.unlock();
        }
    }

    /**
     * Applies the batch again if user code was stopped in the middle of a write, because SQLite then rolls the whole
     * transaction back. The second time that user code reports its timeout at once.
     *
     * @param stops retries left; at most one for each write
     */
    private List<Object> applyWithRetries(Batch batch, int stops) throws SQLException {
        writer.ready();
        try {
            return applyAll(batch);
        } catch (SqliteDriving.Stopped e) {
            if (stops == 0) {
                throw new StoreFailure.Poisoned("User code of a tx step exceeded its time limit in every retry", e);
            }
            writer.failed(e);
        }
        return applyWithRetries(batch, stops - 1);
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
        readCatalogRevision();
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
            case Write.Keep keep -> EventRows.keep(session, keep, now, catalogRevision);
            case Write.Claim claim -> driving.claim(claim, owner, now);
            case Write.Tx tx -> driving.tx(tx, owner, now);
            case Write.Change<?> edit -> change(edit, now);
        };
    }

    private Object change(Write.Change<?> edit, long now) throws SQLException {
        Object done = Nothing.orNothing(edits.apply(edit.edit(), now));
        readCatalogRevision(); // for later triggers of the batch
        return done;
    }

    /** Reads the catalog revision under which the next trigger is admitted. */
    private void readCatalogRevision() throws SQLException {
        Long now = session.one("SELECT revision FROM semel_catalog WHERE singleton = 1", row -> row.getLong(1));
        catalogRevision = now == null ? 0 : now;
    }

    private Admitted admit(Write.Admit admit, @Nullable Long owner, long now) throws SQLException {
        RunId mine = admit.run().id();
        // A recorded run was in time: this is a retry after a lost response.
        if (admit.change() != catalogRevision && !recorded(mine)) {
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
                lineage = known.lineage(); // a retry after a lost response
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
        // A run with start conditions is claimed when it is due, by a worker with free capacity.
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
            // Only with a new run row: the retry of an admission must not restart a finished run.
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
            // A failed fsync or a full disk at COMMIT: only a retry shows whether the frames are in the WAL.
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
            case 18, 19, 20, 25 -> new StoreFailure.Poisoned("SQLite rejected a value", e);
            default -> new StoreFailure.Down("SQLite rejected a write: " + e.getMessage(), e);
        };
    }

    @Override
    public void close() {}
}
