package dev.semel.engine.admission;

import dev.semel.admission.RunDeduplicationKey;
import dev.semel.admission.RunDeduplicationKeyClaim;
import dev.semel.admission.RunDeduplicationKeyRecord;
import dev.semel.admission.Trigger;
import dev.semel.admission.TriggerAdmissionDecision;
import dev.semel.admission.TriggerAdmissionRules;
import dev.semel.admission.TriggerAdmissionRules.HeldKeys;
import dev.semel.admission.TriggerAdmissionRules.KeyStatus;
import dev.semel.admission.TriggerPreview;
import dev.semel.definition.WorkflowVersion;
import dev.semel.engine.commit.StoreErrorTranslator;
import dev.semel.engine.commit.StoreQueryThreadPool;
import dev.semel.engine.run.WorkflowCatalog;
import dev.semel.run.RunState;
import dev.semel.store.StoreFailure;
import dev.semel.store.StoreQueries;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Predicate;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/** Predicts how the admission would decide a trigger, without writing, counting or recording anything. */
public final class TriggerAdmissionPredictor {
    private final StoreQueryThreadPool readers;
    private final WorkflowCatalog versions;

    public TriggerAdmissionPredictor(StoreQueryThreadPool readers, WorkflowCatalog versions) {
        this.readers = readers;
        this.versions = versions;
    }

    /** @param at a time of the store clock; a past time counts as now */
    public TriggerPreview predict(Trigger trigger, long at) {
        try {
            return decided(trigger, at);
        } catch (StoreFailure e) {
            throw StoreErrorTranslator.toTriggerRejection(e, true);
        }
    }

    private TriggerPreview decided(Trigger trigger, long at) {
        WorkflowVersion workflow = trigger.workflow();
        TriggerAdmissionRequest request = TriggerAdmissionRequest.of(trigger, null, versions);
        List<RunDeduplicationKeyClaim> claims = request.keyClaims();
        List<RunDeduplicationKey> names = new ArrayList<>();
        claims.forEach(claim -> names.add(claim.key()));
        names.addAll(request.keysOfOtherVersions());
        StoreQueries.KeyLookup found = readers.lookUpKeys(names);
        long then = Math.max(at, found.now());
        KeyStates states = new KeyStates(
                then,
                failed ->
                        readers.read(reads -> RetryAndReplayKeyDerivation.findNewest(reads, request.workspace(), failed)
                                .keyRecord()),
                request::continuesLineage);
        RunDeduplicationKeyRecord byKey = null;
        RunDeduplicationKeyRecord byRunId = null;
        RunDeduplicationKeyRecord byPayload = null;
        for (int i = 0; i < names.size(); i++) {
            boolean earlier = i >= claims.size();
            RunDeduplicationKeyRecord live = states.live(found.keyRecords().get(i), names.get(i), then > found.now());
            if (live == null || (earlier && !live.workflowId().equals(workflow.workflowId()))) {
                continue;
            }
            if (names.get(i).kind() == RunDeduplicationKey.KeyKind.PAYLOAD) {
                byPayload = claims.get(i).binding() ? live : null;
            } else if (names.get(i).kind().namesOneRun()) {
                byRunId = live;
            } else if (byKey == null) {
                byKey = live;
            }
        }
        TriggerAdmissionDecision decided = request.decide(new HeldKeys(byKey, byRunId, byPayload));
        boolean fresh = decided instanceof TriggerAdmissionDecision.Fresh;
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
        private final UnaryOperator<RunDeduplicationKeyRecord> newest;
        private final Predicate<RunDeduplicationKeyRecord> continuesLineage;
        private @Nullable RunDeduplicationKeyRecord previous;
        private @Nullable KeyStatus why;
        private boolean supposed;

        KeyStates(
                long then,
                UnaryOperator<RunDeduplicationKeyRecord> newest,
                Predicate<RunDeduplicationKeyRecord> continuesLineage) {
            this.then = then;
            this.newest = newest;
            this.continuesLineage = continuesLineage;
        }

        @Nullable
        RunDeduplicationKeyRecord live(
                @Nullable RunDeduplicationKeyRecord held, RunDeduplicationKey name, boolean later) {
            if (held == null) {
                return null;
            }
            boolean again = name.kind() != RunDeduplicationKey.KeyKind.PAYLOAD
                    && TriggerAdmissionRules.statusOf(held, then) == KeyStatus.FAILED;
            RunDeduplicationKeyRecord keyRecord =
                    again ? newest.apply(held) : held; // the newest run of its lineage represents a failed one
            KeyStatus status = TriggerAdmissionRules.statusOf(keyRecord, then);
            boolean unfinished = later
                    && keyRecord.state() != RunState.FAILED
                    && !keyRecord.state().hasEnded();
            if (status == KeyStatus.LIVE) {
                supposed |= unfinished && then >= keyRecord.expiresAt();
                return keyRecord;
            }
            if (again && status == KeyStatus.FAILED && !continuesLineage.test(held)) {
                return keyRecord;
            }
            if (previous == null && name.kind() != RunDeduplicationKey.KeyKind.PAYLOAD) {
                previous = held;
                why = status;
            }
            return null;
        }
    }
}
