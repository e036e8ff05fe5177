/** What a workspace keeps in the store: secrets, templates, channels, routes, profiles, subscriptions, cohorts. */
@org.jspecify.annotations.NullMarked
package dev.semel.server.settings;
