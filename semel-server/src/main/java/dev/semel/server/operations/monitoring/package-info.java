/** Metrics of duplicates and keys, the records behind each number, and the window backtest. */
@NullMarked
package dev.semel.server.operations.monitoring;

import org.jspecify.annotations.NullMarked;
