@NullMarked
package dev.semel.journal;

import org.jspecify.annotations.NullMarked;
