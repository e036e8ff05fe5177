@NullMarked
package dev.semel.schedule;

import org.jspecify.annotations.NullMarked;
