package dev.semel.store.postgres;

import dev.semel.run.RunId;
import dev.semel.store.Batch;
import dev.semel.store.Edit;
import dev.semel.store.Letter;
import dev.semel.store.NewRun;
import dev.semel.store.Review;
import dev.semel.store.Write;
import dev.semel.store.jdbc.Gating;
import dev.semel.store.jdbc.Session;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * Locks what a batch will change: queues, then rate limits, then unfinished runs, each sorted. Keys and ledger rows
 * follow. One lock order for all batches prevents deadlocks.
 */
final class Locking {
    private static final String QUEUES = """
        INSERT INTO semel_queue (queue, last_ticket) SELECT queue, 0 FROM unnest(?::text[]) AS u(queue)
        ON CONFLICT (queue) DO UPDATE SET last_ticket = semel_queue.last_ticket
        """;

    private static final String RATES = """
        INSERT INTO semel_rate_limit (name, next_start_at) SELECT name, 0 FROM unnest(?::text[]) AS u(name)
        ON CONFLICT (name) DO UPDATE SET next_start_at = semel_rate_limit.next_start_at
        """;

    // The queue entries of a run exist from its admission to its end, so a read before the lock finds them all.
    private static final String QUEUES_OF_ENDING = """
        SELECT p.queue FROM unnest(?::bytea[]) AS u(run)
        CROSS JOIN LATERAL (SELECT queue FROM semel_queue_entry p WHERE p.run = u.run LIMIT 64) p
        """;

    private static final String NEXT_IN_QUEUE = """
        SELECT p.run FROM unnest(?::text[]) AS u(queue)
        CROSS JOIN LATERAL (
            SELECT run FROM semel_queue_entry p WHERE p.queue = u.queue AND p.started = 0 ORDER BY ticket LIMIT ?) p
        """;

    // More waits than can get the signal: some runs may have ended or been cancelled when they are locked.
    private static final String WAITING_RUNS = """
        SELECT l.run FROM semel_signal_wait l
        CROSS JOIN LATERAL (SELECT 1 FROM semel_unfinished_run w WHERE w.run = l.run LIMIT 1) w
        WHERE l.ws = ? AND l.name = ? AND l.key = ? ORDER BY l.waiting_since, l.run, l.path LIMIT ?
        """;

    private static final String LOCK_RUNS = """
        SELECT w.run, w.owner, w.claim_count, w.state, w.crash_count, w.cancel_requested
            FROM unnest(?::bytea[]) AS u(run)
        CROSS JOIN LATERAL (
            SELECT run, owner, claim_count, state, crash_count, cancel_requested FROM semel_unfinished_run w
            WHERE w.run = u.run LIMIT 1 FOR NO KEY UPDATE) w
        """;

    // A queue without a ticket was inserted only for its lock: its trigger was not fresh.
    private static final String UNUSED = """
        DELETE FROM semel_queue WHERE queue = ANY (?) AND last_ticket = 0
        """;

    private static final String UNUSED_RATES = """
        DELETE FROM semel_rate_limit WHERE name = ANY (?) AND next_start_at = 0
        """;

    private static final String UNUSED_SIGNAL_LOCKS =
            "DELETE FROM semel_queue WHERE queue = ANY (?::text[]) AND last_ticket = 0";

    /** The state of an unfinished run under the lock. */
    record Work(@Nullable Long owner, int claims, int state, int falls, boolean cancel) {
        boolean isDrivenBy(long lease, Write.Driver by) {
            return owner != null && owner == lease && claims == by.claim();
        }
    }

    private final Session session;
    private final long now;
    private final Set<String> newQueues = new TreeSet<>();
    private final Set<String> queues = new TreeSet<>();
    private final Set<String> rates = new TreeSet<>();
    private final Set<String> signalLocks = new TreeSet<>();
    private final List<Letter.Address> addresses = new ArrayList<>();
    private final List<Write.Admit> debounced = new ArrayList<>();
    private final Map<RunId, Work> lockedRuns = new HashMap<>();
    private final Map<RunId, RunId> debounceTargets = new HashMap<>();
    private boolean locksWork;

    Locking(Session session, long now) {
        this.session = session;
        this.now = now;
    }

    void take(Batch batch, List<PostgresLane.Indexed<Write.Admit>> admits, List<Turn> turns) throws SQLException {
        TreeSet<RunId> runs = new TreeSet<>();
        admits.forEach(indexed -> addStartConditions(indexed.write(), indexed.write().run().gate()));
        for (Write<?> write : batch.writes()) {
            if (write instanceof Write.Change<?> change) {
                runs.addAll(runsOf(change.edit()));
                addSignalLocks(change.edit());
            }
        }
        List<RunId> ending =
                turns.stream().filter(Turn::ends).map(Turn::run).sorted().toList();
        Set<String> left = ending.isEmpty() ? Set.of() : texts(QUEUES_OF_ENDING, ending);
        queues.addAll(left);
        queues.addAll(signalLocks);
        updateByName(QUEUES, queues);
        updateByName(RATES, rates);
        addDebouncedRuns(runs);
        addWaitingRuns(runs);
        if (!left.isEmpty()) {
            runs.addAll(nextInQueues(left, ending.size()));
        }
        // A batch of ends alone locks its rows when it deletes them, sorted: a short run costs no extra statement.
        boolean endsOnly = turns.stream().allMatch(turn -> turn.ends() && turn.ops.isEmpty());
        locksWork = !endsOnly || !runs.isEmpty();
        if (locksWork) {
            turns.forEach(turn -> runs.add(turn.run()));
            lockRuns(runs);
        }
        dropStartedTargets();
    }

