package dev.semel.store.postgres;

import dev.semel.run.RunId;
import dev.semel.store.CommitBatch;
import dev.semel.store.FairRunClaimer;
import dev.semel.store.HumanReviewStoreWriteCommand;
import dev.semel.store.KeyedSignalStoreWriteCommand;
import dev.semel.store.NewRun;
import dev.semel.store.StoreWrite;
import dev.semel.store.StoreWriteCommand;
import dev.semel.store.jdbc.JdbcConcurrencyAndRateLimiter;
import dev.semel.store.jdbc.JdbcConcurrencyAndRateLimiter.KeyUse;
import dev.semel.store.jdbc.JdbcSession;
import dev.semel.store.jdbc.WorkflowsWithDueRunsQuery;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/** Queues, rate limits, unfinished runs, each sorted; then keys and ledger rows. One order prevents deadlocks. */
final class PostgresBatchRowLocker {
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
    record LockedRun(@Nullable Long owner, int claimCount, int state, int crashCount, boolean cancelRequested) {
        boolean isOwnedBy(long lease, StoreWrite.RunExecution by) {
            return owner != null && owner == lease && claimCount == by.claim();
        }
    }

    private final JdbcSession session;
    private final long now;
    private final Set<String> newQueues = new TreeSet<>();
    private final Set<String> queues = new TreeSet<>();
    private final Set<String> rates = new TreeSet<>();
    private final Set<String> signalLocks = new TreeSet<>();
    private final List<KeyedSignalStoreWriteCommand.SignalAddress> addresses = new ArrayList<>();
    private final List<StoreWrite.AdmitRun> debounced = new ArrayList<>();
    private final Map<RunId, LockedRun> lockedRuns = new HashMap<>();
    private final Map<RunId, RunId> debounceTargets = new HashMap<>();
    private final Set<RunId> decidedByKey = new HashSet<>();
    private boolean locksRuns;

    PostgresBatchRowLocker(JdbcSession session, long now) {
        this.session = session;
        this.now = now;
    }

    void lockAll(
            CommitBatch batch,
            List<PostgresBatchWriter.IndexedWrite<StoreWrite.AdmitRun>> admits,
            List<RunProgressBatchItem> turns)
            throws SQLException {
        TreeSet<RunId> runs = new TreeSet<>();
        admits.forEach(indexed ->
                addStartConditions(indexed.write(), indexed.write().run().startConditions()));
        for (StoreWrite<?> write : batch.writes()) {
            if (write instanceof StoreWrite.ExecuteCommand<?> change) {
                runs.addAll(runsOf(change.command()));
                addSignalLocks(change.command());
            } else if (write instanceof StoreWrite.ClaimRuns claim && claim.limit() > 0) {
                addDueBeforeQueue(claim, runs);
            }
        }
        List<RunId> ending = turns.stream()
                .filter(RunProgressBatchItem::ends)
                .map(RunProgressBatchItem::run)
                .sorted()
                .toList();
        Set<String> left = ending.isEmpty()
                ? Set.of()
                : new TreeSet<>(
                        ArrayStatement.ofRuns(session, QUEUES_OF_ENDING, ending).list(row -> row.getString(1)));
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
        locksRuns = !endsOnly || !runs.isEmpty();
        if (locksRuns) {
            turns.forEach(turn -> runs.add(turn.run()));
            lockRuns(runs);
        }
        dropStartedTargets();
    }

    /** Whether all runs of owner writes are locked; if not, the batch has only ends without ledger operations. */
    boolean locksRuns() {
        return locksRuns;
    }

    @Nullable
    LockedRun lockedRun(RunId run) {
        return lockedRuns.get(run);
    }

    /** Returns the debounced run that this trigger is merged into, or null. */
    @Nullable
    RunId debounceTarget(StoreWrite.AdmitRun admit) {
        return debounceTargets.get(admit.run().id());
    }

    /** Whether a run uses a key of this debounced trigger: it is a repeat or a conflict and creates no run. */
    boolean isDecidedByKey(StoreWrite.AdmitRun admit) {
        return decidedByKey.contains(admit.run().id());
    }

    /** Deletes queue and rate-limit rows that were inserted for triggers which were not fresh. */
    void deleteUnused() throws SQLException {
        updateByName(UNUSED, newQueues);
        updateByName(UNUSED_RATES, rates);
    }

    /** Deletes the rows that serialize senders of keyed signals and new waits; the lock lasts until the commit. */
    void deleteSignalLocks() throws SQLException {
        updateByName(UNUSED_SIGNAL_LOCKS, signalLocks);
    }

