@NullMarked
package dev.semel.run;

import org.jspecify.annotations.NullMarked;
