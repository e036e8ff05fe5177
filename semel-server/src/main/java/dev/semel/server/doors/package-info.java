/** Inbound events: reading, deduplication, matching with subscriptions, and starting runs. */
@NullMarked
package dev.semel.server.doors;

import org.jspecify.annotations.NullMarked;
