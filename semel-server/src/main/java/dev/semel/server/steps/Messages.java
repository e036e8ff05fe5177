package dev.semel.server.steps;

import dev.semel.workflow.Step;
import java.io.IOException;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/** How messages leave: channels, templates, routes and what people have asked not to get. */
public interface Messages {
    /**
     * Which way a message takes, and why; recorded before anything leaves, so that every attempt sends the same words
     * the same way. The answer is {@code {"routes": [[{channel, template, version, to, state, reason}, …], …]}}; a
     * route is one channel with its fallbacks, a state is `selected`, `fallback` or `skipped`.
     */
    JsonNode plan(Wish wish);

    /**
     * What a file asks for.
     *
     * @param event takes the route of that name; null where the channel is named
     * @param to the id of a profile, or an address
     * @param protection what the file states: a channel that cannot keep it sends nothing
     */
    record Wish(
            @Nullable String event,
            @Nullable String channel,
            @Nullable String template,
            String to,
            String protection) {}

    /** Sends one message once. @return what the other side said: `message_id`, `channel` */
    JsonNode send(Step step, Letter letter) throws IOException, InterruptedException;

    /**
     * @param choice one of the plan
     * @param data what the template is filled with
     * @param overrides what this step wants other than the channel has it
     */
    record Letter(JsonNode choice, JsonNode data, JsonNode overrides, String runId, int depth) {}

    /** Names, versions and channels of the templates whose name begins so. */
    JsonNode templates(String prefix, @Nullable String channel);
}
