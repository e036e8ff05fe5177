package dev.semel.store.jdbc;

import dev.semel.effect.EffectLedger;
import dev.semel.run.RunId;
import dev.semel.run.RunState;
import dev.semel.store.MetricUpdateCollector;
import dev.semel.store.NewRun;
import dev.semel.store.RunDeduplicationKey;
import dev.semel.store.RunDeduplicationKeyClaim;
import dev.semel.store.StoreWriteCommand;
import java.sql.SQLException;
import java.util.List;

/** Locks queues, run, result and keys in lock order before the first change: a rejection leaves nothing behind. */
final class FailedRunResumer {
    private static final String LOCK_QUEUE = """
        INSERT INTO semel_queue (queue, last_ticket) VALUES (?, 0)
        ON CONFLICT (queue) DO UPDATE SET last_ticket = semel_queue.last_ticket
        """;

    private static final String UNUSED_QUEUE = "DELETE FROM semel_queue WHERE queue = ? AND last_ticket = 0";

    // The run row before its result, as retention does.
    private static final String LOCK_RUN = "UPDATE semel_run SET version = version WHERE run = ? AND ws = ?";

    private static final String LOCK_RESULT = """
        UPDATE semel_finished_run SET state = state WHERE run = ? AND state = ? AND ended_at = ?
        """;

    private static final String KEYS_FREED_BY_FAILURE = """
        SELECT ws, kind, key FROM semel_key WHERE run = ? AND (flags & 2) = 2 ORDER BY ws, kind, key
        """;

    private static final String LOCK_KEY = """
        UPDATE semel_key SET flags = flags WHERE ws = ? AND kind = ? AND key = ? AND run = ?
        """;

    // A trigger that saw the failure compares the expiry when it takes the key over: it finds another one and reads
    // again.
    private static final String HOLD_KEY = """
        UPDATE semel_key SET expires_at = expires_at + 1 WHERE ws = ? AND kind = ? AND key = ? AND run = ?
        """;

    private static final String REPLAYED = "SELECT 1 FROM semel_run_link WHERE replay_of = ? LIMIT 1";

    private static final String RUN_AGAIN = """
        SELECT 1 FROM semel_run n
        WHERE n.lineage = (SELECT r.lineage FROM semel_run r WHERE r.run = ?) AND n.lineage <> n.run
            AND n.previous_run = ?
        LIMIT 1
        """;

    private static final String CLAIM_KEY = """
        INSERT INTO semel_key (ws, kind, key, run, digest, first_at, expires_at, flags)
        VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (ws, kind, key) DO NOTHING
        """;

    private static final String JOURNAL = """
        INSERT INTO semel_journal (run, seq, at, entries) VALUES (?, ?, ?, ?) ON CONFLICT (run, seq) DO NOTHING
        """;

    private static final String DELETE_RESULT = "DELETE FROM semel_finished_run WHERE run = ?";

    // The run registers its signal waits again when it reaches them; a signal may have arrived since.
    private static final String DELETE_WAITS = "DELETE FROM semel_signal_wait WHERE run = ?";

    private static final String INSERT_STATE = """
        INSERT INTO semel_unfinished_run (run, workflow_id, owner, claim_count, state, start_blocked, started_at,
            unread_signals, unread_bytes)
        SELECT r.run, r.workflow_id, NULL, ?, CASE WHEN f.paused = 1 THEN ? ELSE ? END, f.paused,
            COALESCE((SELECT NULLIF(e.started_at, 0) FROM semel_finished_run e WHERE e.run = r.run), r.created_at),
            (SELECT count(*) FROM semel_signal s WHERE s.run = r.run AND octet_length(s.value) > 0),
            (SELECT COALESCE(sum(octet_length(s.value)), 0) FROM semel_signal s WHERE s.run = r.run)
        FROM semel_run r JOIN semel_workflow f ON f.workflow_id = r.workflow_id WHERE r.run = ?
        """;

    private static final String LOCK_EFFECT =
            "UPDATE semel_effect SET reservation = reservation WHERE ws = ? AND digest = ?";

