/** Idempotency keys, the effect ledger, and duplicate requests. */
@NullMarked
package dev.semel.server.operations.idempotency;

import org.jspecify.annotations.NullMarked;
