/** The choices of a workflow: what Semel does with changed and duplicate data. */
@NullMarked
package dev.semel.policy;

import org.jspecify.annotations.NullMarked;
