package dev.semel.store.jdbc;

import static java.util.Objects.requireNonNull;

import dev.semel.admission.RunDeduplicationKeyRecord;
import dev.semel.admission.TriggerAdmissionRules;
import dev.semel.run.RunId;
import dev.semel.run.RunState;
import dev.semel.store.FairRunClaimer;
import dev.semel.store.NewRun;
import dev.semel.store.RunDeduplicationKey;
import dev.semel.store.RunDeduplicationKeyClaim;
import dev.semel.store.StoreQueries;
import dev.semel.store.StoreWrite;
import dev.semel.store.StoreWriteCommand;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * Runs inside the transaction of a write lane. Every change of a queue locks its row first, so that no run waits for a
 * run that has left.
 */
public final class JdbcConcurrencyAndRateLimiter {
    private static final String TICKET = """
        INSERT INTO semel_queue (queue, last_ticket) VALUES (?, 1)
        ON CONFLICT (queue) DO UPDATE SET last_ticket = semel_queue.last_ticket + 1 RETURNING last_ticket
        """;

    private static final String ENTER = """
        INSERT INTO semel_queue_entry (queue, ticket, run, concurrency_limit, started) VALUES (?, ?, ?, ?, ?)
        """;

    private static final String STARTED = "SELECT count(*) FROM semel_queue_entry WHERE queue = ? AND started = 1";

    // A run that enters a queue later, when it is due, has a negative ticket: it is not in the queue yet.
    private static final String FIRST_WAITING = """
        SELECT ticket, run, concurrency_limit FROM semel_queue_entry WHERE queue = ? AND started = 0 AND ticket > 0
        ORDER BY ticket LIMIT 1
        """;

    private static final String LATER_ENTRIES = """
        SELECT queue, ticket, concurrency_limit FROM semel_queue_entry WHERE run = ? AND ticket < 0 ORDER BY queue
        """;

    // A workflow has few such runs: all others that are due and free have places in its queue.
    private static final String DUE_BEFORE_QUEUE = """
        SELECT run FROM (
            SELECT run, queue_state, cancel_requested FROM semel_unfinished_run
            WHERE owner IS NULL AND start_blocked = 0 AND workflow_id = ? AND due_at <= ?
            ORDER BY due_at, run LIMIT ?) due
        WHERE queue_state = 2 AND cancel_requested = 0
        """;

    private static final String SET_LIMIT = """
        UPDATE semel_queue_entry SET concurrency_limit = ? WHERE queue = ? AND started = 0 AND concurrency_limit <> ?
        """;

    private static final String DELETE_EMPTY = """
        DELETE FROM semel_queue WHERE queue = ?
            AND NOT EXISTS (SELECT 1 FROM semel_queue_entry p WHERE p.queue = semel_queue.queue)
        """;

    private static final String LOCK_RUN = "UPDATE semel_unfinished_run SET state = state WHERE run = ?";

    private static final String RETURN_PLACE = """
        UPDATE semel_unfinished_run SET queue_state = 2
        WHERE run = ? AND owner IS NULL AND state = ? AND queue_state = 1 AND start_blocked = 0 AND cancel_requested = 0
            AND due_at > ? AND claim_count = ?
            AND EXISTS (SELECT 1 FROM semel_queue_entry p
                WHERE p.queue = ? AND p.run = semel_unfinished_run.run AND p.started = 1)
        """;

    // A run that has not begun and whose workflow was paused meanwhile stays blocked until the pause ends, unless its
    // cancel was requested.
    private static final String UNBLOCK = """
        UPDATE semel_unfinished_run SET waiting_for = NULL, queue_state = CASE WHEN EXISTS (
                SELECT 1 FROM semel_queue_entry p WHERE p.run = semel_unfinished_run.run AND p.ticket < 0)
            THEN 2 ELSE 1 END, start_blocked = (
            SELECT CASE WHEN f.paused = 1 AND semel_unfinished_run.cancel_requested = 0
                AND semel_unfinished_run.state = 1 THEN 1 ELSE 0 END
                FROM semel_workflow f
            WHERE f.workflow_id = semel_unfinished_run.workflow_id)
        WHERE run = ? AND queue_state = 2 AND NOT EXISTS (
            SELECT 1 FROM semel_queue_entry p
            WHERE p.run = semel_unfinished_run.run AND p.started = 0 AND p.ticket > 0)
        """;

