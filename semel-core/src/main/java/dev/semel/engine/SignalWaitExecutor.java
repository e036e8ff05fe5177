package dev.semel.engine;

import dev.semel.journal.JournalEntry;
import dev.semel.store.DatabaseRows;
import dev.semel.store.HumanReviewStoreWriteCommand;
import dev.semel.store.StoreWrite;
import dev.semel.workflow.ApprovalDecision;
import dev.semel.workflow.ApprovalRequest;
import java.time.Duration;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.JsonNodeFactory;

/** Signals stay in the store until a run takes one. Which one it took, or a timeout, is decided and recorded once. */
final class SignalWaitExecutor {
    /** Prefixes of signals that carry decisions; user signals never begin with #. */
    static final String APPROVAL = "#approval:";

    static final String REVIEW = "#review:";

    private SignalWaitExecutor() {}

    /** Returns the next signal of that name and records it; null after the timeout. */
    static @Nullable JsonNode await(StepJournalMatcher scope, String name, String signal, @Nullable Duration longest) {
        StepJournalMatcher.StepState state = scope.enter(name, JournalEntry.EntryKind.AWAIT);
        JournalEntry.StepResult done = state.done();
        if (done != null) {
            return done.outcome() == JournalEntry.StepOutcome.TIMED_OUT ? null : state.result();
        }
        return next(
                scope,
                state,
                new SignalRequest(signal, startDeadline(scope, state, longest, JournalEntry.EntryKind.AWAIT), null));
    }

    static ApprovalDecision awaitApproval(StepJournalMatcher scope, String name, ApprovalRequest approval) {
        StepJournalMatcher.StepState state = scope.enter(name, JournalEntry.EntryKind.APPROVAL);
        JournalEntry.StepResult done = state.done();
        JsonNode decision;
        if (done != null) {
            decision = done.outcome() == JournalEntry.StepOutcome.TIMED_OUT ? null : state.result();
        } else {
            StepNameValidator.rejectUnstorableReviewer(approval.to(), approval.escalation(), state.path());
            long due = startDeadline(scope, state, approval.timeout(), JournalEntry.EntryKind.APPROVAL);
            if (due == StoreWrite.Suspension.NEVER) {
                recordRequest(scope, state, APPROVAL, 0);
            }
            scope.execution().awaitDurable(); // so that a decision finds the recorded request
            HumanReviewStoreWriteCommand.ReviewQuestion question =
                    HumanReviewOpener.forApproval(approval, state.path());
            HumanReviewOpener.open(scope.execution(), question); // an earlier decision is found below
            decision = next(scope, state, new SignalRequest(APPROVAL + state.path(), due, question));
        }
        if (decision == null) {
            return new ApprovalDecision.TimedOut();
        }
        String by = decision.path("by").asString("");
        String note = decision.path("note").asString("");
        return decision.path("approved").asBoolean()
                ? new ApprovalDecision.Approved(by, note)
                : new ApprovalDecision.Rejected(by, note);
    }

    /** Waits for a decision about this message of an effect. The record of the effect says which one counted. */
    static JsonNode awaitReview(
            StepJournalMatcher scope,
            StepJournalMatcher.StepState state,
            HumanReviewStoreWriteCommand.ReviewQuestion question) {
        String signal = HumanReviewStoreWriteCommand.ReviewQuestion.changeSignal(state.path(), question.content());
        String about = REVIEW + question.content();
        String what = StoredRunWaitReasonWriter.toJson(
                "review", state.path(), StoreWrite.Suspension.NEVER, REVIEW + state.path());
        SignalInbox.SignalSearch search = scope.execution().searchSignals();
        for (boolean requested = ApprovalDecisionSignalCodec.isRequested(state.trace(), about); ; requested = true) {
            scope.checkMayBegin();
            long seen = scope.execution().waits().wakeCount();
            DatabaseRows.UnreadSignal found = search.find(seen, signal);
            if (found != null) {
                return scope.execution().signalInbox().value(found);
            }
            if (!requested) {
                recordRequest(scope, state, about, 1);
                scope.execution().awaitDurable();
            }
            if (!HumanReviewOpener.open(scope.execution(), question)) {
                continue; // a user decided before the review was opened
            }
            scope.await(
                    new WaitingBranchesRunSuspender.BranchWait(StoreWrite.Suspension.NEVER, what, true, false), seen);
        }
    }

