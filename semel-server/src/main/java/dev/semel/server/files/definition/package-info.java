/** Workflow files: reading, linting, comparing, explaining, and drafts of the builder. */
@NullMarked
package dev.semel.server.files.definition;

import org.jspecify.annotations.NullMarked;
