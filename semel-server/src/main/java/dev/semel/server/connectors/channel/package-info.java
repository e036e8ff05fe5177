/**
 * Channels that deliver over SMTP or HTTP. A channel sends each message once; the effect around it decides about
 * another attempt.
 */
@NullMarked
package dev.semel.server.connectors.channel;

import org.jspecify.annotations.NullMarked;
