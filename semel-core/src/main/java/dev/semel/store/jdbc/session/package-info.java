@NullMarked
package dev.semel.store.jdbc.session;

import org.jspecify.annotations.NullMarked;
