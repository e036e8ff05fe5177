package dev.semel.engine;

import dev.semel.journal.JournalEntry;
import dev.semel.json.StrictJson;
import dev.semel.store.ReviewOperation;
import dev.semel.store.StoreWrite;
import dev.semel.store.StoredRows;
import dev.semel.workflow.ApprovalRequest;
import dev.semel.workflow.Decision;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.JsonNodeFactory;

/**
 * Executes the steps of a run that wait for a signal or for a decision of a user.
 * Signals stay in the store until the run takes one. The executing worker decides and records once which one it took,
 * or that the wait timed out.
 */
final class SignalSteps {
    /** Prefixes of signals that carry decisions; user signals never begin with #. */
    static final String APPROVAL = "#approval:";

    static final String REVIEW = "#review:";

    private SignalSteps() {}

    /** Returns the next signal of that name and records it; null after the timeout. */
    static @Nullable JsonNode await(ExecutionScope scope, String name, String signal, @Nullable Duration longest) {
        ExecutionScope.StepState place = scope.enter(name, JournalEntry.EntryKind.AWAIT);
        JournalEntry.StepResult done = place.done();
        if (done != null) {
            return done.outcome() == JournalEntry.StepOutcome.TIMED_OUT ? null : place.result();
        }
        return next(
                scope,
                place,
                new SignalRequest(signal, startDeadline(scope, place, longest, JournalEntry.EntryKind.AWAIT), null));
    }

    static Decision awaitApproval(ExecutionScope scope, String name, ApprovalRequest approval) {
        ExecutionScope.StepState place = scope.enter(name, JournalEntry.EntryKind.APPROVAL);
        JournalEntry.StepResult done = place.done();
        JsonNode decision;
        if (done != null) {
            decision = done.outcome() == JournalEntry.StepOutcome.TIMED_OUT ? null : done.result();
        } else {
            long due = startDeadline(scope, place, approval.timeout(), JournalEntry.EntryKind.APPROVAL);
            if (due == StoreWrite.Suspension.NEVER) {
                recordRequest(scope, place, APPROVAL, 0);
            }
            scope.execution().awaitDurable(); // so that a decision finds the recorded request
            ReviewOperation.ReviewQuestion question = ReviewRequests.forApproval(approval, place.path());
            ReviewRequests.open(scope.execution(), question); // an earlier decision is found below
            decision = next(scope, place, new SignalRequest(APPROVAL + place.path(), due, question));
        }
        if (decision == null) {
            return new Decision.TimedOut();
        }
        String by = decision.path("by").asString("");
        String note = decision.path("note").asString("");
        return decision.path("approved").asBoolean()
                ? new Decision.Approved(by, note)
                : new Decision.Rejected(by, note);
    }

    /** Waits for a decision about this message of an effect. The record of the effect says which one counted. */
    static JsonNode awaitReview(
            ExecutionScope scope, ExecutionScope.StepState place, ReviewOperation.ReviewQuestion question) {
        String signal = ReviewOperation.ReviewQuestion.changeSignal(place.path(), question.content());
        String about = REVIEW + question.content();
        String what = WaitReasonJson.toJson("review", place.path(), StoreWrite.Suspension.NEVER, REVIEW + place.path());
        for (boolean requested = DecisionSignals.isRequested(place.trace(), about); ; requested = true) {
            scope.checkMayBegin();
            long seen = scope.execution().waits().wakeCount();
            StoredRows.SignalRow found = findSignal(scope.execution(), signal);
            if (found != null) {
                return StrictJson.parse(found.value());
            }
            if (!requested) {
                recordRequest(scope, place, about, 1);
                scope.execution().awaitDurable();
            }
            if (!ReviewRequests.open(scope.execution(), question)) {
                continue; // a user decided before the review was opened
            }
            scope.await(new BranchWaitTracker.BranchWait(StoreWrite.Suspension.NEVER, what, true, false), seen);
        }
    }

