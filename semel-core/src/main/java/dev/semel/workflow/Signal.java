package dev.semel.workflow;

import java.util.regex.Pattern;

/** A message that a run can wait for: its name, and the type of what it brings. */
public record Signal<T>(String name, TypeRef<T> type) {
    private static final Pattern NAME = Pattern.compile("[A-Za-z0-9][A-Za-z0-9._-]{0,63}");

    public Signal {
        if (!NAME.matcher(name).matches()) {
            throw new IllegalArgumentException(
                    "the name of a signal has 1 to 64 letters, digits, dots, hyphens and underscores");
        }
    }

    public static <T> Signal<T> of(String name, Class<T> type) {
        return new Signal<>(name, TypeRef.of(type));
    }

    public static <T> Signal<T> of(String name, TypeRef<T> type) {
        return new Signal<>(name, type);
    }
}
