@NullMarked
package dev.semel.engine.step;

import org.jspecify.annotations.NullMarked;
