package dev.semel.definition;

import dev.semel.effect.EffectDuplicateProtection;
import dev.semel.workflow.Retry;
import java.time.Duration;

/**
 * The retry policy of an effect that declares none. An outage of the provider must heal without a user, so a policy for
 * an effect that may be sent again lasts as long as sending again is safe and useful.
 */
public final class EffectRetryDefaults {
    /** Attempts of an effect with an alternative, as long as certainly none of them was sent. */
    public static final int UNSENT_ATTEMPTS = 5;

    private static final Duration LOOKUP_OR_REPEATABLE = Duration.ofHours(24);
    private static final int PERCENT_OF_PROVIDER_WINDOW = 80;

    private EffectRetryDefaults() {}

    public static Retry of(EffectDuplicateProtection protection) {
        return switch (protection) {
            case EffectDuplicateProtection.ProviderKey(Duration window) ->
                Retry.STANDARD.within(window.dividedBy(100).multipliedBy(PERCENT_OF_PROVIDER_WINDOW));
            case EffectDuplicateProtection.Lookup _, EffectDuplicateProtection.Repeatable _ ->
                Retry.STANDARD.within(LOOKUP_OR_REPEATABLE);
            case EffectDuplicateProtection.AtMostOnce _,
                    EffectDuplicateProtection.Ask _,
                    EffectDuplicateProtection.None _ -> Retry.STANDARD;
        };
    }

    /** For an effect with an alternative, such as `on_error` or another channel. */
    public static Retry withAlternative(EffectDuplicateProtection protection) {
        Retry policy = of(protection);
        return policy.within() == null ? policy : policy.upToUnsent(UNSENT_ATTEMPTS);
    }
}
