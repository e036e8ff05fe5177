package dev.semel.trigger;

import dev.semel.key.Admission;
import dev.semel.key.Admissions.Standing;
import dev.semel.key.Known;
import org.jspecify.annotations.Nullable;

/**
 * What the admission of a trigger would decide.
 *
 * @param at when, by the store's clock
 * @param previous who held the key before, where it is given to a new run
 * @param why the key would be free: it is not live at that time. Null where nobody held it
 * @param supposed the answer holds only if the run that holds the key has not ended by then
 * @param until when the key of a new run would expire; 0 where there is none
 */
public record Rehearsed(
        Admission decided,
        long at,
        @Nullable Known previous,
        @Nullable Standing why,
        boolean supposed,
        long until) {}
