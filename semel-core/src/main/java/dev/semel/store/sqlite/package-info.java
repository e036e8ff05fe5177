@NullMarked
package dev.semel.store.sqlite;

import org.jspecify.annotations.NullMarked;
