package dev.semel.server.files.steps;

import tools.jackson.databind.JsonNode;

/** Publishes the event of a `notify` step with `emit: true`, so that subscribed workflows start. */
@FunctionalInterface
public interface NotificationEventPublisher {
    /**
     * Starts each subscribed workflow once per event id. Returns {@code {event_id, runs: [{workflow, run_id}],
     * rejected: [{workflow, code, detail}]}}; a repeat returns the same runs.
     */
    JsonNode publish(NotificationEvent event);

    /**
     * @param id the id of the step that publishes it
     * @param notification the event's type
     * @param depth length of the chain of runs that started each other
     */
    record NotificationEvent(String id, String notification, JsonNode data, String runId, int depth) {}
}
