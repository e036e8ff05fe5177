@NullMarked
package dev.semel.runtime;

import org.jspecify.annotations.NullMarked;
