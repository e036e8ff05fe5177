package dev.semel.effect;

import java.time.Duration;

/** How an effect is handled when its outcome is unknown. Every effect declares one. */
public sealed interface EffectDuplicateProtection {
    /** Runs again: for reads and declared-pure work. */
    record Repeatable(String why) implements EffectDuplicateProtection {}

    /** Sent again with the same key while the provider remembers it; later it is in doubt. */
    record ProviderKey(Duration window) implements EffectDuplicateProtection {}

    /** The engine queries the provider first. */
    record Lookup() implements EffectDuplicateProtection {}

    /** Never sent again; the step ends indeterminate. */
    record AtMostOnce() implements EffectDuplicateProtection {}

    /** Held until a user decides. */
    record Ask(String who) implements EffectDuplicateProtection {}

    /** Sent again, and flagged everywhere as unprotected. */
    record None(String because) implements EffectDuplicateProtection {}

    /** Its name in workflow files, journals and the dashboard. */
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
