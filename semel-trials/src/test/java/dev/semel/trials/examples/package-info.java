/** The Java that pages show, as code that runs: each part between {@code // snippet:name} and {@code // end}. */
@NullMarked
package dev.semel.trials.examples;

import org.jspecify.annotations.NullMarked;
