@NullMarked
package dev.semel.engine.signal;

import org.jspecify.annotations.NullMarked;
