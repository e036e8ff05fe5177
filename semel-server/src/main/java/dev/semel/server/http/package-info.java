/** The HTTP server: strict request parsing, routing, authentication and error responses. */
@NullMarked
package dev.semel.server.http;

import org.jspecify.annotations.NullMarked;
