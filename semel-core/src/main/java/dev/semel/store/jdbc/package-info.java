@NullMarked
package dev.semel.store.jdbc;

import org.jspecify.annotations.NullMarked;
