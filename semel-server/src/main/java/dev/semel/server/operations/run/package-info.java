/** Runs: lists, single runs, updates as a stream, cancel, signals, and revealing personal data. */
@NullMarked
package dev.semel.server.operations.run;

import org.jspecify.annotations.NullMarked;
