package dev.semel.http.response;

import java.net.http.HttpHeaders;

/** The header `Idempotent-Replayed: true`: the provider repeats the stored response to an earlier request with the key. */
public final class IdempotentReplayedHeader {
    private IdempotentReplayedHeader() {}

    public static boolean isSet(HttpHeaders headers) {
        return headers.firstValue("Idempotent-Replayed").orElse("").strip().equalsIgnoreCase("true");
    }
}
