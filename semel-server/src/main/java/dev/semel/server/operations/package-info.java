/** What all operations of the API under `/v1` share: routes, requests, idempotent actions. */
@NullMarked
package dev.semel.server.operations;

import org.jspecify.annotations.NullMarked;
