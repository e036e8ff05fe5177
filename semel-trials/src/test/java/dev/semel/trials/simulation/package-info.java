/**
 * Several workers on one SQLite file, with faults, kills and pauses drawn from a seed. Its verdict trusts the rows
 * of the store and what receivers counted, never the engine.
 */
@NullMarked
package dev.semel.trials.simulation;

import org.jspecify.annotations.NullMarked;
