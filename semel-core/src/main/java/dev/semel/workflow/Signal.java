package dev.semel.workflow;

import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * A message that a run can wait for: its name, and the type of what it brings.
 *
 * @param key under which it is waited for and sent by whoever does not know the run; null where the run is known
 */
public record Signal<T>(
        String name, TypeRef<T> type, @Nullable String key) {
    private static final int LONGEST_KEY = 255;
    private static final Pattern NAME = Pattern.compile("[A-Za-z0-9][A-Za-z0-9._-]{0,63}");

    public Signal {
        if (!NAME.matcher(name).matches()) {
            throw new IllegalArgumentException(
                    "the name of a signal has 1 to 64 letters, digits, dots, hyphens and underscores");
        }
        if (key != null
                && (key.isBlank() || key.length() > LONGEST_KEY || key.chars().anyMatch(Character::isISOControl))) {
            throw new IllegalArgumentException("the key of a signal has 1 to 255 characters and no control characters");
        }
    }

    public Signal(String name, TypeRef<T> type) {
        this(name, type, null);
    }

    /**
     * The same signal under a key, such as the id of an order: whoever sends it with this key reaches the runs that wait
     * with it, and need not know them. One that is sent before any run waits is kept for seven days.
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
