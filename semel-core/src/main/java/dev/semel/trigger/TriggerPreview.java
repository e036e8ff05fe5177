package dev.semel.trigger;

import dev.semel.admission.Admission;
import dev.semel.admission.AdmissionRules.KeyStatus;
import dev.semel.admission.KeyRecord;
import org.jspecify.annotations.Nullable;

/**
 * The predicted admission of a trigger at a given time, from a dry run that stores nothing.
 *
 * @param at time of the simulated trigger, by the store's clock
 * @param previousKey the earlier record of the key, if a new run would get the key
 * @param keyStatus the status that makes the key available at that time; null if the key was never used
 * @param assumesRunUnfinished whether the prediction assumes that the run of the key has not ended by then
 * @param keyExpiresAt when the key of a new run would expire; 0 without a key
 */
public record TriggerPreview(
        Admission admission,
        long at,
        @Nullable KeyRecord previousKey,
        @Nullable KeyStatus keyStatus,
        boolean assumesRunUnfinished,
        long keyExpiresAt) {}
