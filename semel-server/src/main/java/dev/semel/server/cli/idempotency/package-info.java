/** Commands for keys, effects, duplicate requests, and their metrics. */
@NullMarked
package dev.semel.server.cli.idempotency;

import org.jspecify.annotations.NullMarked;
