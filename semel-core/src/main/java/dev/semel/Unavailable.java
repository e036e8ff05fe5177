package dev.semel;

import dev.semel.error.ErrorCode;
import dev.semel.error.SemelException;
import dev.semel.store.StoreFailure;

/** What callers are told when the store does not answer, or not as they want. */
final class Unavailable {
    private Unavailable() {}

    static SemelException because(StoreFailure e) {
        if (e instanceof StoreFailure.Poisoned) {
            return new SemelException(
                    ErrorCode.INVALID_INPUT,
                    "The store refused a value of this request. Nothing was changed.",
                    "Remove or shorten what a database cannot hold, then send it again.",
                    e);
        }
        return new SemelException(
                ErrorCode.STORE_UNAVAILABLE,
                "The store did not answer in time.",
                "Try again in a moment; asking twice is safe.",
                e);
    }
}
