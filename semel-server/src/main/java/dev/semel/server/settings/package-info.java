/** Stored settings of a workspace: secrets, templates, channels, routes, webhooks, alerts, profiles and cohorts. */
@org.jspecify.annotations.NullMarked
package dev.semel.server.settings;
