package dev.semel.store.jdbc;

import static java.util.Objects.requireNonNull;

import dev.semel.run.RunId;
import dev.semel.run.RunState;
import dev.semel.store.NewRun;
import dev.semel.store.Wish;
import dev.semel.store.Write;
import java.sql.SQLException;
import java.util.Comparator;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What stands between the admission of a run and its start: queues, a rate, a delay, a wait for quiet. In statements
 * that both stores understand, inside a lane's transaction. Whoever enters or leaves a queue first locks its row, so
 * that no run is left waiting behind nobody.
 */
public final class Gating {
    private static final String TICKET = """
        INSERT INTO semel_queue (queue, last_ticket) VALUES (?, 1)
        ON CONFLICT (queue) DO UPDATE SET last_ticket = semel_queue.last_ticket + 1 RETURNING last_ticket
        """;

    private static final String PLACE = """
        INSERT INTO semel_queue_entry (queue, ticket, run, concurrency_limit, started) VALUES (?, ?, ?, ?, ?)
        """;

    private static final String BEGUN = "SELECT count(*) FROM semel_queue_entry WHERE queue = ? AND started = 1";

    private static final String FIRST_WAITING = """
        SELECT ticket, run, concurrency_limit FROM semel_queue_entry WHERE queue = ? AND started = 0 ORDER BY ticket LIMIT 1
        """;

    // A run whose workflow was paused meanwhile stays held; the end of the pause sets it free. One that is to be
    // cancelled is not held back by that.
    private static final String LET_GO = """
        UPDATE semel_unfinished_run SET queue_state = 1, waiting_for = NULL, start_blocked = (
            SELECT CASE WHEN f.paused = 1 AND semel_unfinished_run.cancel_requested = 0 THEN 1 ELSE 0 END FROM semel_workflow f
            WHERE f.workflow_id = semel_unfinished_run.workflow_id)
        WHERE run = ? AND queue_state = 2 AND NOT EXISTS (
            SELECT 1 FROM semel_queue_entry p WHERE p.run = semel_unfinished_run.run AND p.started = 0)
        """;

    private static final String NEXT_START = """
        INSERT INTO semel_rate_limit (name, next_start_at) VALUES (?, ?)
        ON CONFLICT (name) DO UPDATE SET next_start_at =
            CASE WHEN semel_rate_limit.next_start_at > ? THEN semel_rate_limit.next_start_at ELSE ? END + ? RETURNING next_start_at
        """;

    private final Session session;

    public Gating(Session session) {
        this.session = session;
    }

    /**
     * Puts a run that was just made behind its gate. True: it may start now. The run's row of work is there, unowned.
     */
    public boolean enter(NewRun run, long now) throws SQLException {
        NewRun.Gate gate = run.gate();
        if (gate == null) {
            return true;
        }
        long due = now + gate.delay();
        String waits = gate.delay() > 0 ? waits("delay", due) : null;
        if (gate.rate() != null) {
            long start = nextStart(gate.rate(), now);
            if (start > due) {
                due = start;
                waits = waits("rate_limit", due);
            }
        }
        NewRun.Gate.Debounce quiet = gate.debounce();
        if (quiet != null) {
            due = Math.max(due, now + Math.min(quiet.quiet(), quiet.atMost()));
            waits = waits("debounce", due);
            session.update("""
                INSERT INTO semel_debounce (name, run) VALUES (?, ?)
                ON CONFLICT (name) DO UPDATE SET run = excluded.run
                """, quiet.name(), run.id());
        }
        boolean hasPlaces = true;
        for (NewRun.Gate.Place place : sorted(gate.places())) {
            hasPlaces &= takePlace(place, run.id());
        }
        int gated = gate.places().isEmpty() ? 0 : hasPlaces ? 1 : 2;
        boolean paused = run.state() == RunState.QUEUED;
        boolean now1 = hasPlaces && due <= now && !paused;
        session.update(
                "UPDATE semel_unfinished_run SET due_at = ?, waiting_for = ?, queue_state = ?, start_blocked = ?, state = ? WHERE run = ?",
                due <= now ? 0 : due,
                hasPlaces ? waits : "{\"for\":\"queue\"}",
                gated,
                paused || !hasPlaces ? 1 : 0,
                now1 ? RunState.STARTED.code() : RunState.QUEUED.code(),
                run.id());
        return now1;
    }

