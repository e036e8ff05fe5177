package dev.semel.store;

import dev.semel.effect.EffectLedger;
import dev.semel.json.Sha256;
import dev.semel.run.RunId;
import java.nio.charset.StandardCharsets;
import java.util.HexFormat;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * An operation on reviews: decisions that runs request from users. A review is one row per run and step; opened again
 * after a decision, it gets the next version. Each operation is one transaction.
 */
public sealed interface HumanReviewStoreWriteCommand<T> {
    /** Why a run needs a decision. The codes are stored. */
    enum ReviewKind {
        /** An effect was sent and its outcome is unknown. */
        DOUBT(1),
        /** A message differs from the one that was accepted inside its window. */
        CHANGE(2),
        APPROVAL(3),
        /** A run is held: its code does not match, it crashed its workers, or the store rejected a value. */
        HELD(4);

        private final int code;

        ReviewKind(int code) {
            this.code = code;
        }

        public int code() {
            return code;
        }

        public static ReviewKind of(int code) {
            for (ReviewKind kind : values()) {
                if (kind.code == code) {
                    return kind;
                }
            }
            throw new IllegalArgumentException("no kind of review has the code " + code);
        }
    }

    /** The step of a review about the whole run; no step has this name. */
    String WHOLE_RUN = "#held";

    /** The decision of a review that expired. */
    String TIMED_OUT = "timed_out";

    /** The id of the review of a run and step. It is deterministic. */
    static String id(RunId run, String step) {
        byte[] hash = Sha256.digest(run.bytes(), step.getBytes(StandardCharsets.UTF_8));
        return "rev_" + HexFormat.of().formatHex(hash, 0, 10);
    }

    /**
     * @param version counts how often it was opened; a decision applies to one version
     * @param effect digest of the effect in doubt; empty for none
     * @param reviewer who should decide, e.g. `role:ops`
     * @param question what users see, as JSON text
     * @param dueAt when it should be decided; {@link StoreWrite.Suspension#NEVER} for no deadline
     * @param nextReminderAt when the next reminder is due; {@link StoreWrite.Suspension#NEVER} for none
     * @param decidedAt 0 while it is open
     */
    record ReviewRow(
            int ws,
            String id,
            RunId run,
            String step,
            String workflowId,
            ReviewKind kind,
            int version,
            String effect,
            String reviewer,
            String question,
            long openedAt,
            long dueAt,
            long nextReminderAt,
            long decidedAt,
            String decision,
            String decidedBy,
            String note) {
        public boolean isOpen() {
            return decidedAt == 0;
        }

        /**
         * Whether this open review already covers that question. A question that an ended run left behind yields to one
         * from its code, and a question about one message to one about another.
         */
        public boolean covers(ReviewQuestion other) {
            return isOpen()
                    && kind == other.kind()
                    && (!ReviewQuestion.isLeft(question) || ReviewQuestion.isLeft(other.text()))
                    && ReviewQuestion.content(question).equals(other.content());
        }

        /** The signal that carries the decision; null if another operation carries it. */
        public @Nullable String decisionSignal() {
            return ReviewQuestion.decisionSignal(kind, step, question);
        }

        public ReviewRow withDecision(long at, ReviewDecision how) {
            return new ReviewRow(
                    ws,
                    id,
                    run,
                    step,
                    workflowId,
                    kind,
                    version,
                    effect,
                    reviewer,
                    question,
                    openedAt,
                    dueAt,
                    nextReminderAt,
                    at,
                    how.decision(),
                    how.by(),
                    how.note());
        }
    }

    record ReviewDecision(String decision, String by, String note) {}

    /**
     * @param effect digest of the effect in doubt; empty for none
     * @param dueIn microseconds until it should be decided; 0 for no deadline
     */
    record ReviewQuestion(ReviewKind kind, String step, String effect, String reviewer, String text, long dueIn) {
        /** Member of the question: an ended run left this effect in doubt, so the question of its code is unknown. */
        public static final String LEFT_IN_DOUBT = "left_in_doubt";

        /** Member of the question about a changed message: the digest of the message to send. */
        public static final String CONTENT = "message_digest";

        /** Members of the question about a changed message: the run whose message was accepted, and when. */
        public static final String PREVIOUS_RUN = "previous_run";

        public static final String PREVIOUS_AT = "previous_at";

        /** Members of the question about a changed message: the accepted data and the new data, each JSON as text. */
        public static final String PREVIOUS_DATA = "previous_data";

        public static final String NEW_DATA = "new_data";

        /** Members with data of runs, which retention erases with the payloads. */
        public static final List<String> PAYLOADS = List.of(PREVIOUS_DATA, NEW_DATA, "details");

        private static boolean isLeft(String text) {
            return text.contains("\"" + LEFT_IN_DOUBT + "\":true");
        }

        /** The digest of the message in question; empty for none. */
        public String content() {
            return content(text);
        }

