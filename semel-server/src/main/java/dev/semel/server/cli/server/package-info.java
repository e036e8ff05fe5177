/** Commands around a server process: start, doctor, workers, and the crash demo. */
@NullMarked
package dev.semel.server.cli.server;

import org.jspecify.annotations.NullMarked;
