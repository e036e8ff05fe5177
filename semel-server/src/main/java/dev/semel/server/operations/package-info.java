/** The operations of the API: one declaration each, from which router, OpenAPI description and commands come. */
@NullMarked
package dev.semel.server.operations;

import org.jspecify.annotations.NullMarked;
