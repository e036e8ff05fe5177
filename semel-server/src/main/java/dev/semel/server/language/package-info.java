@NullMarked
package dev.semel.server.language;

import org.jspecify.annotations.NullMarked;