    private static final String WAITING_QUEUES = """
        WITH RECURSIVE called (run) AS (
            SELECT run FROM semel_unfinished_run WHERE run = ?
            UNION ALL
            SELECT l.run FROM called JOIN semel_run_link l ON l.parent = called.run
                JOIN semel_unfinished_run u ON u.run = l.run)
        SELECT DISTINCT e.queue FROM called JOIN semel_queue_entry e ON e.run = called.run AND e.started = 0
        ORDER BY e.queue
        """;

    private static final String KEY_HOLDER = """
        SELECT k.run, r.chosen_id, k.digest, r.field_hashes, r.workflow_id, r.version,
               COALESCE((SELECT e.state FROM semel_finished_run e WHERE e.run = k.run),
                        (SELECT w.state FROM semel_unfinished_run w WHERE w.run = k.run)),
               r.lineage, k.first_at, k.expires_at, k.flags
        FROM semel_key k JOIN semel_run r ON r.run = k.run WHERE k.ws = ? AND k.kind = ? AND k.key = ?
        """;

    // A key in use keeps its run; all binding ones were read before.
    private static final String CLAIM_KEY = """
        INSERT INTO semel_key (ws, kind, key, run, digest, first_at, expires_at, flags)
        VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (ws, kind, key) DO NOTHING
        """;

    private static final String TAKE_KEY = """
        UPDATE semel_key SET run = ?, digest = ?, first_at = ?, expires_at = ?, flags = ?
        WHERE ws = ? AND kind = ? AND key = ?
        """;

    private static final String NEXT_START = """
        INSERT INTO semel_rate_limit (name, next_start_at) VALUES (?, ?)
        ON CONFLICT (name) DO UPDATE SET next_start_at =
            CASE WHEN semel_rate_limit.next_start_at > ? THEN semel_rate_limit.next_start_at ELSE ? END + ?
                RETURNING next_start_at
        """;

    private final JdbcSession session;

    public JdbcConcurrencyAndRateLimiter(JdbcSession session) {
        this.session = session;
    }

    /** Applies the start conditions to a new run, whose state row exists without an owner. True: it may start now. */
    public boolean applyTo(NewRun run, long now) throws SQLException {
        NewRun.StartConditions conditions = run.startConditions();
        if (conditions == null) {
            return true;
        }
        long due = now + conditions.delay();
        String waits = conditions.delay() > 0 ? waits("delay", due) : null;
        if (conditions.rateLimit() != null) {
            long start = nextStart(conditions.rateLimit(), now);
            if (start > due) {
                due = start;
                waits = waits("rate_limit", due);
            }
        }
        NewRun.StartConditions.DebounceWindow debounce = conditions.debounce();
        if (debounce != null) {
            due = Math.max(due, now + Math.min(debounce.quiet(), debounce.maxDelay()));
            waits = waits("debounce", due);
            session.update("""
                INSERT INTO semel_debounce (name, run) VALUES (?, ?)
                ON CONFLICT (name) DO UPDATE SET run = excluded.run
                """, debounce.name(), run.id());
        }
        boolean paused = run.state() == RunState.QUEUED;
        QueuePlaces places = enterQueues(run.id(), conditions.queueLimits(), due <= now && !paused);
        boolean mayStart = places != QueuePlaces.WAITS;
        int gated = conditions.queueLimits().isEmpty() ? 0 : places == QueuePlaces.ALL ? 1 : 2;
        boolean startsNow = mayStart && due <= now && !paused;
        session.update(
                """
                UPDATE semel_unfinished_run SET due_at = ?, waiting_for = ?, queue_state = ?, start_blocked = ?, state = ?
                WHERE run = ?
                """,
                due <= now ? 0 : due,
                mayStart ? waits : "{\"for\":\"queue\"}",
                gated,
                paused || !mayStart ? 1 : 0,
                startsNow ? RunState.STARTED.code() : RunState.QUEUED.code(),
                run.id());
        return startsNow;
    }

