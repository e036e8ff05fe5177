/** Commands that start runs or send events and webhooks. */
@NullMarked
package dev.semel.server.cli.trigger;

import org.jspecify.annotations.NullMarked;
