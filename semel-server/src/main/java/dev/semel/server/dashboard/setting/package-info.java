/** Pages of settings, users, webhooks, incidents, schedules, events, and workers. */
@NullMarked
package dev.semel.server.dashboard.setting;

import org.jspecify.annotations.NullMarked;
