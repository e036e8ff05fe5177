/** Expressions in workflow files: compiling and evaluating CEL within a cost limit. */
@NullMarked
package dev.semel.server.files.expressions;

import org.jspecify.annotations.NullMarked;
