/** What all parts of the engine share: clock, randomness, limits, counters. */
@NullMarked
package dev.semel.engine;

import org.jspecify.annotations.NullMarked;
