@NullMarked
package dev.semel.engine.admission;

import org.jspecify.annotations.NullMarked;