    /**
     * @param what an approval, or the review of a message with its digest
     * @param due 0 for an approval without timeout; for an effect a past time, so that it does not count as in doubt
     */
    private static void recordRequest(
            StepJournalMatcher scope, StepJournalMatcher.StepState state, String what, long due) {
        boolean approval = what.equals(APPROVAL);
        if (state.trace() == null || !approval) {
            scope.checkMayBegin();
            long now = scope.execution().storeNow();
            JournalEntry.EntryKind kind = approval ? JournalEntry.EntryKind.APPROVAL : JournalEntry.EntryKind.EFFECT;
            scope.execution()
                    .record(new JournalEntry.WaitStart(state.path(), kind, now, due, what), 64 + what.length());
        }
    }

    /** Returns the end of the wait, fixed when it begins, by the store clock. */
    static long startDeadline(
            StepJournalMatcher scope,
            StepJournalMatcher.StepState state,
            @Nullable Duration longest,
            JournalEntry.EntryKind kind) {
        if (longest == null) {
            return StoreWrite.Suspension.NEVER;
        }
        if (state.trace() != null && state.trace().started() != null) {
            return state.trace().started().due();
        }
        scope.checkMayBegin();
        long now = scope.execution().storeNow();
        long due = MicrosecondConverter.after(now, longest);
        scope.execution().record(new JournalEntry.WaitStart(state.path(), kind, now, due, null), 64);
        return due;
    }

    /** @param question the review; null if the signal does not come from one */
    private record SignalRequest(
            String signal, long due, HumanReviewStoreWriteCommand.@Nullable ReviewQuestion question) {}

    private static @Nullable JsonNode next(
            StepJournalMatcher scope, StepJournalMatcher.StepState state, SignalRequest request) {
        InMemoryRunExecutionState execution = scope.execution();
        String signal = request.signal();
        long due = request.due();
        JournalEntry.EntryKind kind =
                signal.startsWith(APPROVAL) ? JournalEntry.EntryKind.APPROVAL : JournalEntry.EntryKind.AWAIT;
        SignalInbox.SignalSearch search = execution.searchSignals();
        while (true) {
            scope.checkMayBegin();
            long seen = execution.waits().wakeCount();
            DatabaseRows.UnreadSignal found = search.find(seen, signal);
            long now = execution.storeNow();
            if (found != null && !execution.takeSignal(found.id().text())) {
                continue; // another branch took it; there may be more
            }
            if (found != null) {
                return recordTaken(execution, new WaitEnd(state.path(), kind, now), found);
            }
            if (now >= due && request.question() != null && !HumanReviewOpener.expire(execution, request.question())) {
                continue; // a decision came in the last moment, and its user got a confirmation
            }
            if (now >= due) {
                return recordTimeout(execution, new WaitEnd(state.path(), kind, now));
            }
            String reason = kind == JournalEntry.EntryKind.APPROVAL ? "approval" : "signal";
            scope.await(
                    new WaitingBranchesRunSuspender.BranchWait(
                            due, StoredRunWaitReasonWriter.toJson(reason, state.path(), due, signal), true, false),
                    seen);
        }
    }

    record WaitEnd(String path, JournalEntry.EntryKind kind, long at) {}

    static JsonNode recordTaken(InMemoryRunExecutionState execution, WaitEnd over, DatabaseRows.UnreadSignal found) {
        JsonNode value = execution.signalInbox().value(found);
        String id = found.id().text();
        execution.record(
                new JournalEntry.StepResult(
                        over.path(), over.kind(), over.at(), value, JournalEntry.StepOutcome.DONE, 1, id),
                (int) found.bytes());
        execution.awaitDurable();
        execution.signalInbox().discard(found);
        return value.deepCopy();
    }

    static @Nullable JsonNode recordTimeout(InMemoryRunExecutionState execution, WaitEnd over) {
        JsonNode nothing = JsonNodeFactory.instance.nullNode();
        execution.record(
                new JournalEntry.StepResult(
                        over.path(), over.kind(), over.at(), nothing, JournalEntry.StepOutcome.TIMED_OUT, 1, null),
                64);
        execution.awaitDurable();
        return null;
    }
}
