package dev.semel.server.services;

import dev.semel.error.ErrorCode;
import dev.semel.error.SemelException;
import dev.semel.json.SizeLimits;
import dev.semel.json.StrictJsonCodec;
import dev.semel.run.RunId;
import dev.semel.runtime.SemelRuntime;
import dev.semel.server.steps.NotificationDigestCollector;
import dev.semel.store.DatabaseRows;
import dev.semel.store.RunDeduplicationKey;
import dev.semel.store.StoreWriteCommand;
import dev.semel.store.WorkspaceSettingKind;
import dev.semel.store.WorkspaceSettingName;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.time.InstantSource;
import java.util.HexFormat;
import java.util.List;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

/** One document per digest key with the open batch and recent closed ones. Updates use optimistic locking and retry. */
record WorkspaceDigestCollector(SemelRuntime semel, int workspace, InstantSource clock)
        implements NotificationDigestCollector {
    private static final WorkspaceSettingKind DIGEST = new WorkspaceSettingKind("digest", false, false);
    private static final int KEPT_BATCHES = 20;
    private static final int MOST_TRIES = 1_000;

    @Override
    public JsonNode collect(DigestItem item) {
        return change(item.key(), document -> {
            ObjectNode known = batchOf(document, item.id());
            if (known != null) {
                boolean leads = known.path("leader").asString("").equals(item.id());
                if (leads && !known.path("closed").booleanValue()) {
                    known.put("run_id", item.runId()); // a later run of the same lineage continues the batch
                }
                return batchView(known, item);
            }
            ObjectNode open = openBatch(document);
            ArrayNode items = open.withArray("items");
            if (items.size() >= SizeLimits.DIGEST_ITEM_COUNT) {
                throw tooLarge("The item was not added.");
            }
            if (items.isEmpty() || !mayStillSend(open)) {
                open.put("leader", item.id()).put("run_id", item.runId());
                open.put("opened_at", clock.instant().toString());
            }
            items.addObject().put("id", item.id()).set("value", item.value());
            requireRecordable(open, "The item was not added.");
            return batchView(open, item);
        });
    }

    private static ObjectNode batchView(ObjectNode batch, DigestItem item) {
        ObjectNode place = JsonNodeFactory.instance.objectNode();
        place.set("batch", batch.path("number"));
        place.put("leader", batch.path("leader").asString("").equals(item.id()));
        place.set("run_id", batch.path("run_id"));
        place.set("opened_at", batch.path("opened_at"));
        return place;
    }

    /** Whether the run that will send this batch is still active; otherwise the next item's run sends it. */
    private boolean mayStillSend(ObjectNode open) {
        String id = open.path("run_id").asString("");
        RunId own = RunId.parse(id);
        DatabaseRows.RunRow run = semel.view(reads -> {
            if (own != null) {
                return reads.run(workspace, own);
            }
            var chosen = reads.findKeys(
                            List.of(new RunDeduplicationKey(workspace, RunDeduplicationKey.KeyKind.RUN, id)))
                    .keyRecords()
                    .getFirst();
            return chosen == null ? null : reads.run(workspace, chosen.run());
        });
        return run != null && run.end() == null;
    }

    @Override
    public JsonNode close(DigestItem by, long batch) {
        return change(by.key(), document -> {
            ArrayNode batches = document.withArray("batches");
            ObjectNode wanted = null;
            for (JsonNode one : batches) {
                if (one.path("number").longValue() == batch && one instanceof ObjectNode found) {
                    wanted = found;
                }
            }
            if (wanted == null) {
                throw new SemelException(
                        ErrorCode.NOT_FOUND,
                        "The digest batch no longer exists. Nothing was sent.",
                        "Collect the items again.");
            }
            String closer = wanted.path("closed_by").asString("");
            if (!closer.isEmpty() && !closer.equals(by.id())) {
                return JsonNodeFactory.instance.objectNode().set("sent_by", wanted.path("run_id"));
            }
            ObjectNode gathered = requireRecordable(wanted, "Nothing was sent, and the batch stays open.");
            wanted.put("closed", true).put("closed_by", by.id()).put("run_id", by.runId());
            while (batches.size() > KEPT_BATCHES) {
                batches.remove(0);
            }
            return gathered;
        });
    }

    /**
     * The items of a batch as its close returns them. The run records them as a step result before it sends them, so a
     * batch that does not fit there would be closed and never sent.
     */
    private static ObjectNode requireRecordable(ObjectNode batch, String state) {
        ObjectNode gathered = JsonNodeFactory.instance.objectNode();
        ArrayNode items = gathered.putArray("items");
        batch.path("items").forEach(item -> items.add(item.path("value")));
        gathered.put("count", items.size());
        if (StrictJsonCodec.write(gathered).length() > SizeLimits.DEFAULT.digestItems()) {
            throw tooLarge(state);
        }
        return gathered;
    }

    private static @Nullable ObjectNode batchOf(ObjectNode document, String item) {
        for (JsonNode batch : document.withArray("batches")) {
            for (JsonNode one : batch.path("items")) {
                if (one.path("id").asString("").equals(item) && batch instanceof ObjectNode found) {
                    return found;
                }
            }
        }
        return null;
    }

    /** The open batch; creates one if the last is closed. */
    private static ObjectNode openBatch(ObjectNode document) {
        ArrayNode batches = document.withArray("batches");
        JsonNode last = batches.isEmpty() ? null : batches.get(batches.size() - 1);
        if (last instanceof ObjectNode open && !open.path("closed").booleanValue()) {
            return open;
        }
        long number = last == null ? 1 : last.path("number").longValue() + 1;
        ObjectNode batch = batches.addObject().put("number", number).put("closed", false);
        batch.putArray("items");
        return batch;
    }

    private JsonNode change(String key, Function<ObjectNode, JsonNode> change) {
        WorkspaceSettingName name = new WorkspaceSettingName(workspace, DIGEST, digest(key));
        for (int tries = 0; tries < MOST_TRIES; tries++) {
            DatabaseRows.SettingRow row = semel.view(reads -> reads.setting(workspace, DIGEST.word(), name.text()));
            ObjectNode document = row != null && StrictJsonCodec.parse(row.body()) instanceof ObjectNode known
                    ? known
                    : JsonNodeFactory.instance.objectNode();
            JsonNode answer = change.apply(document);
            String body = serializeWithinLimit(document);
            if (row != null && body.equals(row.body())) {
                return answer;
            }
            StoreWriteCommand.SaveSetting put =
                    new StoreWriteCommand.SaveSetting(name, body, row == null ? 0 : row.version(), "digest");
            if (semel.change(put) instanceof StoreWriteCommand.SettingResult.Saved) {
                return answer;
            }
        }
        throw new SemelException(
                ErrorCode.STORE_UNAVAILABLE,
                "Too many requests changed this digest at the same time. The item was not added.",
                "Try again in a moment.");
    }

    /** Removes the oldest batches until the document fits. */
    private static String serializeWithinLimit(ObjectNode document) {
        ArrayNode batches = document.withArray("batches");
        String body = StrictJsonCodec.write(document);
        while (body.length() > SizeLimits.DEFAULT.digestDocument()) {
            if (batches.size() < 2) {
                throw tooLarge("The item was not added.");
            }
            batches.remove(0);
            body = StrictJsonCodec.write(document);
        }
        return body;
    }

    private static SemelException tooLarge(String state) {
        return new SemelException(
                ErrorCode.PAYLOAD_TOO_LARGE,
                "A digest may have at most " + SizeLimits.DIGEST_ITEM_COUNT + " items and "
                        + SizeLimits.inKibibytes(SizeLimits.DEFAULT.digestItems()) + " before it is sent. " + state,
                "Set a shorter `collect_for` in the digest step, or add smaller items.");
    }

    static String digest(String key) {
        try {
            byte[] sha = MessageDigest.getInstance("SHA-256").digest(key.getBytes(StandardCharsets.UTF_8));
            return HexFormat.of().formatHex(sha);
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every JDK has SHA-256", e);
        }
    }
}
