/** Commands for runs, replays, and reviews. */
@NullMarked
package dev.semel.server.cli.run;

import org.jspecify.annotations.NullMarked;
