package dev.semel.admission;

import java.util.List;

/** A repeat always finds its run, because key record and run are committed together. */
public sealed interface TriggerAdmissionDecision {
    /** No run holds the keys: a new run starts. */
    record Fresh() implements TriggerAdmissionDecision {}

    /** The same action again. {@code mismatch}: the payload differs, and the policy still returns the original run. */
    record Repeat(RunDeduplicationKeyRecord keyRecord, boolean mismatch, List<String> changed)
            implements TriggerAdmissionDecision {}

    /** The key belongs to another action. Nothing is started. */
    record Conflict(ConflictReason reason, RunDeduplicationKeyRecord keyRecord, List<String> changed)
            implements TriggerAdmissionDecision {}

    /** Another key with the same payload, which the workflow rejects. */
    record SamePayload(RunDeduplicationKeyRecord keyRecord) implements TriggerAdmissionDecision {}

    enum ConflictReason {
        PAYLOAD,
        WORKFLOW,
        RUN_ID
    }
}
