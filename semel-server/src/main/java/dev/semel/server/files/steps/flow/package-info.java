/** Step kinds that control the run: choose, for_each, parallel, waits, approvals, child workflows. */
@NullMarked
package dev.semel.server.files.steps.flow;

import org.jspecify.annotations.NullMarked;
