@NullMarked
package dev.semel.server.outbound;

import org.jspecify.annotations.NullMarked;
