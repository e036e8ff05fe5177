@NullMarked
package dev.semel.idempotency;

import org.jspecify.annotations.NullMarked;
