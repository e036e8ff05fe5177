/** `semel test`: runs a workflow file against simulated external systems. */
@NullMarked
package dev.semel.server.cli.acceptance;

import org.jspecify.annotations.NullMarked;
