@NullMarked
package dev.semel.error;

import org.jspecify.annotations.NullMarked;
