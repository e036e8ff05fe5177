package dev.semel.engine;

import dev.semel.admission.Admission;
import dev.semel.admission.AdmissionRules;
import dev.semel.admission.AdmissionRules.HeldKeys;
import dev.semel.admission.AdmissionRules.KeyStatus;
import dev.semel.admission.Fingerprint;
import dev.semel.admission.KeyRecord;
import dev.semel.workflow.RunState;
import dev.semel.store.UniqueKey;
import dev.semel.store.StoreQueries;
import dev.semel.store.StoreFailure;
import dev.semel.store.KeyClaim;
import dev.semel.trigger.TriggerPreview;
import dev.semel.trigger.Trigger;
import dev.semel.definition.WorkflowVersion;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Predicate;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/** Predicts how the admission would decide a trigger, without writing, counting or recording anything. */
public final class AdmissionDryRun {
    private final StoreReadPool readers;
    private final AdmissionResponder responder;

    public AdmissionDryRun(StoreReadPool readers, RequestRecorder requests, TriggerAdmission.VersionLookup versions) {
        this.readers = readers;
        this.responder = new AdmissionResponder(requests, versions, new EngineCounters()); // never read
    }

    /** @param at a time of the store clock; a past time counts as now */
    public TriggerPreview predict(Trigger trigger, long at) {
        try {
            return decided(trigger, at);
        } catch (StoreFailure e) {
            throw AdmissionErrors.unavailable(e);
        }
    }

    private TriggerPreview decided(Trigger trigger, long at) {
        WorkflowVersion workflow = trigger.workflow();
        Fingerprint fingerprint = Fingerprint.of(
                workflow.workflowId(),
                trigger.data(),
                workflow.policy(),
                trigger.workspace().secret());
        List<KeyClaim> claims = KeyDerivation.keyClaims(trigger, fingerprint);
        AdmissionRequest request = new AdmissionRequest(trigger, fingerprint, claims, null);
        List<UniqueKey> names = new ArrayList<>();
        claims.forEach(claim -> names.add(claim.key()));
        names.addAll(TriggerAdmission.keysOfOtherVersions(request));
        StoreQueries.KeyLookup found = readers.lookUpKeys(names);
        long then = Math.max(at, found.now());
        KeyStates states = new KeyStates(
                then,
                failed -> readers.read(
                        reads -> Lineage.findNewest(reads, request.workspace(), failed).keyRecord()),
                failed -> responder.continuesLineage(request, failed));
        KeyRecord byKey = null;
        KeyRecord byRunId = null;
        KeyRecord byPayload = null;
        for (int i = 0; i < names.size(); i++) {
            boolean earlier = i >= claims.size();
            KeyRecord live = states.live(found.keyRecords().get(i), names.get(i), then > found.now());
            if (live == null || (earlier && !live.workflowId().equals(workflow.workflowId()))) {
                continue;
            }
            if (names.get(i).kind() == UniqueKey.KeyKind.PAYLOAD) {
                byPayload = claims.get(i).binding() ? live : null;
            } else if (names.get(i).kind().namesOneRun()) {
                byRunId = live;
            } else if (byKey == null) {
                byKey = live;
            }
        }
        Admission decided = responder.decide(request, new HeldKeys(byKey, byRunId, byPayload));
        boolean fresh = decided instanceof Admission.Fresh;
        long until =
                claims.isEmpty() || !request.hasKey() ? 0 : claims.getFirst().expiresAt(then);
        return new TriggerPreview(
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
        private final UnaryOperator<KeyRecord> newest;
        private final Predicate<KeyRecord> continuesLineage;
        private @Nullable KeyRecord previous;
        private @Nullable KeyStatus why;
        private boolean supposed;

        KeyStates(long then, UnaryOperator<KeyRecord> newest, Predicate<KeyRecord> continuesLineage) {
            this.then = then;
            this.newest = newest;
            this.continuesLineage = continuesLineage;
        }

        @Nullable
        KeyRecord live(@Nullable KeyRecord held, UniqueKey name, boolean later) {
            if (held == null) {
                return null;
            }
            boolean again = name.kind() != UniqueKey.KeyKind.PAYLOAD && AdmissionRules.statusOf(held, then) == KeyStatus.FAILED;
            KeyRecord known = again ? newest.apply(held) : held; // the newest run of its lineage represents a failed one
            KeyStatus standing = AdmissionRules.statusOf(known, then);
            boolean unfinished =
                    later && known.state() != RunState.FAILED && !known.state().hasEnded();
            if (standing == KeyStatus.LIVE) {
                supposed |= unfinished && then >= known.expiresAt();
                return known;
            }
            if (again && standing == KeyStatus.FAILED && !continuesLineage.test(held)) {
                return known;
            }
            if (previous == null && name.kind() != UniqueKey.KeyKind.PAYLOAD) {
                previous = held;
                why = standing;
            }
            return null;
        }
    }
}
