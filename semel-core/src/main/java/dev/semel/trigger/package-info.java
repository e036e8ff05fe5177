@NullMarked
package dev.semel.trigger;

import org.jspecify.annotations.NullMarked;
