/** Alerts: notifies users once whenever a metric exceeds its threshold, and once when it is resolved. */
@NullMarked
package dev.semel.server.alerts;

import org.jspecify.annotations.NullMarked;
