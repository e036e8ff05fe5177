package dev.semel.definition;

import dev.semel.effect.Protection;
import dev.semel.admission.KeyPolicy;
import dev.semel.error.HttpStatus;
import dev.semel.workflow.EffectAction;
import dev.semel.workflow.OnChange;
import dev.semel.workflow.ReviewOptions;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The specification of an effect: its step, key, protection, window and business information.
 *
 * @param key the effect key; null for the step id
 * @param once suppression of the same key across runs; null for none
 * @param businessRecord what the effect means to the business
 * @param alreadyDone HTTP statuses of a {@link HttpStatus} that count as success
 * @param reviewOptions the review that Semel opens if the effect is in doubt or its message has changed
 */
public record EffectSpec(
        StepSpec step,
        @Nullable String key,
        Protection protection,
        @Nullable OncePerWindow once,
        BusinessRecord businessRecord,
        List<Integer> alreadyDone,
        ReviewOptions reviewOptions) {
    public EffectSpec {
        alreadyDone = List.copyOf(alreadyDone);
    }

    /** An effect with the default review. */
    public EffectSpec(
            StepSpec step,
            @Nullable String key,
            Protection protection,
            @Nullable OncePerWindow once,
            BusinessRecord marks,
            List<Integer> alreadyDone) {
        this(step, key, protection, once, marks, alreadyDone, ReviewOptions.DEFAULT);
    }

    /**
     * Suppresses effects with the same key inside a window, across runs.
     *
     * @param data digest of the data that are sent; null to compare only the key
     * @param onChange what Semel does if the data differ from the last accepted effect
     */
    public record OncePerWindow(Duration window, byte @Nullable [] data, OnChange onChange) {
        /** Compares only the key, not the data. */
        public static OncePerWindow keyOnly(Duration window, OnChange onChange) {
            return new OncePerWindow(window, null, onChange);
        }

        public OncePerWindow {
            if (window.compareTo(KeyPolicy.SHORTEST_WINDOW) < 0 || window.compareTo(KeyPolicy.LONGEST_WINDOW) > 0) {
                throw new IllegalArgumentException("the window must be between 1s and 365d, not " + window);
            }
        }
    }

    /**
     * What an effect means to the business.
     *
     * @param object the business object that the effect writes, for example `payment:42`
     * @param worth the amount that a duplicate would cost, with its currency, for example `12.50 EUR`
     */
    public record BusinessRecord(
            EffectAction does, @Nullable String object, @Nullable String worth) {
        public static final BusinessRecord NONE = new BusinessRecord(EffectAction.CREATE, null, null);
    }
}
