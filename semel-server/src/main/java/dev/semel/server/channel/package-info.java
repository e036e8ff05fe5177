/**
 * How a message leaves: templates that become text, channels that deliver it, and the decisions whether and where it may
 * go. A channel sends one message once; whether it may be sent again is the business of the effect around it.
 */
@NullMarked
package dev.semel.server.channel;

import org.jspecify.annotations.NullMarked;
