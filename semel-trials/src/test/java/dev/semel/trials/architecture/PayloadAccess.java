package dev.semel.trials.architecture;

import java.util.List;

/** Accessors of stored payloads, and the classes of the API that may call them. */
final class PayloadAccess {
    static final List<String> COLUMNS = List.of(
            "store.StoredRows$RunRow.input",
            "store.StoredRows$EventRow.body",
            "store.StoredRows$RunProgress.waitingFor",
            "store.StoreWrite$RunResult.output",
            "store.StoreWrite$RunResult.errorMessage",
            "store.ReviewOperation$ReviewRow.question",
            "store.MetricQueries$ObjectWrites.object",
            "store.MetricUpdates$MetricFact.object",
            "effect.EffectLedger$EffectDetails.key",
            "effect.EffectLedger$EffectDetails.object",
            "effect.EffectLedger$EffectRow.result",
            "journal.JournalEntry$StepResult.result",
            "journal.JournalEntry$ErrorDetails.message");

    static final List<String> READERS = List.of(
            // These apply a mask.
            "UnmaskedValue",
            "WaitingForView",
            "PiiMasks",
            "ObjectNameMasker",
            "EventMasks",
            // These compute with payloads and return none: who may decide, the amount saved, whether a payload
            // differs, which object was written twice. A draft's key is returned only if it reads no masked field.
            "ReviewPermissions",
            "DuplicateSavings",
            "KeySimulation",
            "DuplicateEffectFinder",
            "WorkflowDraftRoutes");

    static final List<String> UNMASKERS = List.of("PiiMasks", "RunRevealRoutes", "TriggerResponses");

    private PayloadAccess() {}
}
