/** Dependency rules, code style, format and vocabulary, as tests. Every rule has a fixture or a sample that breaks it. */
@NullMarked
package dev.semel.trials.architecture;

import org.jspecify.annotations.NullMarked;
