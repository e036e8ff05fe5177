package dev.semel.trials.architecture;

import java.util.List;

/** Accessors of stored payloads, and the classes of the API that may call them. */
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
            "UnmaskedPiiValue",
            "RunWaitReasonJsonRenderer",
            "RunPiiMaskFactory",
            "BusinessObjectNamePiiMasker",
            "InboundEventPiiMasker",
            // These compute with payloads and return none: who may decide, the amount saved, whether a payload
            // differs, which object was written twice. A draft's key is returned only if it reads no masked field.
            "HumanReviewPermissionCheck",
            "PreventedDuplicateSavingsCalculator",
            "IdempotentTriggerSimulator",
            "IncidentDuplicateEffectFinder",
            "WorkflowDraftRoutes");

    static final List<String> UNMASKERS = List.of("RunPiiMaskFactory", "RunPiiRevealRoutes", "TriggerResponseBuilder");

    private PayloadAccess() {}
}
