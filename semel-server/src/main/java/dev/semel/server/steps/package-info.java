/** The interface of a step kind written in Java by a user of the server. */
@NullMarked
package dev.semel.server.steps;

import org.jspecify.annotations.NullMarked;
