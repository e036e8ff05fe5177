package dev.semel.server.steps;

import tools.jackson.databind.JsonNode;

/** Things that are gathered from many runs and sent as one message. */
public interface Digests {
    /** One thing to gather. @param id makes it one, however often it is handed in */
    record Item(String key, String id, String runId, JsonNode value) {}

    /**
     * Puts it with the others. The first of a batch sends it when its time has come; should that run end without having
     * done so, the next item takes its place.
     *
     * @return {@code {batch, leader: true|false, run_id: of the leader, opened_at: when its first item came}}
     */
    JsonNode collect(Item item);

    /**
     * Ends a batch, whose later items go into the next: {@code {items, count}}. Asked again by the same item it answers the
     * same; whoever comes second is told {@code {sent_by: run}}, and sends nothing.
     */
    JsonNode close(Item by, long batch);
}
