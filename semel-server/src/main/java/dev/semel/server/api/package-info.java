/** The HTTP API under `/v1`: routes, the JSON they return, and the parsing of requests and filters. */
@NullMarked
package dev.semel.server.api;

import org.jspecify.annotations.NullMarked;
