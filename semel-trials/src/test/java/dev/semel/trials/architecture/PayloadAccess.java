package dev.semel.trials.architecture;

import java.util.List;

/** Columns that hold what came with a run, or was made of it, and the few who may read them as they are. */
final class PayloadAccess {
    static final List<String> COLUMNS = List.of(
            "store.Rows$Run.input",
            "store.Rows$Event.body",
            "store.Rows$Work.waits",
            "store.Write$Ending.output",
            "store.Write$Ending.errorMessage",
            "store.Review$Row.question",
            "store.Figures$Thing.object",
            "store.Counted$Fact.object",
            "effect.Ledger$Facts.key",
            "effect.Ledger$Facts.object",
            "effect.Ledger$Row.result",
            "journal.Entry$Done.result",
            "journal.Entry$Problem.message");

    static final List<String> READERS = List.of(
            // These hand it on under a mask only.
            "Bare",
            "WaitingForView",
            "Masks",
            "ObjectNameMasker",
            "EventMasks",
            // These compute with it and tell none of it: who may decide, what it is worth, whether a payload differs,
            // what
            // was written twice. A draft's key is shown only where it reads nothing that is masked.
            "Deciders",
            "DuplicateSavings",
            "KeySimulation",
            "Doubles",
            "Drafts");

    static final List<String> UNMASKERS = List.of("Masks", "RevealRoutes", "Answers");

    private PayloadAccess() {}
}
