/** Hash functions, in one place. */
@NullMarked
package dev.semel.server.hash;

import org.jspecify.annotations.NullMarked;
