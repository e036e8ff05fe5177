package dev.semel.admission;

import dev.semel.definition.WorkflowVersion;
import dev.semel.error.ErrorCode;
import dev.semel.error.KeyConflict;
import dev.semel.error.SemelException;
import dev.semel.idempotency.IdempotencyKey;

/** Builds the errors of rejected triggers: what failed, the state now and what to do, without payload values. */
public final class TriggerRejectionErrorFactory {
    private TriggerRejectionErrorFactory() {}

    public static SemelException conflict(Trigger trigger, TriggerAdmissionDecision.Conflict conflict) {
        RunDeduplicationKeyRecord keyRecord = conflict.keyRecord();
        IdempotencyKey key = trigger.identifiers().key();
        String name = key == null ? "Run id \"" + keyRecord.runIdText() + "\"" : "Key \"" + key.text() + "\"";
        SemelException rejection = switch (conflict.reason()) {
            case PAYLOAD ->
                new KeyConflict(
                                name + " was used before with a different payload (differs in: "
                                        + String.join(", ", conflict.changed()) + "). No run was started.",
                                "Send the original payload to get the original run, or use a new key.")
                        .with("reason", "payload")
                        .with("changed", conflict.changed());
            case WORKFLOW ->
                new KeyConflict(
                                name + " was used before for another workflow. No run was started.",
                                "Use a different key for each workflow, or set `idempotency: {scope: workflow}` in "
                                        + "the workflows that share one event id.")
                        .with("reason", "workflow");
            case RUN_ID ->
                new KeyConflict(
                                name + " belongs to run " + keyRecord.runIdText()
                                        + ", but the request names another run_id. No run was started.",
                                "Send the key and the run_id of the first request, or send a new key with the new"
                                        + " run_id.")
                        .with("reason", "run_id");
        };
        return withKey(rejection.with("run_id", keyRecord.runIdText()), trigger);
    }

    public static SemelException duplicatePayload(Trigger trigger, RunDeduplicationKeyRecord keyRecord) {
        SemelException rejection = new SemelException(
                        ErrorCode.DUPLICATE_PAYLOAD,
                        "The same payload started run " + keyRecord.runIdText()
                                + " under another key, and this workflow rejects duplicates. No run was started.",
                        "Check that run. If this is a new action, send a different value in a field of the"
                                + " fingerprint.")
                .with("run_id", keyRecord.runIdText());
        return withKey(rejection, trigger);
    }

    static SemelException withKey(SemelException rejection, Trigger trigger) {
        IdempotencyKey key = trigger.identifiers().key();
        return key == null ? rejection : rejection.with("idempotency_key", key.text());
    }

    public static SemelException inUse(Trigger trigger) {
        if (trigger.identifiers().key() == null) {
            return new SemelException(
                    ErrorCode.STORE_UNAVAILABLE,
                    "Another request holds a lock that this request needs. This request started no run.",
                    "Send the request again in a second.");
        }
        SemelException rejection = new SemelException(
                ErrorCode.IDEMPOTENCY_KEY_IN_USE,
                "Another worker is still admitting the first request with this key. This request started no run.",
                "Send this request again in a second. The response then contains the run of the first request.");
        return withKey(rejection, trigger);
    }

    public static SemelException workflowKeepsChanging(WorkflowVersion workflow) {
        return new SemelException(
                ErrorCode.OVERLOADED,
                "Workflow \"" + workflow.name()
                        + "\" was published, paused or resumed repeatedly during the admission of this trigger."
                        + " No run was started.",
                "When nobody changes the workflow any more, send the request again with the same key. This is always"
                        + " safe.");
    }
}