    private void addStartConditions(StoreWrite.AdmitRun admit, NewRun.@Nullable StartConditions conditions) {
        if (conditions == null) {
            return;
        }
        for (NewRun.StartConditions.QueueLimit queueLimit : conditions.queueLimits()) {
            newQueues.add(queueLimit.queue());
            queues.add(queueLimit.queue());
        }
        if (conditions.rateLimit() != null) {
            rates.add(conditions.rateLimit().name());
        }
        if (conditions.debounce() != null) {
            queues.add(JdbcConcurrencyAndRateLimiter.debounceLock(conditions.debounce()));
            debounced.add(admit);
        }
    }

    /** Returns the runs whose rows a command locks. */
    private static List<RunId> runsOf(StoreWriteCommand<?> edit) {
        return switch (edit) {
            case StoreWriteCommand.SendSignal signal -> List.of(signal.run());
            case StoreWriteCommand.DiscardSignal recorded -> List.of(recorded.run());
            case StoreWriteCommand.CancelRun cancel -> List.of(cancel.run());
            case StoreWriteCommand.WakeRuns wake -> wake.runs();
            case StoreWriteCommand.ReturnRun back -> List.of(back.execution().run());
            case StoreWriteCommand.ContinueHeldRun on -> List.of(on.run());
            case StoreWriteCommand.DecideEffect decide -> List.of(decide.run());
            case StoreWriteCommand.IdempotentCommand<?> once -> runsOf(once.command());
            case StoreWriteCommand.AuditedCommand<?> noted -> runsOf(noted.command());
            case StoreWriteCommand.KeyedSignalCommand<?> mail ->
                switch (mail.operation()) {
                    case KeyedSignalStoreWriteCommand.StartListening listen ->
                        List.of(listen.waiter().by().run());
                    case KeyedSignalStoreWriteCommand.StopListening hush ->
                        List.of(hush.waiter().by().run());
                    case KeyedSignalStoreWriteCommand.SendKeyedSignal _,
                            KeyedSignalStoreWriteCommand.DeleteExpiredSignals _ ->
                        List.of(); // the waits are read under the lock
                };
            case StoreWriteCommand.ReviewCommand<?> reviewing -> runsOf(reviewing.operation());
            case StoreWriteCommand.CatalogChange<?> _,
                    StoreWriteCommand.OwnTransaction<?> _,
                    StoreWriteCommand.WakeHeldRuns _ -> List.of();
        };
    }

    private static List<RunId> runsOf(HumanReviewStoreWriteCommand<?> review) {
        return switch (review) {
            case HumanReviewStoreWriteCommand.OpenReview ask -> List.of(ask.by().run());
            case HumanReviewStoreWriteCommand.ExpireReview lapse ->
                List.of(lapse.by().run());
            case HumanReviewStoreWriteCommand.OpenExpiredResend expired -> List.of(expired.run());
            case HumanReviewStoreWriteCommand.DecideReview rule -> runsOf(rule.command());
            case HumanReviewStoreWriteCommand.RecordReminder _ -> List.of();
        };
    }

    /**
     * Returns the outcome of a command whose runs were all finished when the batch locked them; null for any other
     * command. A run that was created since must not be locked now, out of order. A command with an idempotency key is
     * rare and stores its response, so it is executed.
     */
    @Nullable
    Object outcomeIfAbsent(StoreWriteCommand<?> edit) {
        List<RunId> runs = runsOf(edit);
        if (runs.isEmpty() || runs.stream().anyMatch(lockedRuns::containsKey)) {
            return null;
        }
        return switch (edit) {
            case StoreWriteCommand.SendSignal _ -> StoreWriteCommand.SignalResult.GONE;
            case StoreWriteCommand.CancelRun _,
                    StoreWriteCommand.ReturnRun _,
                    StoreWriteCommand.ContinueHeldRun _,
                    StoreWriteCommand.DiscardSignal _ -> false;
            case StoreWriteCommand.WakeRuns _ -> 0;
            case StoreWriteCommand.KeyedSignalCommand<?> _ -> KeyedSignalStoreWriteCommand.ListenResult.GONE;
            case StoreWriteCommand.AuditedCommand<?> noted ->
                outcomeIfAbsent(noted.command()); // nothing was changed, so nothing is audited
            case StoreWriteCommand.DecideEffect _,
                    StoreWriteCommand.ReviewCommand<?> _,
                    StoreWriteCommand.IdempotentCommand<?> _,
                    StoreWriteCommand.WakeHeldRuns _,
                    StoreWriteCommand.CatalogChange<?> _,
                    StoreWriteCommand.OwnTransaction<?> _ -> null;
        };
    }