    /** Whether all runs of owner writes are locked; if not, the batch has only ends without ledger operations. */
    boolean locksWork() {
        return locksWork;
    }

    @Nullable
    Work work(RunId run) {
        return lockedRuns.get(run);
    }

    /** Returns the debounced run that this trigger is merged into, or null. */
    @Nullable
    RunId taker(Write.Admit admit) {
        return debounceTargets.get(admit.run().id());
    }

    /** Deletes queue and rate-limit rows that were inserted for triggers which were not fresh. */
    void dropUnused() throws SQLException {
        updateByName(UNUSED, newQueues);
        updateByName(UNUSED_RATES, rates);
    }

    /** Deletes the rows that serialize senders of keyed signals and new waits; the lock lasts until the commit. */
    void dropLetters() throws SQLException {
        updateByName(UNUSED_SIGNAL_LOCKS, signalLocks);
    }

    private void addStartConditions(Write.Admit admit, NewRun.@Nullable Gate gate) {
        if (gate == null) {
            return;
        }
        for (NewRun.Gate.Place place : gate.places()) {
            newQueues.add(place.queue());
            queues.add(place.queue());
        }
        if (gate.rate() != null) {
            rates.add(gate.rate().name());
        }
        if (gate.debounce() != null) {
            queues.add(Gating.quietLock(gate.debounce()));
            debounced.add(admit);
        }
    }

    /** Returns the runs whose rows a command locks. */
    private static List<RunId> runsOf(Edit<?> edit) {
        return switch (edit) {
            case Edit.Signal signal -> List.of(signal.run());
            case Edit.Cancel cancel -> List.of(cancel.run());
            case Edit.Wake wake -> wake.runs();
            case Edit.GiveBack back -> List.of(back.driver().run());
            case Edit.GoOn on -> List.of(on.run());
            case Edit.Decide decide -> List.of(decide.run());
            case Edit.Once<?> once -> runsOf(once.edit());
            case Edit.Noted<?> noted -> runsOf(noted.edit());
            case Edit.Mail<?> mail ->
                switch (mail.letter()) {
                    case Letter.Listen listen -> List.of(listen.ear().by().run());
                    case Letter.Hush hush -> List.of(hush.ear().by().run());
                    case Letter.Post _, Letter.Delete _ -> List.of(); // the waits are read under the lock
                };
            case Edit.Reviewing<?> reviewing -> runsOf(reviewing.review());
            case Edit.OpenWorkspace _,
                    Edit.Publish _,
                    Edit.PublishOver _,
                    Edit.Stage _,
                    Edit.Promote _,
                    Edit.Rollback _,
                    Edit.Pause _,
                    Edit.CreateToken _,
                    Edit.RevokeToken _,
                    Edit.Release _,
                    Edit.ReleaseAll _,
                    Edit.Extend _,
                    Edit.DeleteReplies _,
                    Edit.DeleteEvents _,
                    Edit.DeleteNames _,
                    Edit.DeleteRuns _,
                    Edit.BlankRuns _,
                    Edit.Resume _,
                    Edit.Forget _,
                    Edit.LayOut _,
                    Edit.TakeTicks _,
                    Edit.SettleTicks _,
                    Edit.NoteTicks _,
                    Edit.PauseSchedule _,
                    Edit.DeleteTicks _,
                    Edit.Replaying<?> _,
                    Edit.TidyFigures _,
                    Edit.WakeHeld _,
                    Edit.Receive _,
                    Edit.DeleteDeliveries _,
                    Edit.Put _,
                    Edit.PlaceAsOf _,
                    Edit.Remove _ -> List.of();
        };
    }

    private static List<RunId> runsOf(Review<?> review) {
        return switch (review) {
            case Review.Ask ask -> List.of(ask.by().run());
            case Review.Lapse lapse -> List.of(lapse.by().run());
            case Review.Rule rule -> runsOf(rule.deed());
            case Review.Told _ -> List.of();
        };
    }

