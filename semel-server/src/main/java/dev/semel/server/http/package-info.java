/** What the handlers of HTTP requests use: requests, responses, routing, authentication. */
@NullMarked
package dev.semel.server.http;

import org.jspecify.annotations.NullMarked;
