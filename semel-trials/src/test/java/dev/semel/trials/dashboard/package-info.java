/** The pages in a real browser. */
@NullMarked
package dev.semel.trials.dashboard;

import org.jspecify.annotations.NullMarked;