    /**
     * Returns the outcome of a command whose runs were all finished when the batch locked them; null for any other
     * command. A run that was created since must not be locked now, out of order. A command with an idempotency key is
     * rare and stores its response, so it is executed.
     */
    @Nullable
    Object absent(Edit<?> edit) {
        List<RunId> runs = runsOf(edit);
        if (runs.isEmpty() || runs.stream().anyMatch(lockedRuns::containsKey)) {
            return null;
        }
        return switch (edit) {
            case Edit.Signal _ -> Edit.Signalled.GONE;
            case Edit.Cancel _, Edit.GiveBack _, Edit.GoOn _ -> false;
            case Edit.Wake _ -> 0;
            case Edit.Mail<?> _ -> Letter.Heard.GONE;
            case Edit.Noted<?> noted -> absent(noted.edit()); // nothing was changed, so nothing is audited
            case Edit.Decide _,
                    Edit.OpenWorkspace _,
                    Edit.Publish _,
                    Edit.PublishOver _,
                    Edit.Stage _,
                    Edit.Promote _,
                    Edit.Rollback _,
                    Edit.Pause _,
                    Edit.CreateToken _,
                    Edit.RevokeToken _,
                    Edit.Release _,
                    Edit.ReleaseAll _,
                    Edit.Extend _,
                    Edit.Reviewing<?> _,
                    Edit.DeleteReplies _,
                    Edit.DeleteEvents _,
                    Edit.Once<?> _,
                    Edit.DeleteNames _,
                    Edit.DeleteRuns _,
                    Edit.BlankRuns _,
                    Edit.Resume _,
                    Edit.Forget _,
                    Edit.LayOut _,
                    Edit.TakeTicks _,
                    Edit.SettleTicks _,
                    Edit.NoteTicks _,
                    Edit.PauseSchedule _,
                    Edit.DeleteTicks _,
                    Edit.Replaying<?> _,
                    Edit.TidyFigures _,
                    Edit.WakeHeld _,
                    Edit.Receive _,
                    Edit.DeleteDeliveries _,
                    Edit.Put _,
                    Edit.PlaceAsOf _,
                    Edit.Remove _ -> null;
        };
    }

    private void addDebouncedRuns(Set<RunId> runs) throws SQLException {
        Gating gating = new Gating(session);
        for (Write.Admit admit : debounced) {
            RunId waiting = gating.waiting(admit);
            if (waiting != null) {
                debounceTargets.put(admit.run().id(), waiting);
                runs.add(waiting);
            }
        }
    }

    /** A sender and a new wait lock the same row, so that they run one after the other. */
    private void addSignalLocks(Edit<?> edit) {
        if (edit instanceof Edit.Mail<?>(Letter.Post post)) {
            addresses.add(post.to());
            signalLocks.add(post.to().lock());
        } else if (edit instanceof Edit.Mail<?>(Letter.Listen listen)) {
            signalLocks.add(listen.to().lock());
        } else if (edit instanceof Edit.Once<?> once) {
            addSignalLocks(once.edit());
        } else if (edit instanceof Edit.Noted<?> noted) {
            addSignalLocks(noted.edit());
        }
    }

    /** Adds the runs that wait now; a wait that ends before our lock on its run is not found afterwards. */
    private void addWaitingRuns(Set<RunId> runs) throws SQLException {
        for (Letter.Address to : addresses) {
            runs.addAll(session.list(
                    WAITING_RUNS,
                    row -> RunId.of(row.getBytes(1)),
                    to.workspace(),
                    to.name(),
                    to.key(),
                    2 * Letter.MOST_LISTENERS));
        }
    }

    private void dropStartedTargets() throws SQLException {
        Gating gating = new Gating(session);
        for (Write.Admit admit : debounced) {
            RunId waiting = taker(admit);
            if (waiting != null && !gating.stillWaits(waiting, now)) {
                debounceTargets.remove(admit.run().id());
            }
        }
    }

    private void updateByName(String sql, Set<String> sorted) throws SQLException {
        if (!sorted.isEmpty()) {
            PreparedStatement statement = session.statement(sql);
            new Arrays(session, statement).texts(sorted.toArray(String[]::new));
            statement.executeUpdate();
        }
    }

    private Set<String> texts(String sql, List<RunId> runs) throws SQLException {
        PreparedStatement statement = session.statement(sql);
        new Arrays(session, statement).bytes(bytes(runs));
        Set<String> texts = new TreeSet<>();
        try (ResultSet row = statement.executeQuery()) {
            while (row.next()) {
                texts.add(row.getString(1));
            }
        }
        return texts;
    }

    /** Returns the queued runs that an end may start. If a limit was raised, more may start; they are locked then. */
    private Set<RunId> nextInQueues(Set<String> left, int places) throws SQLException {
        PreparedStatement statement = session.statement(NEXT_IN_QUEUE);
        new Arrays(session, statement).texts(left.toArray(String[]::new)).one(places);
        return Driving.runs(statement);
    }

    private void lockRuns(TreeSet<RunId> runs) throws SQLException {
        PreparedStatement statement = session.statement(LOCK_RUNS);
        new Arrays(session, statement).bytes(bytes(runs));
        try (ResultSet row = statement.executeQuery()) {
            while (row.next()) {
                long owner = row.getLong(2);
                Long lease = row.wasNull() ? null : owner;
                lockedRuns.put(
                        RunId.of(row.getBytes(1)),
                        new Work(lease, row.getInt(3), row.getInt(4), row.getInt(5), row.getInt(6) == 1));
            }
        }
    }

    private static byte[][] bytes(Collection<RunId> runs) {
        return runs.stream().map(RunId::bytes).toArray(byte[][]::new);
    }
}
