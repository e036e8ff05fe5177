package dev.semel.server.demo;

import java.util.Locale;
import org.jspecify.annotations.Nullable;

/** Those whom the example files call. They differ in what they know of a request that comes again. */
public enum Provider {
    /** Is only read. */
    PAYMENTS,
    /** Remembers Idempotency-Key. */
    LICENSES,
    /** Knows no keys, and refuses a second lead with the same external id; can be asked. */
    LEADS,
    /** Knows nothing: every call is a deed. */
    PICKS,
    /** Remembers Idempotency-Key. */
    PARCELS,
    /** Every call is a message. */
    MAIL,
    /** Every call is a message. */
    CHAT;

    /** As it stands in paths. */
    public String word() {
        return name().toLowerCase(Locale.ROOT);
    }

    static @Nullable Provider named(String word) {
        for (Provider provider : values()) {
            if (provider.word().equals(word)) {
                return provider;
            }
        }
        return null;
    }
}
