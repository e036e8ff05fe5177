package dev.semel.admission;

import dev.semel.admission.TriggerAdmissionRules.KeyStatus;
import org.jspecify.annotations.Nullable;

/**
 * @param at time of the simulated trigger, by the store's clock
 * @param previousKey the earlier record of the key, if a new run would get the key
 * @param keyStatus the status that makes the key available at that time; null if the key was never used
 * @param assumesRunUnfinished whether the prediction assumes that the run of the key has not ended by then
 * @param keyExpiresAt when the key of a new run would expire; 0 without a key
 */
public record TriggerPreview(
        TriggerAdmissionDecision admission,
        long at,
        @Nullable RunDeduplicationKeyRecord previousKey,
        @Nullable KeyStatus keyStatus,
        boolean assumesRunUnfinished,
        long keyExpiresAt) {}
