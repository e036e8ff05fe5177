package dev.semel.store;

/**
 * A unique key that a trigger claims for its run, with the data to store in the key record.
 *
 * @param window microseconds until the key expires; {@link #FOREVER} for a chosen run id
 * @param binding whether another holder of the key stops the trigger; otherwise the holder is only reported
 */
public record KeyClaim(UniqueKey key, byte[] digest, long window, int flags, boolean binding) {
    public static final long FOREVER = Long.MAX_VALUE;

    public long expiresAt(long now) {
        return window == FOREVER ? FOREVER : now + window;
    }
}
