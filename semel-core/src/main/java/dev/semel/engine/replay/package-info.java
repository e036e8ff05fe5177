@NullMarked
package dev.semel.engine.replay;

import org.jspecify.annotations.NullMarked;