    /** Puts a run that was resumed in place into its queues again. Its state row exists without an owner. */
    void requeue(RunId run, List<NewRun.StartConditions.QueueLimit> queueLimits) throws SQLException {
        QueuePlaces places = enterQueues(run, queueLimits, true);
        if (places != QueuePlaces.ALL) {
            waitForPlace(run);
        } else if (!queueLimits.isEmpty()) {
            session.update("UPDATE semel_unfinished_run SET queue_state = 1 WHERE run = ?", run);
        }
    }

    /** Whether a run that an earlier attempt of this admission created still waits for its start conditions. */
    public boolean isStillBlocked(NewRun run) throws SQLException {
        return run.startConditions() != null
                && session.exists(
                        "SELECT 1 FROM semel_unfinished_run WHERE run = ? AND state = ?",
                        run.id(),
                        RunState.QUEUED.code());
    }

    private static String waits(String reason, long due) {
        return "{\"for\":\"" + reason + "\",\"until\":" + due + "}";
    }

    private static List<NewRun.StartConditions.QueueLimit> sorted(List<NewRun.StartConditions.QueueLimit> queueLimits) {
        return queueLimits.stream()
                .sorted(Comparator.comparing(NewRun.StartConditions.QueueLimit::queue))
                .toList();
    }

    private enum QueuePlaces {
        /** A place in each queue, or no queue at all. */
        ALL,
        /** A place in each queue that it has entered; it enters the last ones when it is due. */
        ENTERS_LATER,
        WAITS
    }

    /**
     * A run that cannot start yet takes no place in the queues that it enters last. Otherwise it could wait in another
     * queue for a run that waits for this place.
     */
    private QueuePlaces enterQueues(RunId run, List<NewRun.StartConditions.QueueLimit> queueLimits, boolean due)
            throws SQLException {
        boolean hasPlaces = true;
        for (NewRun.StartConditions.QueueLimit queueLimit : sorted(queueLimits)) {
            hasPlaces &= queueLimit.entersLast() || enterQueue(queueLimit, run);
        }
        boolean entersLater = !due || !hasPlaces;
        boolean later = false;
        for (NewRun.StartConditions.QueueLimit queueLimit : sorted(queueLimits)) {
            if (queueLimit.entersLast() && entersLater) {
                long ticket = required(session.queryOne(TICKET, row -> row.getLong(1), queueLimit.queue()));
                session.update(ENTER, queueLimit.queue(), -ticket, run, queueLimit.maxUnfinished(), 0);
                later = true;
            } else if (queueLimit.entersLast()) {
                hasPlaces &= enterQueue(queueLimit, run);
            }
        }
        return !hasPlaces ? QueuePlaces.WAITS : later ? QueuePlaces.ENTERS_LATER : QueuePlaces.ALL;
    }

    /** A run that returned its place while it waited still waits; any other is queued. */
    private void waitForPlace(RunId run) throws SQLException {
        session.update("""
            UPDATE semel_unfinished_run SET queue_state = 2, start_blocked = 1, waiting_for = ?,
                state = CASE WHEN state = ? THEN state ELSE ? END
            WHERE run = ?
            """, "{\"for\":\"queue\"}", RunState.WAITING.code(), RunState.QUEUED.code(), run);
    }

    /** Its entry waits outside the queue until the run is due. The run rows are locked in order before they change. */
    boolean returnPlace(StoreWriteCommand.ReturnConcurrencyPlace back, long now) throws SQLException {
        Long ticket = session.queryOne(
                "UPDATE semel_queue SET last_ticket = last_ticket + 1 WHERE queue = ? RETURNING last_ticket",
                row -> row.getLong(1),
                back.queue());
        if (ticket == null) {
            return false;
        }
        WaitingEntry next = firstWaiting(back.queue());
        RunId waits = back.by().run();
        TreeSet<RunId> runs = new TreeSet<>(next == null ? List.of(waits) : List.of(waits, next.run()));
        for (RunId run : runs) {
            session.update(LOCK_RUN, run);
        }
        if (session.update(
                        RETURN_PLACE,
                        waits,
                        RunState.WAITING.code(),
                        now,
                        back.by().claim(),
                        back.queue())
                == 0) {
            return false;
        }
        session.update(
                "UPDATE semel_queue_entry SET ticket = ?, started = 0 WHERE queue = ? AND run = ?",
                -ticket,
                back.queue(),
                waits);
        promote(back.queue(), new ArrayList<>(), 1);
        return true;
    }

