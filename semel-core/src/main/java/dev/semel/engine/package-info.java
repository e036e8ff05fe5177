@NullMarked
package dev.semel.engine;

import org.jspecify.annotations.NullMarked;
