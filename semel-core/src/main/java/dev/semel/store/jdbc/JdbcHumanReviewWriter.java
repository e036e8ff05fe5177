package dev.semel.store.jdbc;

import dev.semel.effect.EffectLedger;
import dev.semel.json.StorableText;
import dev.semel.run.RunId;
import dev.semel.store.HumanReviewStoreWriteCommand;
import dev.semel.store.HumanReviewStoreWriteCommand.DecideReviewResult;
import dev.semel.store.HumanReviewStoreWriteCommand.OpenReviewResult;
import dev.semel.store.StoreWrite;
import dev.semel.store.StoreWriteCommand;
import dev.semel.store.jdbc.run.EffectLedgerRepository;
import dev.semel.store.jdbc.session.JdbcSession;
import java.sql.SQLException;
import org.jspecify.annotations.Nullable;

/** The lock order is run, effect, review, so that these commands run one after the other. */
final class JdbcHumanReviewWriter {
    private static final String ASK = """
        INSERT INTO semel_review (ws, id, run, step, workflow_id, kind, version, effect, reviewer, question, opened_at,
            due_at, next_reminder_at, decided_at, decision, decided_by, note)
        VALUES (?, ?, ?, ?, ?, ?, 1, ?, ?, ?, ?, ?, ?, 0, '', '', '')
        """;

    private static final String ASK_AGAIN = """
        UPDATE semel_review SET kind = ?, version = version + 1, effect = ?, reviewer = ?, question = ?, opened_at = ?,
            due_at = ?, next_reminder_at = ?, decided_at = 0, decision = '', decided_by = '', note = ''
        WHERE ws = ? AND id = ?
        """;

    private static final String DECIDE = """
        UPDATE semel_review SET decided_at = ?, decision = ?, decided_by = ?, note = ? WHERE ws = ? AND id = ?
        """;

    private static final String CLOSE_OF_EFFECT = """
        UPDATE semel_review SET decided_at = ?, decision = ?, decided_by = ?, note = ?
        WHERE ws = ? AND effect = ? AND decided_at = 0
        """;

    private static final String SET_REMINDER = """
        UPDATE semel_review SET next_reminder_at = ?, reviewer = ? WHERE ws = ? AND id = ? AND next_reminder_at = ?
            AND decided_at = 0
        """;

    // The review of a finished run does not count: a run that still needs the decision opens its own review.
    private static final String OF_EFFECT = """
        SELECT 1 FROM semel_review v WHERE v.ws = ? AND v.effect = ? AND v.decided_at = 0 AND v.id <> ?
            AND EXISTS (SELECT 1 FROM semel_unfinished_run w WHERE w.run = v.run)
        LIMIT 1
        """;

    private static final String LOCK_EFFECT =
            "UPDATE semel_effect SET reservation = reservation WHERE ws = ? AND digest = ?";

    private static final String SIGNAL = "SELECT 1 FROM semel_signal WHERE run = ? AND name = ? LIMIT 1";

    private static final String IS_OWNED = """
        SELECT 1 FROM semel_unfinished_run WHERE run = ? AND claim_count = ? AND owner IS NOT NULL
        """;

    private final JdbcSession session;
    private final StoreWriteCommandExecutor edits;

    JdbcHumanReviewWriter(JdbcSession session, StoreWriteCommandExecutor edits) {
        this.session = session;
        this.edits = edits;
    }

    Object apply(HumanReviewStoreWriteCommand<?> review, long now) throws SQLException {
        return switch (review) {
            case HumanReviewStoreWriteCommand.OpenReview ask -> ask(ask, now);
            case HumanReviewStoreWriteCommand.OpenExpiredResend expired -> openExpired(expired, now);
            case HumanReviewStoreWriteCommand.DecideReview rule -> rule(rule, now);
            case HumanReviewStoreWriteCommand.ExpireReview lapse -> lapse(lapse, now);
            case HumanReviewStoreWriteCommand.RecordReminder recordReminder ->
                session.update(
                                SET_REMINDER,
                                recordReminder.next(),
                                recordReminder.reviewer(),
                                recordReminder.workspace(),
                                recordReminder.id(),
                                recordReminder.nominal())
                        == 1;
        };
    }

    private OpenReviewResult ask(HumanReviewStoreWriteCommand.OpenReview ask, long now) throws SQLException {
        HumanReviewStoreWriteCommand.ReviewQuestion question = ask.question();
        RunId run = ask.by().run();
        if (!isOwned(ask.by())) {
            return OpenReviewResult.GONE;
        }
        if (isSettled(ask.workspace(), run, question)) {
            return OpenReviewResult.SETTLED;
        }
        open(ask.workspace(), run, ask.workflowId(), question, now);
        return OpenReviewResult.OPENED;
    }

    private boolean openExpired(HumanReviewStoreWriteCommand.OpenExpiredResend expired, long now) throws SQLException {
        EffectLedger.EffectId effect = expired.effect();
        session.update(LOCK_EFFECT, effect.workspace(), effect.digest());
        EffectLedger.EffectRow row = EffectLedgerRepository.find(session, effect);
        if (row == null
                || row.resendUntil() == 0
                || row.resendUntil() > now
                || !row.holder().run().equals(expired.run())) {
            return false;
        }
        var doubt = new EffectLedger.SettleSend(effect, row.holder(), EffectLedger.EffectState.UNKNOWN, null, true);
        EffectLedger.EffectRow doubtful = EffectLedger.apply(row, doubt, now).row();
        if (doubtful == null) {
            return false;
        }
        EffectLedgerRepository.update(session, doubtful);
        open(effect.workspace(), expired.run(), expired.workflowId(), expired.question(), now);
        return true;
    }

