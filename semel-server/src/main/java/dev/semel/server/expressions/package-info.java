@NullMarked
package dev.semel.server.expressions;

import org.jspecify.annotations.NullMarked;
