package dev.semel.engine;

import dev.semel.admission.IdempotencyKey;
import dev.semel.admission.RunDeduplicationKeyRecord;
import dev.semel.admission.TriggerAdmissionDecision;
import dev.semel.definition.WorkflowVersion;
import dev.semel.error.ErrorCode;
import dev.semel.error.KeyConflict;
import dev.semel.error.SemelException;
import dev.semel.store.StoreFailure;
import dev.semel.trigger.Trigger;

/** Builds the errors of rejected triggers: what failed, the state now and what to do, without payload values. */
final class TriggerRejectionErrorFactory {
    private TriggerRejectionErrorFactory() {}

    static SemelException conflict(Trigger trigger, TriggerAdmissionDecision.Conflict conflict) {
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

    static SemelException duplicatePayload(Trigger trigger, RunDeduplicationKeyRecord keyRecord) {
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

    static SemelException inUse(Trigger trigger) {
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

    static SemelException workflowKeepsChanging(WorkflowVersion workflow) {
        return new SemelException(
                ErrorCode.OVERLOADED,
                "Workflow \"" + workflow.name()
                        + "\" was published, paused or resumed repeatedly during the admission of this trigger."
                        + " No run was started.",
                "When nobody changes the workflow any more, send the request again with the same key. This is always"
                        + " safe.");
    }

    static SemelException outdated(StoreFailure e) {
        return new SemelException(
                ErrorCode.STORE_UNAVAILABLE,
                "A newer version of Semel upgraded the store, and this worker does not support the new schema. No run"
                        + " was started here.",
                "Send the request again with the same key to a worker of the newer version. This is always safe.",
                e);
    }

    /** @param isRepeatable whether the request has a key or a chosen run id, so that a repeat finds the same run */
    static SemelException unavailable(StoreFailure e, boolean isRepeatable) {
        if (e instanceof StoreFailure.ValueRejected) {
            return new SemelException(
                    ErrorCode.INVALID_INPUT,
                    "The store rejected a value of this request. No run was started.",
                    "Remove characters and numbers that the database cannot store, then send the request again.",
                    e);
        }
        if (e instanceof StoreFailure.SchemaTooNew) {
            return outdated(e);
        }
        return new SemelException(
                ErrorCode.STORE_UNAVAILABLE,
                "The store did not accept this request in time. The run may or may not have started.",
                isRepeatable
                        ? "Send the request again with the same key in a moment. This is always safe."
                        : "The request has no key, so a repeat can start a second run. Look for the run in the run list"
                                + " first, or send a key.",
                e);
    }
}