    /** Opens a review unless it is open already. */
    private void open(
            int ws, RunId run, String workflowId, HumanReviewStoreWriteCommand.ReviewQuestion question, long now)
            throws SQLException {
        String id = HumanReviewStoreWriteCommand.id(run, question.step());
        HumanReviewStoreWriteCommand.ReviewRow existing = JdbcHumanReviewQueries.find(session, ws, id);
        boolean isOpen = existing != null && existing.covers(question);
        if (isOpen || isAskedElsewhere(ws, id, question)) {
            return;
        }
        long due = question.dueIn() == 0 ? StoreWrite.Suspension.NEVER : now + question.dueIn();
        if (existing == null) {
            session.update(
                    ASK,
                    ws,
                    id,
                    run,
                    question.step(),
                    workflowId,
                    question.kind().code(),
                    question.effect(),
                    question.reviewer(),
                    question.text(),
                    now,
                    due,
                    now);
        } else {
            session.update(
                    ASK_AGAIN,
                    question.kind().code(),
                    question.effect(),
                    question.reviewer(),
                    question.text(),
                    now,
                    due,
                    now,
                    ws,
                    id);
        }
    }

    private boolean isOwned(StoreWrite.RunExecution by) throws SQLException {
        return session.exists(IS_OWNED, by.run(), by.claim());
    }

    /** The effect is not in doubt, or a signal with the decision has arrived. */
    private boolean isSettled(int ws, RunId run, HumanReviewStoreWriteCommand.ReviewQuestion question)
            throws SQLException {
        if (question.kind() == HumanReviewStoreWriteCommand.ReviewKind.DOUBT) {
            session.update(LOCK_EFFECT, ws, question.effect());
            EffectLedger.EffectRow row =
                    EffectLedgerRepository.find(session, new EffectLedger.EffectId(ws, question.effect()));
            return row == null || row.state() != EffectLedger.EffectState.UNKNOWN;
        }
        String signal = question.decisionSignal();
        return signal != null && session.exists(SIGNAL, run, StorableText.shortenForIndex(signal));
    }

    private boolean isAskedElsewhere(int ws, String id, HumanReviewStoreWriteCommand.ReviewQuestion question)
            throws SQLException {
        return !question.effect().isEmpty() && session.exists(OF_EFFECT, ws, question.effect(), id);
    }

    private DecideReviewResult rule(HumanReviewStoreWriteCommand.DecideReview rule, long now) throws SQLException {
        HumanReviewStoreWriteCommand.ReviewRow row = JdbcHumanReviewQueries.find(session, rule.workspace(), rule.id());
        if (row == null) {
            return new DecideReviewResult.NotFound();
        }
        if (edits.isAudited(rule.by())) {
            return new DecideReviewResult.Done(row); // a retry after a lost response
        }
        boolean open = row.isOpen() && (rule.version() == 0 || rule.version() == row.version());
        if (!open || !isTrue(edits.apply(rule.command(), now))) {
            HumanReviewStoreWriteCommand.ReviewRow found =
                    JdbcHumanReviewQueries.find(session, rule.workspace(), rule.id());
            return new DecideReviewResult.NotOpen(found == null ? row : found);
        }
        HumanReviewStoreWriteCommand.ReviewDecision how = new HumanReviewStoreWriteCommand.ReviewDecision(
                rule.decision(), rule.by().actor(), rule.by().reason());
        session.update(DECIDE, now, how.decision(), how.by(), how.note(), row.ws(), row.id());
        edits.writeAudit(row.ws(), now, rule.by(), "review." + rule.decision(), row.id());
        // Read again under the lock of the update: a reminder may have changed it.
        HumanReviewStoreWriteCommand.ReviewRow decided = JdbcHumanReviewQueries.find(session, row.ws(), row.id());
        return new DecideReviewResult.Done(decided == null ? row.withDecision(now, how) : decided);
    }

    private static boolean isTrue(@Nullable Object outcome) {
        return Boolean.TRUE.equals(outcome) || outcome == StoreWriteCommand.SignalResult.DELIVERED;
    }

    /** Closes all open reviews about an effect in doubt that was decided. */
    void closeReviewsOf(StoreWriteCommand.DecideEffect decide, long now) throws SQLException {
        session.update(
                CLOSE_OF_EFFECT,
                now,
                decide.result() == null ? "did_not_happen" : "happened",
                decide.by().actor(),
                decide.by().reason(),
                decide.effect().workspace(),
                decide.effect().digest());
    }

    private OpenReviewResult lapse(HumanReviewStoreWriteCommand.ExpireReview lapse, long now) throws SQLException {
        if (!isOwned(lapse.by())) {
            return OpenReviewResult.GONE;
        }
        RunId run = lapse.by().run();
        if (isSettled(lapse.workspace(), run, lapse.question())) {
            return OpenReviewResult.SETTLED;
        }
        HumanReviewStoreWriteCommand.ReviewRow row = JdbcHumanReviewQueries.find(
                session,
                lapse.workspace(),
                HumanReviewStoreWriteCommand.id(run, lapse.question().step()));
        if (row != null && row.isOpen()) {
            session.update(DECIDE, now, HumanReviewStoreWriteCommand.TIMED_OUT, "", "", row.ws(), row.id());
        }
        return OpenReviewResult.OPENED;
    }
}
