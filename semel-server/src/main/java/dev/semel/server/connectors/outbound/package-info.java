/** Outbound HTTP: the client, its address guard (SSRF protection), authentication and response limits. */
@NullMarked
package dev.semel.server.connectors.outbound;

import org.jspecify.annotations.NullMarked;
