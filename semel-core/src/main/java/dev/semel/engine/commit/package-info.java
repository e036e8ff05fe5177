@NullMarked
package dev.semel.engine.commit;

import org.jspecify.annotations.NullMarked;
