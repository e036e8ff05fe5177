package dev.semel.trials.architecture;

import java.util.List;

/** Accessors of stored payloads, and the classes of the API, below {@code server}, that may call them. */
final class PayloadAccess {
    static final List<String> COLUMNS = List.of(
            "store.DatabaseRows$RunRow.input",
            "store.DatabaseRows$EventRow.body",
            "store.DatabaseRows$RunProgress.waitingFor",
            "store.StoreWrite$RunResult.output",
            "store.StoreWrite$RunResult.errorMessage",
            "store.HumanReviewStoreWriteCommand$ReviewRow.question",
            "store.MetricQueries$ObjectWrites.object",
            "store.MetricUpdateCollector$MetricFact.object",
            "effect.EffectLedger$EffectDetails.key",
            "effect.EffectLedger$EffectDetails.object",
            "effect.EffectLedger$EffectRow.result",
            "journal.JournalEntry$StepResult.result",
            "journal.JournalEntry$ErrorDetails.message");

    static final List<String> READERS = List.of(
            // These apply a mask.
            "query.UnmaskedPiiValue",
            "query.RunWaitReasonJsonRenderer",
            "query.RunPiiMaskFactory",
            "query.BusinessObjectNamePiiMasker",
            "query.InboundEventPiiMasker",
            // These compute with payloads and return none: who may decide, the amount saved, whether a payload
            // differs, which object was written twice. A draft's key is returned only if it reads no masked field.
            "operations.review.HumanReviewPermissionCheck",
            "operations.monitoring.PreventedDuplicateSavingsCalculator",
            "operations.idempotency.IdempotentTriggerSimulator",
            "operations.incident.IncidentDuplicateEffectFinder",
            "operations.workflow.WorkflowDraftRoutes");

    static final List<String> UNMASKERS = List.of(
            "query.RunPiiMaskFactory",
            "operations.run.RunPiiRevealRoutes",
            "operations.trigger.TriggerResponseBuilder");

    private PayloadAccess() {}
}
