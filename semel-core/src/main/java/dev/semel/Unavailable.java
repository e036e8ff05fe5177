package dev.semel;

import dev.semel.error.ErrorCode;
import dev.semel.error.SemelException;
import dev.semel.store.StoreFailure;

/** What callers are told when the store does not answer. */
final class Unavailable {
    private Unavailable() {}

    static SemelException because(StoreFailure e) {
        return new SemelException(
                ErrorCode.STORE_UNAVAILABLE,
                "The store did not answer in time.",
                "Try again in a moment; asking twice is safe.",
                e);
    }
}
