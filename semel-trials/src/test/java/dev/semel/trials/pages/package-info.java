/** The pages in a real browser. */
@NullMarked
package dev.semel.trials.pages;

import org.jspecify.annotations.NullMarked;
