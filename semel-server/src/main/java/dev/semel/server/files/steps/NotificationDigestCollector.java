package dev.semel.server.files.steps;

import tools.jackson.databind.JsonNode;

/** Collects items of many runs into batches, each sent as one message. */
public interface NotificationDigestCollector {
    /** @param id identifies the item, however often it is collected */
    record DigestItem(String key, String id, String runId, JsonNode value) {}

    /**
     * Adds an item to the open batch of its key. The run of the first item sends the batch later; if that run ends
     * before it has sent, the run of the next item takes over.
     *
     * @return {@code {batch, leader: true|false, run_id: of the leader, opened_at: time of the first item}}
     */
    JsonNode collect(DigestItem item);

    /**
     * Closes a batch and returns {@code {items, count}}; later items go into the next batch. A repeated call for the
     * same item returns the same; a call for another item returns {@code {sent_by: run}}, and that run sends nothing.
     */
    JsonNode close(DigestItem by, long batch);

    /**
     * The run that closed a batch has recorded its items, so the batch may be removed. Without this call, the batch stays
     * until the run has ended.
     */
    void release(DigestItem by, long batch);
}
