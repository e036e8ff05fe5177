/** Commands for settings, secrets, profiles, alerts, and incident reports. */
@NullMarked
package dev.semel.server.cli.setting;

import org.jspecify.annotations.NullMarked;
