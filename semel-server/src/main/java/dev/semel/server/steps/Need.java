package dev.semel.server.steps;

import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * What a step needs of its workspace, so that it can be looked at when the file is published.
 *
 * @param channel null where an event's route decides, or where an expression does
 * @param event null where a channel is named
 * @param template null where a route or an expression decides
 * @param protection the word in the file
 * @param providerWindow how long the file says that the provider remembers a key; null where it says nothing
 * @param line where the step stands
 */
public record Need(
        String step,
        @Nullable String channel,
        @Nullable String event,
        @Nullable String template,
        String protection,
        @Nullable Duration providerWindow,
        int line,
        int column) {}