    /** Returns due runs of these workflows that have not entered their last queues yet, at most so many of each. */
    public List<RunId> findDueBeforeQueue(List<FairRunClaimer.DueWorkflow> workflows, int limit, long now)
            throws SQLException {
        List<RunId> due = new ArrayList<>();
        for (FairRunClaimer.DueWorkflow one : workflows) {
            due.addAll(session.queryList(
                    DUE_BEFORE_QUEUE, row -> RunId.of(row.getBytes(1)), one.workflowId(), now, limit));
        }
        return due;
    }

    /** Returns the queues that a run enters later. */
    public List<String> findLaterQueues(RunId run) throws SQLException {
        return session.queryList(LATER_ENTRIES, row -> row.getString(1), run);
    }

    private record LaterEntry(String queue, long ticket, int cap) {}

    /** Lets a due run enter its last queues; the caller has locked them and the run. It starts or waits for a place. */
    public void enterLastQueues(RunId run) throws SQLException {
        boolean hasPlaces = true;
        for (LaterEntry entry : session.queryList(
                LATER_ENTRIES, row -> new LaterEntry(row.getString(1), row.getLong(2), row.getInt(3)), run)) {
            long ticket = required(session.queryOne(TICKET, row -> row.getLong(1), entry.queue()));
            boolean starts = hasPlace(entry.queue(), entry.cap());
            session.update(
                    "UPDATE semel_queue_entry SET ticket = ?, started = ? WHERE queue = ? AND ticket = ?",
                    ticket,
                    starts ? 1 : 0,
                    entry.queue(),
                    entry.ticket());
            hasPlaces &= starts;
        }
        if (hasPlaces) {
            session.update("UPDATE semel_unfinished_run SET queue_state = 1 WHERE run = ?", run);
        } else {
            waitForPlace(run);
        }
    }

    /** Returns the first runs that have a place in a queue, and the queues for which each of them waits. */
    public List<StoreQueries.QueueHolder> listHolders(String queue, int limit) throws SQLException {
        List<StoreQueries.QueueHolder> holders = session.queryList(
                """
                SELECT run, concurrency_limit FROM semel_queue_entry WHERE queue = ? AND started = 1
                ORDER BY ticket LIMIT ?
                """,
                row -> new StoreQueries.QueueHolder(RunId.of(row.getBytes(1)), row.getInt(2), List.of()),
                queue,
                limit);
        List<StoreQueries.QueueHolder> waiting = new ArrayList<>();
        for (StoreQueries.QueueHolder holder : holders) {
            waiting.add(new StoreQueries.QueueHolder(
                    holder.run(),
                    holder.limit(),
                    session.queryList(WAITING_QUEUES, row -> row.getString(1), holder.run())));
        }
        return waiting;
    }

    /** Changes the limit for the runs that wait in a queue and starts those that may. Returns how many it started. */
    int setLimit(StoreWriteCommand.SetConcurrencyLimit change) throws SQLException {
        session.update("UPDATE semel_queue SET last_ticket = last_ticket WHERE queue = ?", change.queue());
        session.update(SET_LIMIT, change.limit(), change.queue(), change.limit());
        List<RunId> free = new ArrayList<>();
        promote(change.queue(), free, change.most());
        return free.size();
    }

    private boolean hasPlace(String queue, int limit) throws SQLException {
        long started = required(session.queryOne(STARTED, row -> row.getLong(1), queue));
        return started < limit && session.queryOne(FIRST_WAITING, row -> row.getLong(1), queue) == null;
    }

    /** Enters a queue. True: the run may start. The queue's row stays locked until the end of the transaction. */
    private boolean enterQueue(NewRun.StartConditions.QueueLimit queueLimit, RunId run) throws SQLException {
        long ticket = required(session.queryOne(TICKET, row -> row.getLong(1), queueLimit.queue()));
        boolean starts = hasPlace(queueLimit.queue(), queueLimit.maxUnfinished());
        session.update(ENTER, queueLimit.queue(), ticket, run, queueLimit.maxUnfinished(), starts ? 1 : 0);
        return starts;
    }

