/**
 * Three worker processes, one real PostgreSQL and everything that goes wrong in a machine room, drawn from a seed; and
 * bugs that are planted around the engine to see whether the trial would find them. What judges is in {@code verdict}.
 */
@NullMarked
package dev.semel.trials.chaos;

import org.jspecify.annotations.NullMarked;
