/** Choosing recipients, channels and routes of a message, with opt-outs. */
@NullMarked
package dev.semel.server.connectors.notification;

import org.jspecify.annotations.NullMarked;
