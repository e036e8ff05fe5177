package dev.semel.server.demo;

import java.util.Locale;
import org.jspecify.annotations.Nullable;

/** The fake providers that the example workflows call. They differ in how they handle a repeated request. */
public enum DemoExternalApi {
    /** Supports only reads. */
    PAYMENTS,
    /** Remembers Idempotency-Key. */
    LICENSES,
    /** Ignores keys, rejects a second lead with the same external id, and supports lookups. */
    LEADS,
    /** Detects no duplicates: every call is an effect. */
    PICKS,
    /** Remembers Idempotency-Key. */
    PARCELS,
    /** Every call sends a message. */
    MAIL,
    /** Every call sends a message. */
    CHAT;

    public String pathName() {
        return name().toLowerCase(Locale.ROOT);
    }

    static @Nullable DemoExternalApi fromPathName(String word) {
        for (DemoExternalApi provider : values()) {
            if (provider.pathName().equals(word)) {
                return provider;
            }
        }
        return null;
    }
}
