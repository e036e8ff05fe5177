package dev.semel.engine;

import dev.semel.journal.Entry;
import dev.semel.json.Json;
import dev.semel.store.Review;
import dev.semel.store.Rows;
import dev.semel.store.Write;
import dev.semel.workflow.Approval;
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
final class Signals {
    /** Prefixes of signals that carry decisions; user signals never begin with #. */
    static final String APPROVAL = "#approval:";

    static final String REVIEW = "#review:";

    private Signals() {}

    /** Returns the next signal of that name and records it; null after the timeout. */
    static @Nullable JsonNode await(Scope scope, String name, String signal, @Nullable Duration longest) {
        Scope.Place place = scope.enter(name, Entry.Kind.AWAIT);
        Entry.Done done = place.done();
        if (done != null) {
            return done.how() == Entry.How.TIMED_OUT ? null : place.result();
        }
        return next(scope, place, new SignalRequest(signal, due(scope, place, longest, Entry.Kind.AWAIT), null));
    }

    static Decision approval(Scope scope, String name, Approval approval) {
        Scope.Place place = scope.enter(name, Entry.Kind.APPROVAL);
        Entry.Done done = place.done();
        JsonNode decision;
        if (done != null) {
            decision = done.how() == Entry.How.TIMED_OUT ? null : done.result();
        } else {
            long due = due(scope, place, approval.timeout(), Entry.Kind.APPROVAL);
            if (due == Write.Rest.NEVER) {
                recordRequest(scope, place, APPROVAL, 0);
            }
            scope.execution().durable(); // so that a decision finds the recorded request
            Review.Question question = Inquiry.approval(approval, place.path());
            Inquiry.ask(scope.execution(), question); // an earlier decision is found below
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
    static JsonNode review(Scope scope, Scope.Place place, Review.Question question) {
        String signal = Review.Question.changed(place.path(), question.content());
        String about = REVIEW + question.content();
        String what = Waiting.text("review", place.path(), Write.Rest.NEVER, REVIEW + place.path());
        for (boolean requested = Deciding.isAsked(place.trace(), about); ; requested = true) {
            scope.mayBegin();
            long seen = scope.execution().waits().wakes();
            Rows.Signal found = find(scope.execution(), signal);
            if (found != null) {
                return Json.parse(found.value());
            }
            if (!requested) {
                recordRequest(scope, place, about, 1);
                scope.execution().durable();
            }
            if (!Inquiry.ask(scope.execution(), question)) {
                continue; // a user decided before the review was opened
            }
            scope.await(new Waits.Wait(Write.Rest.NEVER, what, true, false), seen);
        }
    }

    /**
     * Records once that the run requests a decision.
     *
     * @param what an approval, or the review of a message with its digest
     * @param due 0 for an approval without timeout; for an effect a past time, so that it does not count as in doubt
     */
    private static void recordRequest(Scope scope, Scope.Place place, String what, long due) {
        boolean approval = what.equals(APPROVAL);
        if (place.trace() == null || !approval) {
            scope.mayBegin();
            long now = scope.execution().storeNow();
            Entry.Kind kind = approval ? Entry.Kind.APPROVAL : Entry.Kind.EFFECT;
            scope.execution().record(new Entry.Begun(place.path(), kind, now, due, what), 64 + what.length());
        }
    }

    /** Returns the end of the wait, fixed when it begins, by the store clock. */
    static long due(Scope scope, Scope.Place place, @Nullable Duration longest, Entry.Kind kind) {
        if (longest == null) {
            return Write.Rest.NEVER;
        }
        if (place.trace() != null && place.trace().begun() != null) {
            return place.trace().begun().due();
        }
        scope.mayBegin();
        long now = scope.execution().storeNow();
        long due = Micros.after(now, longest);
        scope.execution().record(new Entry.Begun(place.path(), kind, now, due, null), 64);
        return due;
    }

    /** @param question the review; null if the signal does not come from one */
    private record SignalRequest(String signal, long due, Review.@Nullable Question question) {}

    private static @Nullable JsonNode next(Scope scope, Scope.Place place, SignalRequest request) {
        Execution execution = scope.execution();
        String signal = request.signal();
        long due = request.due();
        Entry.Kind kind = signal.startsWith(APPROVAL) ? Entry.Kind.APPROVAL : Entry.Kind.AWAIT;
        while (true) {
            scope.mayBegin();
            long seen = execution.waits().wakes();
            Rows.Signal found = find(execution, signal);
            long now = execution.storeNow();
            if (found != null && !execution.takeSignal(found.id().text())) {
                continue; // another branch took it; there may be more
            }
            if (found != null) {
                return taken(execution, new Over(place.path(), kind, now), found);
            }
            if (now >= due && request.question() != null && !Inquiry.lapse(execution, request.question())) {
                continue; // a decision came in the last moment, and its user got a confirmation
            }
            if (now >= due) {
                return timedOut(execution, new Over(place.path(), kind, now));
            }
            String reason = kind == Entry.Kind.APPROVAL ? "approval" : "signal";
            scope.await(new Waits.Wait(due, Waiting.text(reason, place.path(), due, signal), true, false), seen);
        }
    }

    /** A wait that has ended, and when. */
    record Over(String path, Entry.Kind kind, long at) {}

    /** Records which signal the wait took. */
    static JsonNode taken(Execution execution, Over over, Rows.Signal found) {
        JsonNode value = Json.parse(found.value());
        String id = found.id().text();
        execution.record(
                new Entry.Done(over.path(), over.kind(), over.at(), value, Entry.How.DONE, 1, id),
                found.value().length());
        execution.durable();
        return value.deepCopy();
    }

    static @Nullable JsonNode timedOut(Execution execution, Over over) {
        JsonNode nothing = JsonNodeFactory.instance.nullNode();
        execution.record(
                new Entry.Done(over.path(), over.kind(), over.at(), nothing, Entry.How.TIMED_OUT, 1, null), 64);
        execution.durable();
        return null;
    }

    /** Returns the oldest signal of the first of these names that has any. */
    static Rows.@Nullable Signal find(Execution execution, String... names) {
        List<Rows.Signal> all =
                execution.ask(reads -> reads.signals(execution.run().id()));
        execution.sawSignals(all.size());
        for (String name : names) {
            for (Rows.Signal one : all) {
                if (one.name().equals(name) && !execution.isTaken(one.id().text())) {
                    return one;
                }
            }
        }
        return null;
    }
}