        // Quotes inside JSON values are escaped, so this finds only a member.
        private static String content(String text) {
            String member = "\"" + CONTENT + "\":\"";
            int at = text.indexOf(member);
            return at < 0 ? "" : text.substring(at + member.length(), text.indexOf('"', at + member.length()));
        }

        /**
         * The signal that carries the decision; null if another operation carries it. A decision about a message names
         * that message, so it does not apply to a later one of the same step.
         */
        public @Nullable String decisionSignal() {
            return decisionSignal(kind, step, text);
        }

        private static @Nullable String decisionSignal(ReviewKind kind, String step, String text) {
            return switch (kind) {
                case APPROVAL -> "#approval:" + step;
                case CHANGE -> changeSignal(step, content(text));
                case DOUBT, HELD -> null;
            };
        }

        /** The signal that carries the decision about this message of a step. */
        public static String changeSignal(String step, String content) {
            return content.isEmpty() ? "#review:" + step : "#review:" + step + "#" + content;
        }
    }

    /** Opens a review unless it is open already. An effect that another run has a review for gets no second one. */
    record OpenReview(StoreWrite.RunExecution by, int workspace, String workflowId, ReviewQuestion question)
            implements HumanReviewStoreWriteCommand<OpenReviewResult> {}

    /**
     * Puts an effect in doubt whose safe re-sends have ended, and opens its review; also for a run that has ended. Returns
     * false if its outcome is known, if it is still safe to send again, or if another worker was first.
     */
    record OpenExpiredResend(EffectLedger.EffectId effect, RunId run, String workflowId, ReviewQuestion question)
            implements HumanReviewStoreWriteCommand<Boolean> {}

    enum OpenReviewResult {
        OPENED,
        /** It is already decided; the caller finds the decision. */
        SETTLED,
        /** The run has ended, or another execution owns it. */
        GONE
    }

    /**
     * Decides one version of a review and executes the decision, or does nothing.
     *
     * @param version the version to decide; 0 for the open one
     * @param command carries the decision to its run and returns whether it was done
     */
    record DecideReview(
            int workspace,
            String id,
            int version,
            String decision,
            StoreWriteCommand<?> command,
            StoreWriteCommand.ChangeAuthor by)
            implements HumanReviewStoreWriteCommand<DecideReviewResult> {}

    sealed interface DecideReviewResult {
        record Done(ReviewRow row) implements DecideReviewResult {}

        /** Another user was first, another version is open, or it is no longer open. Nothing was done. */
        record NotOpen(ReviewRow row) implements DecideReviewResult {}

        record NotFound() implements DecideReviewResult {}
    }

    /** Ends a review that waited too long; an earlier decision wins. */
    record ExpireReview(StoreWrite.RunExecution by, int workspace, ReviewQuestion question)
            implements HumanReviewStoreWriteCommand<OpenReviewResult> {}

    /** Returns false if another worker recorded it first. {@code reviewer}: who should decide from now on. */
    record RecordReminder(int workspace, String id, long nominal, long next, String reviewer)
            implements HumanReviewStoreWriteCommand<Boolean> {}

    interface ReviewQueries {
        @Nullable
        ReviewRow review(int ws, String id);

        /** All reviews of a run, oldest first. */
        List<ReviewRow> reviewsOf(RunId run);

        /** Open reviews, next due first. */
        ReviewPage open(OpenReviewFilter filter);

        /** Decided reviews, newest first. */
        List<ReviewRow> decided(int ws, @Nullable ReviewCursor before, int limit);

        /** Of all workspaces. Includes reviews that cannot be decided any more, so that their reminders end. */
        List<ReviewRow> dueReminders(long now, int limit);

        /** Whether the ledger or the run still needs the decision, as in the list of open reviews. */
        boolean isStillOpen(ReviewRow row);

        /** The open review of this effect; the newest if there are several. */
        @Nullable
        ReviewRow openReviewOf(int ws, String effect);
    }

    /** One page of reviews, and the position to continue after; null at the end. */
    record ReviewPage(List<ReviewRow> found, @Nullable ReviewCursor next) {}

    /** Position in a review list; the second time applies to the list of open reviews only. */
    record ReviewCursor(long at, long openedAt, String id) {
        public static final ReviewCursor FRONT = new ReviewCursor(Long.MIN_VALUE, Long.MIN_VALUE, "");

        public static ReviewCursor due(ReviewRow row) {
            return new ReviewCursor(row.dueAt(), row.openedAt(), row.id());
        }

        public static ReviewCursor decided(ReviewRow row) {
            return new ReviewCursor(row.decidedAt(), 0, row.id());
        }
    }

    record OpenReviewFilter(
            int ws,
            @Nullable ReviewKind kind,
            @Nullable String workflowId,
            @Nullable String reviewer,
            ReviewCursor after,
            int limit) {
        /** At most this many rows are scanned for one page. */
        public static final int MAX_SCANNED = 10_000;
    }
}
