package dev.semel.store;

/**
 * A name that a trigger wants for its run, with what will be remembered under it.
 *
 * @param window microseconds until the name expires; {@link #FOREVER} for a chosen run id
 * @param binding whether a live holder of the name stops the trigger; where not, the holder is only reported
 */
public record Wish(Name name, byte[] digest, long window, int flags, boolean binding) {
    public static final long FOREVER = Long.MAX_VALUE;

    public long expiresAt(long now) {
        return window == FOREVER ? FOREVER : now + window;
    }
}
