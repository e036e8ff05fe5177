package dev.semel.trigger;

import dev.semel.key.Admission;
import dev.semel.key.Admissions.Standing;
import dev.semel.key.Known;
import org.jspecify.annotations.Nullable;

/**
 * The predicted admission of a trigger at a given time, from a dry run that stores nothing.
 *
 * @param at time of the simulated trigger, by the store's clock
 * @param previous the earlier record of the key, if a new run would get the key
 * @param why the status that makes the key available at that time; null if the key was never used
 * @param supposed whether the prediction assumes that the run of the key has not ended by then
 * @param until when the key of a new run would expire; 0 without a key
 */
public record Rehearsed(
        Admission decided,
        long at,
        @Nullable Known previous,
        @Nullable Standing why,
        boolean supposed,
        long until) {}
