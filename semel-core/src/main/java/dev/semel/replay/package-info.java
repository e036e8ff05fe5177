@NullMarked
package dev.semel.replay;

import org.jspecify.annotations.NullMarked;
