/** Monitoring: the five metrics, advice on idempotency keys, and simulations of other key windows. */
@NullMarked
package dev.semel.server.monitoring;

import org.jspecify.annotations.NullMarked;
