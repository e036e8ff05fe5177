@NullMarked
package dev.semel.trials.support;

import org.jspecify.annotations.NullMarked;
