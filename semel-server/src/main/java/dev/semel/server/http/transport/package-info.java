/** The HTTP server: connections, deadlines, strict request parsing, and dispatch. */
@NullMarked
package dev.semel.server.http.transport;

import org.jspecify.annotations.NullMarked;
