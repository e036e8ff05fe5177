/** Incident reports: collecting their data and writing them as Markdown. */
@NullMarked
package dev.semel.server.operations.incident;

import org.jspecify.annotations.NullMarked;
