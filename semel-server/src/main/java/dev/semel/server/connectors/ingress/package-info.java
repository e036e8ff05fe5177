/** Inbound events: reading, deduplication, matching with subscriptions, and starting runs. */
@NullMarked
package dev.semel.server.connectors.ingress;

import org.jspecify.annotations.NullMarked;
