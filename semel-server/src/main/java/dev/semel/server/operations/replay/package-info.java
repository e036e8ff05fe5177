/** Safe replays, resumes of failed runs, and the clock of safe re-sends. */
@NullMarked
package dev.semel.server.operations.replay;

import org.jspecify.annotations.NullMarked;
