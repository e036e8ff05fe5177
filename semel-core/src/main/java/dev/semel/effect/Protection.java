package dev.semel.effect;

import java.time.Duration;

/** What makes an effect safe when it is not known whether it happened. Every effect states one. */
public sealed interface Protection {
    /** Runs again: reads and declared-pure work. */
    record Repeatable(String why) implements Protection {}

    /** Sent again with the same key while the provider remembers it; later it is in doubt. */
    record ProviderKey(Duration window) implements Protection {}

    /** The provider is asked first. */
    record Lookup() implements Protection {}

    /** Never sent again; the step ends indeterminate. */
    record AtMostOnce() implements Protection {}

    /** Held until a person decides. */
    record Ask(String who) implements Protection {}

    /** Sent again, and flagged everywhere. */
    record None(String because) implements Protection {}

    /** The word for it in files, journals and pages. */
    default String word() {
        return switch (this) {
            case Repeatable _ -> "repeatable";
            case ProviderKey _ -> "provider_key";
            case Lookup _ -> "lookup";
            case AtMostOnce _ -> "at_most_once";
            case Ask _ -> "ask";
            case None _ -> "none";
        };
    }
}
