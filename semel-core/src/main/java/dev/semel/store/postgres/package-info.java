@NullMarked
package dev.semel.store.postgres;

import org.jspecify.annotations.NullMarked;
