@NullMarked
package dev.semel.testing.junit;

import org.jspecify.annotations.NullMarked;