    private long nextStart(NewRun.StartConditions.RateLimit rate, long now) throws SQLException {
        long interval = rate.interval();
        long next = required(
                session.queryOne(NEXT_START, row -> row.getLong(1), rate.name(), now + interval, now, now, interval));
        // The first `burst` starts are immediate; each later one waits for its interval.
        return next - interval * rate.burst();
    }

    /** Removes finished runs from their queues and promotes the next ones. Returns the runs that may start. */
    public List<RunId> leaveQueues(List<RunId> ended) throws SQLException {
        TreeSet<String> queues = new TreeSet<>();
        for (RunId run : ended) {
            queues.addAll(session.queryList(
                    "SELECT queue FROM semel_queue_entry WHERE run = ?", row -> row.getString(1), run));
        }
        for (String queue : queues) {
            session.update("UPDATE semel_queue SET last_ticket = last_ticket WHERE queue = ?", queue);
        }
        for (RunId run : ended) {
            session.update("DELETE FROM semel_queue_entry WHERE run = ?", run);
        }
        List<RunId> free = new ArrayList<>();
        for (String queue : queues) {
            promote(queue, free, Integer.MAX_VALUE);
        }
        return free;
    }

    /** The first queue entry that has not started. */
    private record WaitingEntry(long ticket, RunId run, int cap) {}

    private @Nullable WaitingEntry firstWaiting(String queue) throws SQLException {
        return session.queryOne(
                FIRST_WAITING,
                row -> new WaitingEntry(row.getLong(1), RunId.of(row.getBytes(2)), row.getInt(3)),
                queue);
    }

    private void promote(String queue, List<RunId> free, int most) throws SQLException {
        long started = required(session.queryOne(STARTED, row -> row.getLong(1), queue));
        for (int i = 0; i < most; i++, started++) {
            WaitingEntry first = firstWaiting(queue);
            if (first == null) {
                if (started == 0) {
                    session.update(DELETE_EMPTY, queue);
                }
                return;
            }
            if (started >= first.cap()) {
                return;
            }
            session.update(
                    "UPDATE semel_queue_entry SET started = 1 WHERE queue = ? AND ticket = ?", queue, first.ticket());
            if (session.update(UNBLOCK, first.run()) == 1) {
                free.add(first.run());
            }
        }
    }

    /** For a store with one writer; null if no debounced run still waits. */
    public StoreWrite.AdmitResult.@Nullable Debounced debounce(StoreWrite.AdmitRun admit, long now)
            throws SQLException {
        RunId waiting = findDebouncedRun(admit, now);
        if (waiting == null || !isStillWaiting(waiting, now)) {
            return null;
        }
        for (RunDeduplicationKeyClaim claim : admit.keyClaims()) {
            claimKey(claim, admit.run().fields(), waiting, now);
        }
        return mergeTrigger(admit, waiting, now);
    }

    /** The name of the queue row that transactions lock while they debounce under a name. */
    public static String debounceLock(NewRun.StartConditions.DebounceWindow debounce) {
        return "debounce:" + debounce.name();
    }

    /** Null if no run waits under the trigger's debounce name, or if a key of the trigger is in use. */
    public @Nullable RunId findDebouncedRun(StoreWrite.AdmitRun admit, long now) throws SQLException {
        NewRun.StartConditions conditions = admit.run().startConditions();
        NewRun.StartConditions.DebounceWindow debounce = conditions == null ? null : conditions.debounce();
        if (debounce == null) {
            return null;
        }
        // The lock keeps two first triggers from both finding no run.
        session.update("""
            INSERT INTO semel_queue (queue, last_ticket) VALUES (?, 0)
            ON CONFLICT (queue) DO UPDATE SET last_ticket = semel_queue.last_ticket
            """, debounceLock(debounce));
        RunId waiting = findDebouncedRun(debounce.name());
        if (waiting == null || waiting.equals(admit.run().id())) {
            return null; // none, or its own run: a retry after a lost response
        }
        return keyUse(admit, now) == KeyUse.FREE ? waiting : null;
    }

