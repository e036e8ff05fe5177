package dev.semel.runtime;

import dev.semel.error.ErrorCode;
import dev.semel.error.SemelException;
import dev.semel.store.StoreFailure;

final class StoreErrorTranslator {
    private StoreErrorTranslator() {}

    static SemelException toSemelException(StoreFailure e) {
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
}
