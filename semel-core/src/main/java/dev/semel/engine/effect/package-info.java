@NullMarked
package dev.semel.engine.effect;

import org.jspecify.annotations.NullMarked;
