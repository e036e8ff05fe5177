package dev.semel.definition;

import dev.semel.effect.EffectDuplicateProtection;
import dev.semel.error.HttpStatusException;
import dev.semel.idempotency.KeyPolicy;
import dev.semel.json.Sha256;
import dev.semel.policy.ChangedEffectDataPolicy;
import dev.semel.workflow.EffectOperation;
import dev.semel.workflow.ReviewOptions;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * @param key the effect key; null for the step id
 * @param once suppression of the same key across runs; null for none
 * @param businessRecord what the effect means to the business
 * @param alreadyDone HTTP statuses of a {@link HttpStatusException} that count as success
 * @param reviewOptions the review that Semel opens if the effect is in doubt or its message has changed
 * @param sendsKey whether the provider receives the key; false if the request is declared to carry none
 */
public record EffectSpec(
        StepSpec step,
        @Nullable String key,
        EffectDuplicateProtection protection,
        @Nullable OncePerWindow once,
        BusinessRecord businessRecord,
        List<Integer> alreadyDone,
        ReviewOptions reviewOptions,
        boolean sendsKey) {
    /** The reviewer of everything that names no other. */
    public static final String OWNER = "owner";

    public EffectSpec {
        alreadyDone = List.copyOf(alreadyDone);
    }

    /** An effect whose provider receives the key. */
    public EffectSpec(
            StepSpec step,
            @Nullable String key,
            EffectDuplicateProtection protection,
            @Nullable OncePerWindow once,
            BusinessRecord businessRecord,
            List<Integer> alreadyDone,
            ReviewOptions reviewOptions) {
        this(step, key, protection, once, businessRecord, alreadyDone, reviewOptions, true);
    }

    /** Who decides the reviews of the effect. */
    public String reviewer() {
        String named = protection instanceof EffectDuplicateProtection.Ask(String who) ? who : OWNER;
        return reviewOptions.to().isBlank() ? named : reviewOptions.to();
    }

    /** The same effect, of which the provider receives no key. */
    public EffectSpec withoutSentKey() {
        return new EffectSpec(step, key, protection, once, businessRecord, alreadyDone, reviewOptions, false);
    }

    /**
     * Suppresses effects with the same key inside a window, across runs.
     *
     * @param data digest of the data that are sent; null to compare only the key
     * @param content these data as JSON, which a review of changed data shows; null to show none
     * @param onChange what Semel does if the data differ from the last accepted effect
     */
    public record OncePerWindow(
            Duration window,
            byte @Nullable [] data,
            @Nullable String content,
            ChangedEffectDataPolicy onChange) {
        /** Longer data are compared and not shown. */
        private static final int MAX_CONTENT = 16_384;

        /** @param canonical the data as canonical JSON */
        public static OncePerWindow of(Duration window, byte[] canonical, ChangedEffectDataPolicy onChange) {
            boolean shown = onChange == ChangedEffectDataPolicy.REVIEW && canonical.length <= MAX_CONTENT;
            return new OncePerWindow(
                    window,
                    Sha256.digest(canonical),
                    shown ? new String(canonical, StandardCharsets.UTF_8) : null,
                    onChange);
        }

        public static OncePerWindow keyOnly(Duration window, ChangedEffectDataPolicy onChange) {
            return new OncePerWindow(window, null, null, onChange);
        }

        public OncePerWindow {
            if (window.compareTo(KeyPolicy.SHORTEST_WINDOW) < 0 || window.compareTo(KeyPolicy.LONGEST_WINDOW) > 0) {
                throw new IllegalArgumentException("the window must be between 1s and 365d, not " + window);
            }
        }
    }

    /**
     * @param object the business object that the effect writes, for example `payment:42`
     * @param worth the amount that a duplicate would cost, with its currency, for example `12.50 EUR`
     */
    public record BusinessRecord(
            EffectOperation does,
            @Nullable String object,
            @Nullable String worth) {
        public static final BusinessRecord NONE = new BusinessRecord(EffectOperation.CREATE, null, null);
    }
}
