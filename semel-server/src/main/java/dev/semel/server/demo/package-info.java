/** Fake providers, and what `semel dev --demo` and `semel demo` show with them. */
@NullMarked
package dev.semel.server.demo;

import org.jspecify.annotations.NullMarked;