    /**
     * Records once that the run requests a decision.
     *
     * @param what an approval, or the review of a message with its digest
     * @param due 0 for an approval without timeout; for an effect a past time, so that it does not count as in doubt
     */
    private static void recordRequest(ExecutionScope scope, ExecutionScope.StepState place, String what, long due) {
        boolean approval = what.equals(APPROVAL);
        if (place.trace() == null || !approval) {
            scope.checkMayBegin();
            long now = scope.execution().storeNow();
            JournalEntry.EntryKind kind = approval ? JournalEntry.EntryKind.APPROVAL : JournalEntry.EntryKind.EFFECT;
            scope.execution()
                    .record(new JournalEntry.WaitStart(place.path(), kind, now, due, what), 64 + what.length());
        }
    }

    /** Returns the end of the wait, fixed when it begins, by the store clock. */
    static long startDeadline(
            ExecutionScope scope,
            ExecutionScope.StepState place,
            @Nullable Duration longest,
            JournalEntry.EntryKind kind) {
        if (longest == null) {
            return StoreWrite.Suspension.NEVER;
        }
        if (place.trace() != null && place.trace().started() != null) {
            return place.trace().started().due();
        }
        scope.checkMayBegin();
        long now = scope.execution().storeNow();
        long due = Micros.after(now, longest);
        scope.execution().record(new JournalEntry.WaitStart(place.path(), kind, now, due, null), 64);
        return due;
    }

    /** @param question the review; null if the signal does not come from one */
    private record SignalRequest(String signal, long due, ReviewOperation.@Nullable ReviewQuestion question) {}

    private static @Nullable JsonNode next(
            ExecutionScope scope, ExecutionScope.StepState place, SignalRequest request) {
        Execution execution = scope.execution();
        String signal = request.signal();
        long due = request.due();
        JournalEntry.EntryKind kind =
                signal.startsWith(APPROVAL) ? JournalEntry.EntryKind.APPROVAL : JournalEntry.EntryKind.AWAIT;
        while (true) {
            scope.checkMayBegin();
            long seen = execution.waits().wakeCount();
            StoredRows.SignalRow found = findSignal(execution, signal);
            long now = execution.storeNow();
            if (found != null && !execution.takeSignal(found.id().text())) {
                continue; // another branch took it; there may be more
            }
            if (found != null) {
                return recordTaken(execution, new WaitEnd(place.path(), kind, now), found);
            }
            if (now >= due && request.question() != null && !ReviewRequests.expire(execution, request.question())) {
                continue; // a decision came in the last moment, and its user got a confirmation
            }
            if (now >= due) {
                return recordTimeout(execution, new WaitEnd(place.path(), kind, now));
            }
            String reason = kind == JournalEntry.EntryKind.APPROVAL ? "approval" : "signal";
            scope.await(
                    new BranchWaitTracker.BranchWait(
                            due, WaitReasonJson.toJson(reason, place.path(), due, signal), true, false),
                    seen);
        }
    }

    /** A wait that has ended, and when. */
    record WaitEnd(String path, JournalEntry.EntryKind kind, long at) {}

    /** Records which signal the wait took. */
    static JsonNode recordTaken(Execution execution, WaitEnd over, StoredRows.SignalRow found) {
        JsonNode value = StrictJson.parse(found.value());
        String id = found.id().text();
        execution.record(
                new JournalEntry.StepResult(
                        over.path(), over.kind(), over.at(), value, JournalEntry.StepOutcome.DONE, 1, id),
                found.value().length());
        execution.awaitDurable();
        return value.deepCopy();
    }

    static @Nullable JsonNode recordTimeout(Execution execution, WaitEnd over) {
        JsonNode nothing = JsonNodeFactory.instance.nullNode();
        execution.record(
                new JournalEntry.StepResult(
                        over.path(), over.kind(), over.at(), nothing, JournalEntry.StepOutcome.TIMED_OUT, 1, null),
                64);
        execution.awaitDurable();
        return null;
    }

    /** Returns the oldest signal of the first of these names that has any. */
    static StoredRows.@Nullable SignalRow findSignal(Execution execution, String... names) {
        List<StoredRows.SignalRow> all =
                execution.read(reads -> reads.signals(execution.run().id()));
        execution.noteSignalCount(all.size());
        for (String name : names) {
            for (StoredRows.SignalRow one : all) {
                if (one.name().equals(name) && !execution.isTaken(one.id().text())) {
                    return one;
                }
            }
        }
        return null;
    }
}
