/** Starting runs: one trigger, a run id that the caller chose, and batches. */
@NullMarked
package dev.semel.server.operations.trigger;

import org.jspecify.annotations.NullMarked;
