@NullMarked
package dev.semel.testing;

import org.jspecify.annotations.NullMarked;
