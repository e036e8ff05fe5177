@NullMarked
package dev.semel;

import org.jspecify.annotations.NullMarked;
