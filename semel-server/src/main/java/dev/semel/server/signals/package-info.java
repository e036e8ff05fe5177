/** What was counted, as people read it: the five signals, advice, and what other settings would have done. */
@NullMarked
package dev.semel.server.signals;

import org.jspecify.annotations.NullMarked;
