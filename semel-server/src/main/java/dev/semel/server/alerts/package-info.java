/** Tells people when a signal is beyond what they allowed, once for each time that it is. */
@NullMarked
package dev.semel.server.alerts;

import org.jspecify.annotations.NullMarked;
