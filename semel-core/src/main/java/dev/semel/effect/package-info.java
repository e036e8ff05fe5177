@NullMarked
package dev.semel.effect;

import org.jspecify.annotations.NullMarked;
