@NullMarked
package dev.semel.server.definition;

import org.jspecify.annotations.NullMarked;
