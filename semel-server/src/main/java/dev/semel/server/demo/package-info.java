/** Fake providers and example settings for `semel dev --demo`, `semel demo` and `semel qa`. */
@NullMarked
package dev.semel.server.demo;

import org.jspecify.annotations.NullMarked;
