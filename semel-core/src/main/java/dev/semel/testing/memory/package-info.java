@NullMarked
package dev.semel.testing.memory;

import org.jspecify.annotations.NullMarked;
