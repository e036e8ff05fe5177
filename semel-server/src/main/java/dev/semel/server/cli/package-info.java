/** The root of the command line and the tree of its commands. */
@NullMarked
package dev.semel.server.cli;

import org.jspecify.annotations.NullMarked;
