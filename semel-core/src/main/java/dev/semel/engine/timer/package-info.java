@NullMarked
package dev.semel.engine.timer;

import org.jspecify.annotations.NullMarked;
