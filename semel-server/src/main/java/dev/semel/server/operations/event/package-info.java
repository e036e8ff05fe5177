/** Inbound events and webhooks: reading, lists, and processing again. */
@NullMarked
package dev.semel.server.operations.event;

import org.jspecify.annotations.NullMarked;
