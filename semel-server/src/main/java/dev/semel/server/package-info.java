@NullMarked
package dev.semel.server;

import org.jspecify.annotations.NullMarked;