    private final JdbcSession session;
    private final StoreWriteCommandExecutor edits;
    private final MetricUpdateCollector counted;

    FailedRunResumer(JdbcSession session, StoreWriteCommandExecutor edits, MetricUpdateCollector counted) {
        this.session = session;
        this.edits = edits;
        this.counted = counted;
    }

    StoreWriteCommand.ResumeResult resume(StoreWriteCommand.ResumeFailedRun resume, long now) throws SQLException {
        if (edits.isAudited(resume.by())) {
            return StoreWriteCommand.ResumeResult.DONE;
        }
        for (NewRun.StartConditions.QueueLimit queueLimit : resume.queueLimits()) {
            session.update(LOCK_QUEUE, queueLimit.queue());
        }
        StoreWriteCommand.ResumeResult outcome = outcome(resume, now);
        if (outcome == StoreWriteCommand.ResumeResult.DONE) {
            apply(resume, now);
        }
        for (NewRun.StartConditions.QueueLimit queueLimit : resume.queueLimits()) {
            session.update(UNUSED_QUEUE, queueLimit.queue());
        }
        return outcome;
    }

    /** Claims the key that makes this the only continuation of the failed run, if nothing prevents it. */
    private StoreWriteCommand.ResumeResult outcome(StoreWriteCommand.ResumeFailedRun resume, long now)
            throws SQLException {
        RunId run = resume.run();
        boolean found = session.update(LOCK_RUN, run, resume.workspace()) == 1
                && session.update(LOCK_RESULT, run, RunState.FAILED.code(), resume.endedAt()) == 1;
        if (!found) {
            return StoreWriteCommand.ResumeResult.MOVED;
        }
        List<RunDeduplicationKey> names = names(run);
        for (RunDeduplicationKey name : names) {
            session.update(LOCK_KEY, name.workspace(), name.kind().code(), name.text(), run);
        }
        boolean followed = session.exists(REPLAYED, run) || session.exists(RUN_AGAIN, run, run) || !follow(resume, now);
        if (followed) {
            return StoreWriteCommand.ResumeResult.FOLLOWED;
        }
        for (RunDeduplicationKey name : names) {
            session.update(HOLD_KEY, name.workspace(), name.kind().code(), name.text(), run);
        }
        return StoreWriteCommand.ResumeResult.DONE;
    }

    private List<RunDeduplicationKey> names(RunId run) throws SQLException {
        return session.queryList(
                KEYS_FREED_BY_FAILURE,
                row -> new RunDeduplicationKey(
                        row.getInt(1), RunDeduplicationKey.KeyKind.of(row.getInt(2)), row.getString(3)),
                run);
    }

    private boolean follow(StoreWriteCommand.ResumeFailedRun resume, long now) throws SQLException {
        RunDeduplicationKeyClaim claim = resume.followClaim();
        RunDeduplicationKey name = claim.key();
        return session.update(
                        CLAIM_KEY,
                        name.workspace(),
                        name.kind().code(),
                        name.text(),
                        resume.run(),
                        claim.digest(),
                        now,
                        claim.expiresAt(now),
                        claim.flags())
                == 1;
    }

    private void apply(StoreWriteCommand.ResumeFailedRun resume, long now) throws SQLException {
        RunId run = resume.run();
        session.update(JOURNAL, run, resume.seq(), now, resume.entries());
        session.update(DELETE_WAITS, run);
        session.update(INSERT_STATE, resume.firstClaim(), RunState.QUEUED.code(), RunState.RUNNING.code(), run);
        session.update(DELETE_RESULT, run);
        new JdbcConcurrencyAndRateLimiter(session).requeue(run, resume.queueLimits());
        for (EffectLedger.LedgerOperation op : resume.ops()) {
            session.update(LOCK_EFFECT, op.id().workspace(), op.id().digest());
            EffectLedgerRepository.apply(session, op, now, counted);
        }
        edits.writeAudit(resume.workspace(), now, resume.by(), "run.resume", run.text());
    }
}
