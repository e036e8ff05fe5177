package dev.semel.engine;

import dev.semel.key.Admission;
import dev.semel.key.Admissions;
import dev.semel.key.Admissions.Held;
import dev.semel.key.Admissions.Standing;
import dev.semel.key.Fingerprint;
import dev.semel.key.Known;
import dev.semel.run.RunState;
import dev.semel.store.Name;
import dev.semel.store.Reads;
import dev.semel.store.StoreFailure;
import dev.semel.store.Wish;
import dev.semel.trigger.Rehearsed;
import dev.semel.trigger.Trigger;
import dev.semel.workflow.Published;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Predicate;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/** Predicts how the admission would decide a trigger, without writing, counting or recording anything. */
public final class Rehearsal {
    private final Readers readers;
    private final Answering responder;

    public Rehearsal(Readers readers, Requests requests, Intake.Versions versions) {
        this.readers = readers;
        this.responder = new Answering(requests, versions, new Counters()); // never read
    }

    /** @param at a time of the store clock; a past time counts as now */
    public Rehearsed of(Trigger trigger, long at) {
        try {
            return decided(trigger, at);
        } catch (StoreFailure e) {
            throw Refusals.unavailable(e);
        }
    }

    private Rehearsed decided(Trigger trigger, long at) {
        Published workflow = trigger.workflow();
        Fingerprint fingerprint = Fingerprint.of(
                workflow.workflowId(),
                trigger.data(),
                workflow.policy(),
                trigger.space().secret());
        List<Wish> claims = Naming.wishes(trigger, fingerprint);
        Case request = new Case(trigger, fingerprint, claims, null);
        List<Name> names = new ArrayList<>();
        claims.forEach(claim -> names.add(claim.name()));
        names.addAll(Intake.earlierNames(request));
        Reads.Found found = readers.names(names);
        long then = Math.max(at, found.now());
        KeyStates states = new KeyStates(
                then,
                failed -> readers.ask(
                        reads -> Line.newest(reads, request.workspace(), failed).known()),
                failed -> responder.goesOn(request, failed));
        Known byKey = null;
        Known byRunId = null;
        Known byPayload = null;
        for (int i = 0; i < names.size(); i++) {
            boolean earlier = i >= claims.size();
            Known live = states.live(found.known().get(i), names.get(i), then > found.now());
            if (live == null || (earlier && !live.workflowId().equals(workflow.workflowId()))) {
                continue;
            }
            if (names.get(i).kind() == Name.Kind.PAYLOAD) {
                byPayload = claims.get(i).binding() ? live : null;
            } else if (names.get(i).kind().isExact()) {
                byRunId = live;
            } else if (byKey == null) {
                byKey = live;
            }
        }
        Admission decided = responder.decide(request, new Held(byKey, byRunId, byPayload));
        boolean fresh = decided instanceof Admission.Fresh;
        long until =
                claims.isEmpty() || !request.remembered() ? 0 : claims.getFirst().expiresAt(then);
        return new Rehearsed(
                decided,
                then,
                fresh ? states.previous : null,
                fresh ? states.why : null,
                states.supposed,
                fresh ? until : 0);
    }

    /** Finds which keys are still in use at a time, and the previous owner of an expired one. */
    private static final class KeyStates {
        private final long then;
        private final UnaryOperator<Known> newest;
        private final Predicate<Known> continuesLineage;
        private @Nullable Known previous;
        private @Nullable Standing why;
        private boolean supposed;

        KeyStates(long then, UnaryOperator<Known> newest, Predicate<Known> continuesLineage) {
            this.then = then;
            this.newest = newest;
            this.continuesLineage = continuesLineage;
        }

        @Nullable
        Known live(@Nullable Known held, Name name, boolean later) {
            if (held == null) {
                return null;
            }
            boolean again = name.kind() != Name.Kind.PAYLOAD && Admissions.standing(held, then) == Standing.FAILED;
            Known known = again ? newest.apply(held) : held; // the newest run of its lineage represents a failed one
            Standing standing = Admissions.standing(known, then);
            boolean unfinished =
                    later && known.state() != RunState.FAILED && !known.state().ended();
            if (standing == Standing.LIVE) {
                supposed |= unfinished && then >= known.expiresAt();
                return known;
            }
            if (again && standing == Standing.FAILED && !continuesLineage.test(held)) {
                return known;
            }
            if (previous == null && name.kind() != Name.Kind.PAYLOAD) {
                previous = held;
                why = standing;
            }
            return null;
        }
    }
}
