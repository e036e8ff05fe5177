/** The server itself: health, metrics for Prometheus, workers, clock, workspaces, documentation. */
@NullMarked
package dev.semel.server.operations.system;

import org.jspecify.annotations.NullMarked;
