package dev.semel.engine.admission;

import dev.semel.admission.Trigger;
import dev.semel.admission.TriggerAdmissionDecision;
import dev.semel.admission.TriggerDeduplicationKeyDerivation;
import dev.semel.admission.TriggerQuota;
import dev.semel.admission.TriggerRejectionErrorFactory;
import dev.semel.admission.TriggerResult;
import dev.semel.admission.VersionRolloutBucket;
import dev.semel.definition.WorkflowCatalogEntry;
import dev.semel.definition.WorkflowVersion;
import dev.semel.engine.ClockAndRandomSource;
import dev.semel.engine.admission.TriggerAdmissionController.Outcome;
import dev.semel.engine.commit.StoreErrorTranslator;
import dev.semel.engine.run.WorkflowCatalog;
import dev.semel.error.SemelException;
import dev.semel.run.RunId;
import dev.semel.store.StoreFailure;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * The entrance of every trigger, from any source, in the order of CONTRACT 2.4: existing key, quota, input, admission.
 * If the workflow changes meanwhile, the trigger is built again for its new state.
 */
public final class TriggerIngress {
    /** Bound on attempts because the workflow changed meanwhile; no one publishes that often. */
    private static final int MOST_ATTEMPTS = 32;

    private final TriggerAdmissionController admission;
    private final WorkflowCatalog catalog;
    private final ClockAndRandomSource environment;

    public TriggerIngress(
            TriggerAdmissionController admission, WorkflowCatalog catalog, ClockAndRandomSource environment) {
        this.admission = admission;
        this.catalog = catalog;
        this.environment = environment;
    }

    /**
     * A rejection is a {@link SemelException}.
     *
     * @param first the workflow as it was looked up
     * @param source builds the trigger for a state of the workflow, or rejects it whether it is fresh or not
     */
    public TriggerResult submit(
            int workspace,
            WorkflowCatalogEntry first,
            TriggerQuota quota,
            Function<WorkflowCatalogEntry, Trigger> source) {
        Trigger trigger = null;
        boolean charged = false;
        try {
            WorkflowCatalogEntry current = first;
            for (int attempt = 0; attempt < MOST_ATTEMPTS; attempt++) {
                // Only a rollout needs the run id before the admission.
                RunId id = current.candidate() == null ? null : environment.newId();
                trigger = build(current, id, source);
                if (trigger != null) {
                    TriggerAdmissionRequest request = TriggerAdmissionRequest.of(trigger, id, catalog);
                    Outcome outcome = admission.find(request, trigger.rejection() != null || quota.limitsFresh());
                    if (outcome == null) {
                        SemelException overQuota = charged ? null : Trigger.rejectionOf(quota::chargeFresh);
                        charged = overQuota == null;
                        SemelException rejection = overQuota != null ? overQuota : trigger.rejection();
                        outcome = rejection == null ? admission.admit(request) : findOrReject(request, rejection);
                    }
                    switch (outcome) {
                        case Outcome.Admitted(TriggerResult result) -> {
                            return result;
                        }
                        case Outcome.Existing existing -> {
                            if (existing.decision() instanceof TriggerAdmissionDecision.Repeat) {
                                quota.chargeRepeat(); // first: a rejection leaves no row and is not a replayed request
                            }
                            return admission.answer(request, existing);
                        }
                        case Outcome.CatalogChanged _ -> {}
                    }
                }
                current = catalog.latest(workspace, current.published().workflowId());
            }
            throw TriggerRejectionErrorFactory.workflowKeepsChanging(first.published());
        } catch (StoreFailure e) {
            // Without a built trigger, nothing was submitted.
            throw StoreErrorTranslator.toTriggerRejection(
                    e, trigger == null || !trigger.identifiers().isEmpty());
        }
    }

    /**
     * Builds the trigger for the version that it gets. All workers assign alike: by key, chosen id, calling step or run
     * id. A replay uses the current version. Null: an outdated version rejected it.
     */
    private @Nullable Trigger build(
            WorkflowCatalogEntry current, @Nullable RunId id, Function<WorkflowCatalogEntry, Trigger> source) {
        try {
            Trigger trigger = source.apply(current);
            WorkflowCatalogEntry.Candidate candidate = current.candidate();
            if (candidate == null || id == null || trigger.links().replayOf() != null) {
                return trigger;
            }
            WorkflowVersion tried = candidate.published();
            boolean takes = VersionRolloutBucket.isInRollout(
                    tried.workflowId() + " " + tried.version(),
                    TriggerDeduplicationKeyDerivation.rolloutIdentity(trigger, id),
                    candidate.rolloutPercentage());
            return takes ? source.apply(current.withCandidate(candidate)) : trigger;
        } catch (SemelException rejection) {
            if (admission.isOutdated(current)) {
                return null;
            }
            throw rejection;
        }
    }

    /** A duplicate that arrived during the first admission is never rejected, so the keys are looked up again. */
    private Outcome findOrReject(TriggerAdmissionRequest request, SemelException rejection) {
        Outcome found = request.keyClaims().isEmpty() ? null : admission.findAfterAdmissionsInProgress(request);
        if (found != null) {
            return found;
        }
        if (!request.keyClaims().isEmpty()
                && admission.isOutdated(request.trigger().current())) {
            return new Outcome.CatalogChanged();
        }
        throw rejection;
    }
}
