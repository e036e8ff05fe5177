/** Step kinds that act on other systems: http, tx, java, notifications, digests. */
@NullMarked
package dev.semel.server.files.steps.effects;

import org.jspecify.annotations.NullMarked;