    /** Runs that are due and enter their last queues: these queues are locked in order, so that no claim starves. */
    private void addDueBeforeQueue(StoreWrite.ClaimRuns claim, Set<RunId> runs) throws SQLException {
        JdbcConcurrencyAndRateLimiter limiter = new JdbcConcurrencyAndRateLimiter(session);
        List<FairRunClaimer.DueWorkflow> workflows = WorkflowsWithDueRunsQuery.list(session, claim, now);
        for (RunId run : limiter.findDueBeforeQueue(workflows, claim.limit(), now)) {
            queues.addAll(limiter.findLaterQueues(run));
            runs.add(run);
        }
    }

    private void addDebouncedRuns(Set<RunId> runs) throws SQLException {
        JdbcConcurrencyAndRateLimiter limiter = new JdbcConcurrencyAndRateLimiter(session);
        Map<String, Optional<RunId>> byName = new HashMap<>();
        for (StoreWrite.AdmitRun admit : debounced) {
            String name = debounceName(admit);
            Optional<RunId> waiting = byName.get(name);
            if (waiting == null) {
                waiting = Optional.ofNullable(limiter.findDebouncedRun(name));
                byName.put(name, waiting);
            }
            KeyUse use = limiter.keyUse(admit, now);
            RunId own = admit.run().id();
            if (use == KeyUse.LIVE && !waiting.equals(Optional.of(own))) {
                decidedByKey.add(own);
            } else if (use == KeyUse.FREE
                    && waiting.isPresent()
                    && !waiting.get().equals(own)) {
                debounceTargets.put(own, waiting.get());
                runs.add(waiting.get());
            }
        }
    }

    private static String debounceName(StoreWrite.AdmitRun admit) {
        NewRun.StartConditions conditions = Objects.requireNonNull(admit.run().startConditions());
        return Objects.requireNonNull(conditions.debounce()).name();
    }

    /** A sender and a new wait lock the same row, so that they run one after the other. */
    private void addSignalLocks(StoreWriteCommand<?> edit) {
        if (edit
                instanceof StoreWriteCommand.KeyedSignalCommand<?>(KeyedSignalStoreWriteCommand.SendKeyedSignal send)) {
            addresses.add(send.to());
            signalLocks.add(send.to().lockName());
        } else if (edit
                instanceof
                StoreWriteCommand.KeyedSignalCommand<?>(KeyedSignalStoreWriteCommand.StartListening listen)) {
            signalLocks.add(listen.to().lockName());
        } else if (edit instanceof StoreWriteCommand.IdempotentCommand<?> once) {
            addSignalLocks(once.command());
        } else if (edit instanceof StoreWriteCommand.AuditedCommand<?> noted) {
            addSignalLocks(noted.command());
        }
    }

    /** Adds the runs that wait now; a wait that ends before our lock on its run is not found afterwards. */
    private void addWaitingRuns(Set<RunId> runs) throws SQLException {
        for (KeyedSignalStoreWriteCommand.SignalAddress to : addresses) {
            runs.addAll(session.queryList(
                    WAITING_RUNS,
                    row -> RunId.of(row.getBytes(1)),
                    to.workspace(),
                    to.name(),
                    to.key(),
                    2 * KeyedSignalStoreWriteCommand.MAX_LISTENERS));
        }
    }

    private void dropStartedTargets() throws SQLException {
        JdbcConcurrencyAndRateLimiter limiter = new JdbcConcurrencyAndRateLimiter(session);
        Set<RunId> started = new HashSet<>();
        for (RunId target : new HashSet<>(debounceTargets.values())) {
            if (!limiter.isStillWaiting(target, now)) {
                started.add(target);
            }
        }
        debounceTargets.values().removeAll(started);
    }

    private void updateByName(String sql, Set<String> sorted) throws SQLException {
        if (!sorted.isEmpty()) {
            new ArrayStatement<>(session, sql, sorted).texts(name -> name).update();
        }
    }

    /** Returns the queued runs that an end may start. If a limit was raised, more may start; they are locked then. */
    private Set<RunId> nextInQueues(Set<String> left, int places) throws SQLException {
        return new ArrayStatement<>(session, NEXT_IN_QUEUE, left)
                .texts(queue -> queue)
                .value(places)
                .runIds();
    }

    private void lockRuns(TreeSet<RunId> runs) throws SQLException {
        ArrayStatement.ofRuns(session, LOCK_RUNS, runs).forEach(row -> {
            long owner = row.getLong(2);
            Long lease = row.wasNull() ? null : owner;
            lockedRuns.put(
                    RunId.of(row.getBytes(1)),
                    new LockedRun(lease, row.getInt(3), row.getInt(4), row.getInt(5), row.getInt(6) == 1));
        });
    }
}
