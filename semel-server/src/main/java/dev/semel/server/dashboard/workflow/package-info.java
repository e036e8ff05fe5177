/** Pages of workflows, and the workflow builder. */
@NullMarked
package dev.semel.server.dashboard.workflow;

import org.jspecify.annotations.NullMarked;
