@NullMarked
package dev.semel.admission;

import org.jspecify.annotations.NullMarked;
