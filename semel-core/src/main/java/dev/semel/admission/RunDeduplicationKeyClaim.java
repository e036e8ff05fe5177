package dev.semel.admission;

/**
 * @param window microseconds until the key expires; {@link #FOREVER} for a chosen run id
 * @param binding whether another holder of the key stops the trigger; otherwise the holder is only reported
 */
public record RunDeduplicationKeyClaim(
        RunDeduplicationKey key, byte[] digest, long window, int flags, boolean binding) {
    public static final long FOREVER = Long.MAX_VALUE;

    public long expiresAt(long now) {
        return window == FOREVER ? FOREVER : now + window;
    }
}
