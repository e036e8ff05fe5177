package dev.semel.engine.commit;

import dev.semel.error.ErrorCode;
import dev.semel.error.SemelException;
import dev.semel.store.StoreFailure;

/** Turns failures of the store into errors for callers. */
public final class StoreErrorTranslator {
    private StoreErrorTranslator() {}

    public static SemelException toSemelException(StoreFailure e) {
        if (e instanceof StoreFailure.ValueRejected) {
            return new SemelException(
                    ErrorCode.INVALID_INPUT,
                    "The store rejected a value of this request. Nothing was changed.",
                    "Remove or shorten the value that the database cannot store, then send the request again.",
                    e);
        }
        return new SemelException(
                ErrorCode.STORE_UNAVAILABLE,
                "The store did not respond in time. The change may or may not have been stored.",
                "Try again in a moment. Repeating the request is safe.",
                e);
    }

    private static SemelException outdated(StoreFailure e) {
        return new SemelException(
                ErrorCode.STORE_UNAVAILABLE,
                "A newer version of Semel upgraded the store, and this worker does not support the new schema. No run"
                        + " was started here.",
                "Send the request again with the same key to a worker of the newer version. This is always safe.",
                e);
    }

    /** @param isRepeatable whether the request has a key or a chosen run id, so that a repeat finds the same run */
    public static SemelException toTriggerRejection(StoreFailure e, boolean isRepeatable) {
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
