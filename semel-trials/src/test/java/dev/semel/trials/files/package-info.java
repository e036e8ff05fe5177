@NullMarked
package dev.semel.trials.files;

import org.jspecify.annotations.NullMarked;
