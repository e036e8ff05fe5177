/**
 * Several workers on one store in memory, with faults, kills and pauses drawn from a seed. Its verdict trusts the rows
 * of the store and what receivers counted, never the engine.
 */
@NullMarked
package dev.semel.trials.simulation;

import org.jspecify.annotations.NullMarked;
