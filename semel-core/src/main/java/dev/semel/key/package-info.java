@NullMarked
package dev.semel.key;

import org.jspecify.annotations.NullMarked;
