/**
 * Real processes and real cuts. A verdict trusts nothing of the engine: it compares what clients were notified over HTTP
 * with what JDBC finds in the store.
 */
@NullMarked
package dev.semel.trials.crash;

import org.jspecify.annotations.NullMarked;
