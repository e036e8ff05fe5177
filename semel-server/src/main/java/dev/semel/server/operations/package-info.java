/**
 * The operations of the API: one declaration each, from which router, OpenAPI description, reference and commands come;
 * and what their handlers share: requests and idempotent actions.
 */
@NullMarked
package dev.semel.server.operations;

import org.jspecify.annotations.NullMarked;
