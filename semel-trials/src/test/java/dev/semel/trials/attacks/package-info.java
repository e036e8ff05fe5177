@NullMarked
package dev.semel.trials.attacks;

import org.jspecify.annotations.NullMarked;
