package dev.semel.server.files.steps;

import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * The channel, route or template of the workspace that a step needs; checked when the file is published.
 *
 * @param channel null if a route or an expression decides
 * @param notification null if the step names a channel
 * @param template null if a route or an expression decides
 * @param protection as written in the file
 * @param providerWindow how long the provider remembers a key, as declared; null if absent
 * @param line position of the step
 */
public record NotificationChannelRequirement(
        String step,
        @Nullable String channel,
        @Nullable String notification,
        @Nullable String template,
        String protection,
        @Nullable Duration providerWindow,
        int line,
        int column) {}