    /** Puts a run that goes on in place behind its queues once more. Its row of work is there, unowned. */
    void again(RunId run, List<NewRun.Gate.Place> places) throws SQLException {
        boolean hasPlaces = true;
        for (NewRun.Gate.Place place : sorted(places)) {
            hasPlaces &= takePlace(place, run);
        }
        if (!hasPlaces) {
            session.update(
                    "UPDATE semel_unfinished_run SET queue_state = 2, start_blocked = 1, waiting_for = ?, state = ? WHERE run = ?",
                    "{\"for\":\"queue\"}",
                    RunState.QUEUED.code(),
                    run);
        } else if (!places.isEmpty()) {
            session.update("UPDATE semel_unfinished_run SET queue_state = 1 WHERE run = ?", run);
        }
    }

    /** Whether a run that was made before still stands behind its gate: its admission is applied again. */
    public boolean stillGated(NewRun run) throws SQLException {
        return run.gate() != null
                && session.one(
                                "SELECT 1 FROM semel_unfinished_run WHERE run = ? AND state = ?",
                                row -> 1,
                                run.id(),
                                RunState.QUEUED.code())
                        != null;
    }

    private static String waits(String reason, long due) {
        return "{\"for\":\"" + reason + "\",\"until\":" + due + "}";
    }

    private static List<NewRun.Gate.Place> sorted(List<NewRun.Gate.Place> places) {
        return places.stream()
                .sorted(Comparator.comparing(NewRun.Gate.Place::queue))
                .toList();
    }

    /** True: nobody is before this run. The row of the queue is locked from here to the end of the transaction. */
    private boolean takePlace(NewRun.Gate.Place place, RunId run) throws SQLException {
        long ticket = required(session.one(TICKET, row -> row.getLong(1), place.queue()));
        long begun = required(session.one(BEGUN, row -> row.getLong(1), place.queue()));
        boolean waiting = session.one(FIRST_WAITING, row -> row.getLong(1), place.queue()) != null;
        boolean begins = begun < place.cap() && !waiting;
        session.update(PLACE, place.queue(), ticket, run, place.cap(), begins ? 1 : 0);
        return begins;
    }

    private long nextStart(NewRun.Gate.Rate rate, long now) throws SQLException {
        long interval = rate.interval();
        long next = required(
                session.one(NEXT_START, row -> row.getLong(1), rate.name(), now + interval, now, now, interval));
        // So many starts are free at once; each later one waits until its share of time has come.
        return next - interval * rate.burst();
    }

    /** Ends the places of runs that ended, and lets those behind them go. Answers the runs that may start. */
    public List<RunId> leave(List<RunId> ended) throws SQLException {
        java.util.TreeSet<String> queues = new java.util.TreeSet<>();
        for (RunId run : ended) {
            queues.addAll(session.list("SELECT queue FROM semel_queue_entry WHERE run = ?", row -> row.getString(1), run));
        }
        for (String queue : queues) {
            session.update("UPDATE semel_queue SET last_ticket = last_ticket WHERE queue = ?", queue);
        }
        for (RunId run : ended) {
            session.update("DELETE FROM semel_queue_entry WHERE run = ?", run);
        }
        List<RunId> free = new java.util.ArrayList<>();
        for (String queue : queues) {
            promote(queue, free);
        }
        return free;
    }

    private record Waiting(long ticket, RunId run, int cap) {}

    private void promote(String queue, List<RunId> free) throws SQLException {
        while (true) {
            Waiting first = session.one(
                    FIRST_WAITING, row -> new Waiting(row.getLong(1), RunId.of(row.getBytes(2)), row.getInt(3)), queue);
            long begun = required(session.one(BEGUN, row -> row.getLong(1), queue));
            if (first == null) {
                if (begun == 0) {
                    session.update("DELETE FROM semel_queue WHERE queue = ?", queue);
                }
                return;
            }
            if (begun >= first.cap()) {
                return;
            }
            session.update("UPDATE semel_queue_entry SET started = 1 WHERE queue = ? AND ticket = ?", queue, first.ticket());
            if (session.update(LET_GO, first.run()) == 1) {
                free.add(first.run());
            }
        }
    }

