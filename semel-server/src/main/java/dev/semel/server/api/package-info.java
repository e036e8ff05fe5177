/** All operations of the API in one table, and their OpenAPI description. */
@NullMarked
package dev.semel.server.api;

import org.jspecify.annotations.NullMarked;
