@NullMarked
package dev.semel.engine.run;

import org.jspecify.annotations.NullMarked;