    /** Returns the last run under a debounce name; it may have started. */
    public @Nullable RunId findDebouncedRun(String name) throws SQLException {
        return session.queryOne(
                "SELECT run FROM semel_debounce WHERE name = ?", row -> RunId.of(row.getBytes(1)), name);
    }

    public enum KeyUse {
        FREE,
        /** The admission decides: the trigger may continue the lineage of a failed run. */
        FAILED,
        /** The admission decides: the trigger is a repeat or a conflict. */
        LIVE
    }

    /** Whether runs use the binding keys of a trigger. */
    public KeyUse keyUse(StoreWrite.AdmitRun admit, long now) throws SQLException {
        KeyUse most = KeyUse.FREE;
        for (RunDeduplicationKeyClaim claim : admit.keyClaims()) {
            KeyUse use = claim.binding() ? keyUse(claim.key(), now) : KeyUse.FREE;
            most = use.compareTo(most) > 0 ? use : most;
        }
        return most;
    }

    private KeyUse keyUse(RunDeduplicationKey key, long now) throws SQLException {
        RunDeduplicationKeyRecord holder = session.queryOne(
                KEY_HOLDER,
                row -> RowMappers.mapKeyRecord(row, 1),
                key.workspace(),
                key.kind().code(),
                key.text());
        if (holder == null) {
            return KeyUse.FREE;
        }
        return switch (TriggerAdmissionRules.statusOf(holder, now)) {
            case EXPIRED, RELEASED -> KeyUse.FREE;
            case FAILED -> KeyUse.FAILED;
            case LIVE -> KeyUse.LIVE;
        };
    }

    /** Whether no worker has claimed the run and it is not due yet. */
    public boolean isStillWaiting(RunId waiting, long now) throws SQLException {
        return session.exists("""
            SELECT 1 FROM semel_unfinished_run
            WHERE run = ? AND owner IS NULL AND claim_count = 0 AND cancel_requested = 0 AND due_at > ?
            """, waiting, now);
    }

    /** Replaces the input of the waiting run by the trigger's input and restarts its wait. */
    public StoreWrite.AdmitResult.Debounced mergeTrigger(StoreWrite.AdmitRun admit, RunId waiting, long now)
            throws SQLException {
        NewRun.StartConditions.DebounceWindow debounce =
                requireNonNull(requireNonNull(admit.run().startConditions()).debounce());
        Long created =
                session.queryOne("SELECT created_at FROM semel_run WHERE run = ?", row -> row.getLong(1), waiting);
        long due = Math.min(now + debounce.quiet(), (created == null ? now : created) + debounce.maxDelay());
        session.update(
                "UPDATE semel_unfinished_run SET due_at = ?, waiting_for = ? WHERE run = ?",
                due,
                waits("debounce", due),
                waiting);
        session.update(
                "UPDATE semel_run SET input = ? WHERE run = ?", admit.run().input(), waiting);
        String chosen =
                session.queryOne("SELECT chosen_id FROM semel_run WHERE run = ?", row -> row.getString(1), waiting);
        return new StoreWrite.AdmitResult.Debounced(now, waiting, chosen, due);
    }

    private void claimKey(RunDeduplicationKeyClaim claim, byte[] fields, RunId run, long now) throws SQLException {
        RunDeduplicationKey key = claim.key();
        byte[] digest = DebouncedKeyDigest.join(claim.digest(), fields);
        boolean inserted = session.update(
                        CLAIM_KEY,
                        key.workspace(),
                        key.kind().code(),
                        key.text(),
                        run,
                        digest,
                        now,
                        claim.expiresAt(now),
                        claim.flags())
                == 1;
        if (!inserted && claim.binding()) {
            session.update(
                    TAKE_KEY,
                    run,
                    digest,
                    now,
                    claim.expiresAt(now),
                    claim.flags(),
                    key.workspace(),
                    key.kind().code(),
                    key.text());
        }
    }

    private static long required(@Nullable Long value) {
        if (value == null) {
            throw new IllegalStateException("A statement returned no row, although it must return one");
        }
        return value;
    }
}
