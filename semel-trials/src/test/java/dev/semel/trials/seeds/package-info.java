/** The statements of the documents that Semel was built from, each with the test that tries it. */
@NullMarked
package dev.semel.trials.seeds;

import org.jspecify.annotations.NullMarked;
