/** Pages of runs, replays, and reviews. */
@NullMarked
package dev.semel.server.dashboard.run;

import org.jspecify.annotations.NullMarked;
