/** Workflow files: publish, versions, drafts, explanations, and schedules. */
@NullMarked
package dev.semel.server.operations.workflow;

import org.jspecify.annotations.NullMarked;
