/** Settings of a workspace: channels, routes, templates, alerts, profiles, groups, secrets. */
@NullMarked
package dev.semel.server.operations.setting;

import org.jspecify.annotations.NullMarked;
