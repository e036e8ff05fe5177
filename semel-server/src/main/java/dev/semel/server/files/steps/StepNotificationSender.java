package dev.semel.server.files.steps;

import dev.semel.workflow.Step;
import java.io.IOException;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

public interface StepNotificationSender {
    /**
     * Decides the channels of a message, with reasons. It is recorded before anything is sent, so that every attempt
     * sends the same text the same way. Returns {@code {"routes": [[{channel, template, version, to, state, reason}, …],
     * …]}}; a route is one channel with its fallbacks, a state is `selected`, `fallback` or `skipped`.
     */
    JsonNode plan(MessageRequest messageRequest);

    /**
     * A message that a step wants to send.
     *
     * @param notification uses the route of that name; null if the step names a channel
     * @param to the id of a profile, or an address
     * @param protection as declared; a channel that does not support it sends nothing
     */
    record MessageRequest(
            @Nullable String notification,
            @Nullable String channel,
            @Nullable String template,
            String to,
            String protection) {}

    /** @return the channel's receipt: `message_id`, `channel` */
    JsonNode send(Step step, PlannedMessage plannedMessage) throws IOException, InterruptedException;

    /**
     * One message to send over one channel.
     *
     * @param choice one entry of the plan
     * @param data the values for the template
     * @param overrides settings of this step that replace those of the channel
     */
    record PlannedMessage(JsonNode choice, JsonNode data, JsonNode overrides, String runId, int depth) {}

    /** Names, versions and channels of the templates with this name prefix. */
    JsonNode templates(String prefix, @Nullable String channel);
}
