package dev.semel.engine;

import dev.semel.key.Admission;
import dev.semel.key.Admissions;
import dev.semel.key.Admissions.Asked;
import dev.semel.key.Admissions.Held;
import dev.semel.key.Admissions.Judgement;
import dev.semel.key.Fingerprint;
import dev.semel.key.Known;
import dev.semel.run.RunId;
import dev.semel.run.RunState;
import dev.semel.store.Wish;
import dev.semel.store.Write;
import dev.semel.store.Write.Admitted;
import dev.semel.trigger.Answer;
import dev.semel.trigger.Trigger;
import dev.semel.workflow.Published;
import java.util.List;

/** Turns the outcome of an admission into the trigger result, counts it, and records duplicate requests. */
final class Answering {
    private final Requests requests;
    private final Intake.Versions versions;
    private final Counters counters;

    Answering(Requests requests, Intake.Versions versions, Counters counters) {
        this.requests = requests;
        this.versions = versions;
        this.counters = counters;
    }

    static Held held(Case request, Admitted.Held held) {
        Known byKey = null;
        Known byRunId = null;
        Known byPayload = null;
        for (int i = 0; i < request.ownNames(); i++) {
            switch (request.wishes().get(i).name().kind()) {
                case KEY, WORKFLOW_KEY, DISTINCT_KEY -> byKey = held.known().get(i);
                case RUN, CHILD, EVENT, HOOK, TICK, REPLAY ->
                    byRunId = held.known().get(i);
                case PAYLOAD -> byPayload = held.known().get(i);
            }
        }
        return new Held(byKey, byRunId, byPayload);
    }

    Answer fresh(Case request, RunId id, Admitted.Fresh fresh) {
        Trigger trigger = request.trigger();
        counters.fresh.increment();
        if (trigger.names().key() == null && trigger.names().door() == null) {
            counters.unkeyed.increment();
        }
        Write.Earlier earlier = fresh.earlier();
        if (earlier != null && earlier.expired()) {
            counters.expiredKeyRetries.increment();
        }
        Known duplicateOf = fresh.duplicateOf();
        return new Answer(
                id,
                request.runIdText(id),
                trigger.paused() || fresh.queued() ? RunState.QUEUED : RunState.STARTED,
                trigger.workflow().workflowId(),
                false,
                false,
                List.of(),
                request.remembered() ? request.wishes().getFirst().expiresAt(fresh.now()) : 0,
                earlier == null
                        ? null
                        : earlier.chosenId() != null
                                ? earlier.chosenId()
                                : earlier.run().text(),
                duplicateOf == null ? null : duplicateOf.runIdText());
    }

    /** A debounced run, still waiting to start, has absorbed this trigger. */
    Answer absorbed(Case request, Admitted.Absorbed absorbed) {
        counters.absorbed.increment();
        RunId run = absorbed.run();
        String chosen = absorbed.chosenId();
        return new Answer(
                run,
                chosen == null ? run.text() : chosen,
                RunState.QUEUED,
                request.trigger().workflow().workflowId(),
                false,
                false,
                List.of(),
                request.remembered() ? request.wishes().getFirst().expiresAt(absorbed.now()) : 0,
                null,
                null);
    }

    /** Decides what the keys that are already in use mean for this trigger. */
    Admission decide(Case request, Held held) {
        Trigger trigger = request.trigger();
        String runId =
                trigger.names().runId() == null ? null : trigger.names().runId().text();
        Asked repeated = new Asked(
                trigger.workflow().workflowId(), runId, trigger.strict(), known -> compare(request, known));
        Admission decided = Admissions.decide(repeated, held);
        boolean byDoor = trigger.names().door() != null;
        return byDoor
                        && decided instanceof Admission.Conflict(Admission.Reason reason, Known known, var changed)
                        && reason == Admission.Reason.PAYLOAD
                ? new Admission.Repeat(known, true, changed)
                : decided;
    }

    /**
     * Whether a retry continues the lineage of a failed run.
     * It does so only with the same data: the lineage reuses recorded effects, which do not apply to other data.
     *
     * @param failed the record of the key itself, not of the run that represents it now, which has its own id
     */
    boolean goesOn(Case request, Known failed) {
        boolean named =
                request.trigger().names().key() != null || request.trigger().names().runId() != null;
        return !named
                || decide(request, request.heldBy(failed)) instanceof Admission.Repeat(_, boolean mismatch, _)
                        && !mismatch;
    }

    /** Records the decision and returns the result. A rejection is thrown. */
    Answer answer(Case request, Admission decided, long now) {
        Trigger trigger = request.trigger();
        return switch (decided) {
            case Admission.Repeat repeat -> respondRepeat(request, repeat, now);
            case Admission.Conflict conflict -> {
                counters.conflicts.increment();
                record(request, conflict.known(), new Shown(422, now, conflict.changed()), true);
                throw Refusals.conflict(trigger, conflict);
            }
            case Admission.SamePayload same -> {
                counters.duplicatePayloads.increment();
                record(request, same.known(), new Shown(409, now, List.of()), true);
                throw Refusals.samePayload(trigger, same.known());
            }
            case Admission.Fresh _ -> throw new IllegalStateException("a key that is in use cannot be fresh");
        };
    }

    /**
     * Compares a payload under the version that admitted the key, so that publishing never turns a retry into a
     * conflict.
     */
    private Judgement compare(Case request, Known known) {
        Published current = request.trigger().workflow();
        if (known.version() == current.version()) {
            return new Judgement(current.policy(), request.fingerprint());
        }
        Published admitting = versions.version(known.workflowId(), known.version());
        return new Judgement(
                admitting.policy(),
                Fingerprint.of(
                        known.workflowId(),
                        request.trigger().data(),
                        admitting.policy(),
                        request.trigger().space().secret()));
    }

    private Answer respondRepeat(Case request, Admission.Repeat repeat, long now) {
        Runnable check = request.trigger().checks().repeat();
        if (check != null) {
            check.run(); // first: a rejection leaves no row and does not count as replayed
        }
        counters.replayed.increment();
        if (repeat.mismatch()) {
            counters.mismatched.increment();
        }
        Known known = repeat.known();
        record(request, known, new Shown(200, now, repeat.changed()), false);
        boolean keyed = request.remembered() && known.expiresAt() != Wish.FOREVER;
        return new Answer(
                known.run(),
                known.runIdText(),
                known.state(),
                known.workflowId(),
                true,
                repeat.mismatch(),
                repeat.changed(),
                keyed ? known.expiresAt() : 0,
                null,
                null);
    }

    private record Shown(int statusCode, long at, List<String> changed) {}

    private void record(Case request, Known known, Shown shown, boolean conflict) {
        Requests.Met met = new Requests.Met(
                request.workspace(),
                known.run(),
                shown.at(),
                shown.statusCode(),
                request.trigger().sender().actor(),
                shown.changed().isEmpty() ? null : String.join(", ", shown.changed()),
                request.shownKey());
        if (conflict) {
            requests.conflict(met);
        } else {
            requests.replayed(met);
        }
    }
}
