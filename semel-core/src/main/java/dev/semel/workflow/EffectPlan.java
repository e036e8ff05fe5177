package dev.semel.workflow;

import dev.semel.effect.Protection;
import dev.semel.key.KeyPolicy;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * An effect as the workflow asks for it.
 *
 * @param key the effect key; null for the step id
 * @param once how the same key behaves across runs; null where only this lineage counts
 * @param marks what the deed means to the business
 * @param alreadyDone HTTP statuses of a {@link Failures.Status} that count as success
 * @param asking what people are asked when it is in doubt, or its message has changed
 */
public record EffectPlan(
        StepPlan step,
        @Nullable String key,
        Protection protection,
        @Nullable Once once,
        Marks marks,
        List<Integer> alreadyDone,
        Asking asking) {
    public EffectPlan {
        alreadyDone = List.copyOf(alreadyDone);
    }

    /** One about which people are asked in the plain way. */
    public EffectPlan(
            StepPlan step,
            @Nullable String key,
            Protection protection,
            @Nullable Once once,
            Marks marks,
            List<Integer> alreadyDone) {
        this(step, key, protection, once, marks, alreadyDone, Asking.PLAIN);
    }

    /**
     * @param data digest of what is sent, or null where only the key counts
     * @param onChange what happens inside the window when the data differ from the last accepted one
     */
    public record Once(Duration window, byte @Nullable [] data, OnChange onChange) {
        /** Where only the key counts, whatever is sent. */
        public static Once whatever(Duration window, OnChange onChange) {
            return new Once(window, null, onChange);
        }

        public Once {
            if (window.compareTo(KeyPolicy.SHORTEST_WINDOW) < 0 || window.compareTo(KeyPolicy.LONGEST_WINDOW) > 0) {
                throw new IllegalArgumentException("the window must be between 1s and 365d, not " + window);
            }
        }
    }

    public enum OnChange {
        SEND,
        SUPPRESS,
        REVIEW
    }

    public enum Does {
        CREATE,
        UPDATE,
        NOTIFY
    }

    /** @param worth an amount and its currency, e.g. `12.50 EUR` */
    public record Marks(
            Does does, @Nullable String object, @Nullable String worth) {
        public static final Marks NONE = new Marks(Does.CREATE, null, null);
    }
}
