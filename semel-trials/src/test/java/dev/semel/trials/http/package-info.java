@NullMarked
package dev.semel.trials.http;

import org.jspecify.annotations.NullMarked;
