/** The Semel library: open it, start runs and find them. Workflows are written with {@code dev.semel.workflow}. */
@NullMarked
package dev.semel;

import org.jspecify.annotations.NullMarked;
