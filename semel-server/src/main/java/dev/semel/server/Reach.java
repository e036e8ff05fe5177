package dev.semel.server;

import dev.semel.server.steps.Outside;

/**
 * What the steps of one workspace reach.
 *
 * @param allowsSql whether files may run SQL in the store's database
 */
record Reach(boolean allowsSql) implements Outside {}
