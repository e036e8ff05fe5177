/** Pages of keys and of the metrics. */
@NullMarked
package dev.semel.server.dashboard.idempotency;

import org.jspecify.annotations.NullMarked;
