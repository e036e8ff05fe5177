package dev.semel.engine;

import dev.semel.error.ErrorCode;
import dev.semel.error.KeyConflict;
import dev.semel.error.SemelException;
import dev.semel.admission.Admission;
import dev.semel.admission.IdempotencyKey;
import dev.semel.admission.KeyRecord;
import dev.semel.store.StoreFailure;
import dev.semel.trigger.Trigger;
import dev.semel.definition.WorkflowVersion;

/** Builds the errors of rejected triggers: what failed, the state now and what to do, without payload values. */
final class AdmissionErrors {
    private static final String DRAFT =
            "https://datatracker.ietf.org/doc/html/draft-ietf-httpapi-idempotency-key-header-07#section-";

    private AdmissionErrors() {}

    static SemelException conflict(Trigger trigger, Admission.Conflict conflict) {
        KeyRecord known = conflict.keyRecord();
        IdempotencyKey key = trigger.identifiers().key();
        String name = key == null ? "Run id \"" + known.runIdText() + "\"" : "Key \"" + key.text() + "\"";
        SemelException refusal = switch (conflict.reason()) {
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
                                name + " belongs to run " + known.runIdText()
                                        + ", and the request names another run_id. No run was started.",
                                "Send key and run_id as in the first request, or a new key with the new run_id.")
                        .with("reason", "run_id");
        };
        return withKey(refusal.with("run_id", known.runIdText()), trigger, "2.2");
    }

    static SemelException duplicatePayload(Trigger trigger, KeyRecord known) {
        SemelException refusal = new SemelException(
                        ErrorCode.DUPLICATE_PAYLOAD,
                        "The same payload started run " + known.runIdText()
                                + " under another key, and this workflow rejects duplicates. No run was started.",
                        "Check that run. For a new action, change a field of the fingerprint.")
                .with("run_id", known.runIdText());
        return withKey(refusal, trigger, "2.2");
    }

    static SemelException withKey(SemelException refusal, Trigger trigger, String section) {
        IdempotencyKey key = trigger.identifiers().key();
        if (key != null) {
            refusal.with("idempotency_key", key.text());
        }
        return refusal.with("spec", DRAFT + section);
    }

    static SemelException inUse(Trigger trigger) {
        SemelException refusal = new SemelException(
                ErrorCode.IDEMPOTENCY_KEY_IN_USE,
                "Another worker is still admitting the first request with this key. This request started no run.",
                "Send it again in a second; the response then has the run of the first request.");
        return withKey(refusal, trigger, "2.6");
    }

    static SemelException workflowKeepsChanging(WorkflowVersion workflow) {
        return new SemelException(
                ErrorCode.OVERLOADED,
                "Workflow \"" + workflow.name()
                        + "\" was published, paused or resumed repeatedly during the admission of this trigger."
                        + " No run was started.",
                "Send it again with the same key after these changes; that is always safe.");
    }

    static SemelException outdated(StoreFailure e) {
        return new SemelException(
                ErrorCode.STORE_UNAVAILABLE,
                "A newer version of Semel upgraded the store, and this worker does not support its schema. No run was"
                        + " started here.",
                "Send it again with the same key to a worker of the newer version; that is always safe.",
                e);
    }

    static SemelException unavailable(StoreFailure e) {
        if (e instanceof StoreFailure.ValueRejected) {
            return new SemelException(
                    ErrorCode.INVALID_INPUT,
                    "The store rejected a value of this request. No run was started.",
                    "Remove characters or numbers that a database cannot hold, then send it again.",
                    e);
        }
        if (e instanceof StoreFailure.SchemaTooNew) {
            return outdated(e);
        }
        return new SemelException(
                ErrorCode.STORE_UNAVAILABLE,
                "The store did not accept this request in time. The run may or may not have started.",
                "Send it again with the same key in a moment; that is always safe.",
                e);
    }
}