    /** For a store with one writer: a run that waits for quiet takes this trigger in, with the names it wants. */
    public Write.Admitted.@Nullable Absorbed absorb(Write.Admit admit, long now) throws SQLException {
        RunId waiting = waiting(admit);
        if (waiting == null || !stillWaits(waiting, now)) {
            return null;
        }
        for (Wish wish : admit.wishes()) {
            takeName(wish, waiting, now);
        }
        return takeIn(admit, waiting, now);
    }

    /** The row that is locked by whoever debounces under a name. */
    public static String quietLock(NewRun.Gate.Debounce quiet) {
        return "quiet:" + quiet.name();
    }

    /** The run that waits for quiet under the trigger's name, if the trigger is for it: none of its own names is known. */
    public @Nullable RunId waiting(Write.Admit admit) throws SQLException {
        NewRun.Gate gate = admit.run().gate();
        NewRun.Gate.Debounce quiet = gate == null ? null : gate.debounce();
        if (quiet == null) {
            return null;
        }
        // Two first triggers cannot both find nobody.
        session.update("""
            INSERT INTO semel_queue (queue, last_ticket) VALUES (?, 0)
            ON CONFLICT (queue) DO UPDATE SET last_ticket = semel_queue.last_ticket
            """, quietLock(quiet));
        RunId waiting = session.one(
                "SELECT run FROM semel_debounce WHERE name = ?", row -> RunId.of(row.getBytes(1)), quiet.name());
        if (waiting == null || waiting.equals(admit.run().id())) {
            return null; // nobody, or itself: applied again after a lost answer
        }
        for (Wish wish : admit.wishes()) {
            // A name that is held, or was, is for the admission to judge.
            if (wish.binding()
                    && session.one(
                                    "SELECT 1 FROM semel_key WHERE ws = ? AND kind = ? AND key = ?",
                                    row -> 1,
                                    wish.name().workspace(),
                                    wish.name().kind().code(),
                                    wish.name().text())
                            != null) {
                return null;
            }
        }
        return waiting;
    }

    /** Whether nobody took the run up yet and its time has not come. */
    public boolean stillWaits(RunId waiting, long now) throws SQLException {
        return session.one("""
            SELECT 1 FROM semel_unfinished_run
            WHERE run = ? AND owner IS NULL AND claim_count = 0 AND cancel_requested = 0 AND due_at > ?
            """, row -> 1, waiting, now) != null;
    }

    /** The trigger's input is the run's newest, and its wait begins again. */
    public Write.Admitted.Absorbed takeIn(Write.Admit admit, RunId waiting, long now) throws SQLException {
        NewRun.Gate.Debounce quiet =
                requireNonNull(requireNonNull(admit.run().gate()).debounce());
        Long created = session.one("SELECT created_at FROM semel_run WHERE run = ?", row -> row.getLong(1), waiting);
        long due = Math.min(now + quiet.quiet(), (created == null ? now : created) + quiet.atMost());
        session.update(
                "UPDATE semel_unfinished_run SET due_at = ?, waiting_for = ? WHERE run = ?", due, waits("debounce", due), waiting);
        session.update(
                "UPDATE semel_run SET input = ? WHERE run = ?", admit.run().input(), waiting);
        String chosen = session.one("SELECT chosen_id FROM semel_run WHERE run = ?", row -> row.getString(1), waiting);
        return new Write.Admitted.Absorbed(now, waiting, chosen, due);
    }

    private void takeName(Wish wish, RunId run, long now) throws SQLException {
        session.update(
                """
                INSERT INTO semel_key (ws, kind, key, run, digest, first_at, expires_at, flags)
                VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (ws, kind, key) DO NOTHING
                """,
                wish.name().workspace(),
                wish.name().kind().code(),
                wish.name().text(),
                run,
                wish.digest(),
                now,
                wish.expiresAt(now),
                wish.flags());
    }

    private static long required(@Nullable Long value) {
        if (value == null) {
            throw new IllegalStateException("a statement that always answers did not");
        }
        return value;
    }
}
