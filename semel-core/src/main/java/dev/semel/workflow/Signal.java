package dev.semel.workflow;

import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * A signal that a run can wait for: its name and the type of its value.
 *
 * @param key key for senders that do not know the run id; null for signals that are sent to a run
 */
public record Signal<T>(
        String name, TypeRef<T> type, @Nullable String key) {
    private static final int LONGEST_KEY = 255;
    private static final Pattern NAME = Pattern.compile("[A-Za-z0-9][A-Za-z0-9._-]{0,63}");

    public Signal {
        if (!NAME.matcher(name).matches()) {
            throw new IllegalArgumentException(
                    "the name of a signal must have 1 to 64 letters, digits, dots, hyphens and underscores");
        }
        if (key != null
                && (key.isBlank() || key.length() > LONGEST_KEY || key.chars().anyMatch(Character::isISOControl))) {
            throw new IllegalArgumentException(
                    "the key of a signal must have 1 to 255 characters and no control characters");
        }
    }

    public Signal(String name, TypeRef<T> type) {
        this(name, type, null);
    }

    /**
     * The same signal with a key, for example an order id. A sender with this key reaches all runs that wait with it,
     * without knowing their ids. Semel stores a signal for 7 days if no run waits yet.
     */
    public Signal<T> withKey(@Nullable Object... parts) {
        return new Signal<>(name, type, Key.of(parts).text());
    }

    public static <T> Signal<T> of(String name, Class<T> type) {
        return new Signal<>(name, TypeRef.of(type));
    }

    public static <T> Signal<T> of(String name, TypeRef<T> type) {
        return new Signal<>(name, type);
    }
}
