/** What all commands share: base classes, connection, requests, output, tables, exit codes. */
@NullMarked
package dev.semel.server.cli.command;

import org.jspecify.annotations.NullMarked;
