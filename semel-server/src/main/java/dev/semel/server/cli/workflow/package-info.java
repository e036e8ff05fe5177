/** Commands for workflow files, versions, and schedules. */
@NullMarked
package dev.semel.server.cli.workflow;

import org.jspecify.annotations.NullMarked;
