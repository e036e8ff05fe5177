/** Workflows as the engine sees them, compiled from Java or YAML, and the durable operations that it offers to them. */
@NullMarked
package dev.semel.definition;

import org.jspecify.annotations.NullMarked;
