package dev.semel.store.jdbc;

import dev.semel.effect.Ledger;
import dev.semel.run.RunId;
import dev.semel.store.Edit;
import dev.semel.store.Review;
import dev.semel.store.Review.Asked;
import dev.semel.store.Review.Ruled;
import dev.semel.store.Write;
import java.sql.SQLException;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Opens, decides and expires reviews, the questions to users. The lock order is run, effect, review, so that these
 * commands run one after the other.
 */
final class ReviewEdits {
    private static final String ASK = """
        INSERT INTO semel_review (ws, id, run, step, workflow_id, kind, version, effect, reviewer, question, asked_at,
            due_at, next_reminder_at, decided_at, decision, decided_by, note)
        VALUES (?, ?, ?, ?, ?, ?, 1, ?, ?, ?, ?, ?, ?, 0, '', '', '')
        """;

    private static final String ASK_AGAIN = """
        UPDATE semel_review SET kind = ?, version = version + 1, effect = ?, reviewer = ?, question = ?, asked_at = ?,
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

    private final Session session;
    private final Edits edits;

    ReviewEdits(Session session, Edits edits) {
        this.session = session;
        this.edits = edits;
    }

    Object apply(Review<?> review, long now) throws SQLException {
        return switch (review) {
            case Review.Ask ask -> ask(ask, now);
            case Review.Rule rule -> rule(rule, now);
            case Review.Lapse lapse -> lapse(lapse, now);
            case Review.Told told ->
                session.update(SET_REMINDER, told.next(), told.reviewer(), told.workspace(), told.id(), told.nominal()) == 1;
        };
    }

    private Asked ask(Review.Ask ask, long now) throws SQLException {
        Review.Question question = ask.question();
        RunId run = ask.by().run();
        if (!isOwned(ask.by())) {
            return Asked.GONE;
        }
        if (isSettled(ask.workspace(), run, question)) {
            return Asked.SETTLED;
        }
        String id = Review.id(run, question.step());
        Review.Row existing = JdbcReviews.find(session, ask.workspace(), id);
        boolean isOpen = existing != null && existing.standsFor(question);
        if (isOpen || isAskedElsewhere(ask.workspace(), id, question)) {
            return Asked.ASKED;
        }
        long due = question.dueIn() == 0 ? Write.Rest.NEVER : now + question.dueIn();
        if (existing == null) {
            session.update(
                    ASK,
                    ask.workspace(),
                    id,
                    run,
                    question.step(),
                    ask.workflowId(),
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
                    ask.workspace(),
                    id);
        }
        return Asked.ASKED;
    }

    private boolean isOwned(Write.Driver by) throws SQLException {
        return session.one(IS_OWNED, row -> 1, by.run(), by.claim()) != null;
    }

    /**
     * Whether no decision is needed any more: the effect is not in doubt, or a signal with the decision has arrived.
     */
    private boolean isSettled(int ws, RunId run, Review.Question question) throws SQLException {
        if (question.kind() == Review.Kind.DOUBT) {
            session.update(LOCK_EFFECT, ws, question.effect());
            Ledger.Row row = Effects.find(session, new Ledger.Id(ws, question.effect()));
            return row == null || row.state() != Ledger.State.UNKNOWN;
        }
        String signal = question.signal();
        return signal != null && session.one(SIGNAL, row -> 1, run, signal) != null;
    }

    private boolean isAskedElsewhere(int ws, String id, Review.Question question) throws SQLException {
        return !question.effect().isEmpty() && session.one(OF_EFFECT, row -> 1, ws, question.effect(), id) != null;
    }

    private Ruled rule(Review.Rule rule, long now) throws SQLException {
        Review.Row row = JdbcReviews.find(session, rule.workspace(), rule.id());
        if (row == null) {
            return new Ruled.Absent();
        }
        if (edits.isDone(rule.by())) {
            return new Ruled.Done(row); // a retry after a lost response
        }
        boolean open = row.isOpen() && (rule.version() == 0 || rule.version() == row.version());
        if (!open || !isTrue(edits.apply(rule.deed(), now))) {
            Review.Row found = JdbcReviews.find(session, rule.workspace(), rule.id());
            return new Ruled.Lost(found == null ? row : found);
        }
        Review.Decided how =
                new Review.Decided(rule.decision(), rule.by().actor(), rule.by().reason());
        session.update(DECIDE, now, how.decision(), how.by(), how.note(), row.ws(), row.id());
        edits.audit(row.ws(), now, rule.by(), List.of("review." + rule.decision(), row.id()));
        // Read again under the lock of the update: a reminder may have changed it.
        Review.Row decided = JdbcReviews.find(session, row.ws(), row.id());
        return new Ruled.Done(decided == null ? row.decided(now, how) : decided);
    }

    /** Whether a command had its effect. */
    private static boolean isTrue(@Nullable Object outcome) {
        return Boolean.TRUE.equals(outcome) || outcome == Edit.Signalled.DELIVERED;
    }

    /** Closes all open reviews about an effect in doubt that was decided. */
    void settled(Edit.Decide decide, long now) throws SQLException {
        session.update(
                CLOSE_OF_EFFECT,
                now,
                decide.result() == null ? "did_not_happen" : "happened",
                decide.by().actor(),
                decide.by().reason(),
                decide.effect().workspace(),
                decide.effect().digest());
    }

    private Asked lapse(Review.Lapse lapse, long now) throws SQLException {
        if (!isOwned(lapse.by())) {
            return Asked.GONE;
        }
        RunId run = lapse.by().run();
        if (isSettled(lapse.workspace(), run, lapse.question())) {
            return Asked.SETTLED;
        }
        Review.Row row = JdbcReviews.find(
                session, lapse.workspace(), Review.id(run, lapse.question().step()));
        if (row != null && row.isOpen()) {
            session.update(DECIDE, now, Review.TIMED_OUT, "", "", row.ws(), row.id());
        }
        return Asked.ASKED;
    }
}
