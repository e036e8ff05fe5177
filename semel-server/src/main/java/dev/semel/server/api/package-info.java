@NullMarked
package dev.semel.server.api;

import org.jspecify.annotations.NullMarked;
