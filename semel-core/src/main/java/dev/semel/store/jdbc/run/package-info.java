@NullMarked
package dev.semel.store.jdbc.run;

import org.jspecify.annotations.NullMarked;
