/** Where runs begin without a caller who names them: what came names itself. */
@NullMarked
package dev.semel.server.doors;

import org.jspecify.annotations.NullMarked;
