/** Counts the types that a reader follows from a trigger to its response. */
@NullMarked
package dev.semel.trials.path;

import org.jspecify.annotations.NullMarked;
