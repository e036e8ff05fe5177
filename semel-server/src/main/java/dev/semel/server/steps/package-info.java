@NullMarked
package dev.semel.server.steps;

import org.jspecify.annotations.NullMarked;
