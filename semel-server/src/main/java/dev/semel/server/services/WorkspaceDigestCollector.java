package dev.semel.server.services;

import dev.semel.admission.RunDeduplicationKey;
import dev.semel.error.ErrorCode;
import dev.semel.error.SemelException;
import dev.semel.json.Sha256;
import dev.semel.json.SizeLimits;
import dev.semel.json.StrictJsonCodec;
import dev.semel.run.RunId;
import dev.semel.runtime.SemelRuntime;
import dev.semel.server.files.steps.NotificationDigestCollector;
import dev.semel.server.services.PendingDigestItems.PendingItem;
import dev.semel.store.DatabaseRows;
import dev.semel.store.StoreWriteCommand;
import dev.semel.store.WorkspaceSettingName;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.time.InstantSource;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

/**
 * One document per digest key with the open batch and recent closed ones. Updates use optimistic locking and retry.
 *
 * <p>A worker can die after a change here and before its run records the result. The repeated call must then find the
 * same batch, however many others came in between: the place of an item is stored beside the document for some days, and
 * a closed batch stays until its run recorded the items or ended.
 */
final class WorkspaceDigestCollector implements NotificationDigestCollector {
    private static final Logger LOG = System.getLogger(WorkspaceDigestCollector.class.getName());
    private static final WorkspaceSettingName.SettingKind DIGEST =
            new WorkspaceSettingName.SettingKind("digest", false, false);
    private static final int KEPT_BATCHES = 20;
    private static final int MOST_TRIES = 1_000;
    /** What an item adds to the text of its batch beside its value: a comma and a digit of the count. */
    private static final int MOST_EXTRA_CHARACTERS = 2;

    private static final long PLACE_KEPT_MICROS = Duration.ofDays(7).toNanos() / 1_000;

    private final SemelRuntime semel;
    private final int workspace;
    private final InstantSource clock;
    private final PendingDigestItems pending = new PendingDigestItems(this::store);

    WorkspaceDigestCollector(SemelRuntime semel, int workspace, InstantSource clock) {
        this.semel = semel;
        this.workspace = workspace;
        this.clock = clock;
    }

    @Override
    public JsonNode collect(DigestItem item) {
        return pending.add(item);
    }

    private void store(List<PendingItem> items) {
        if (items.size() == 1 || !storeTogether(items)) {
            items.forEach(this::storeAlone);
        }
    }

    private void storeAlone(PendingItem pendingItem) {
        DigestItem item = pendingItem.item();
        try {
            pendingItem.setPlace(change(item.key(), List.of(item), document -> {
                ObjectNode known = batchOf(document, item.id());
                if (known == null) {
                    return new OpenBatch(document).add(item);
                }
                boolean leads = known.path("leader").asString("").equals(item.id());
                if (leads && !known.path("closed").booleanValue()) {
                    known.put("run_id", item.runId()); // a later run of the same lineage continues the batch
                }
                return batchView(known, item);
            }));
        } catch (SemelException e) {
            pendingItem.fail(e);
        }
    }

    /** Adds new items in one write. @return false, and nothing is stored, if one of them must be stored alone */
    private boolean storeTogether(List<PendingItem> items) {
        List<DigestItem> added = items.stream().map(PendingItem::item).toList();
        try {
            JsonNode places = change(added.getFirst().key(), added, document -> {
                ObjectNode all = JsonNodeFactory.instance.objectNode();
                OpenBatch open = new OpenBatch(document);
                for (DigestItem item : added) {
                    if (batchOf(document, item.id()) != null) {
                        throw new MustStoreAlone();
                    }
                    all.set(item.id(), open.add(item));
                }
                return all;
            });
            items.forEach(one -> one.setPlace(places.path(one.item().id())));
            return true;
        } catch (MustStoreAlone e) {
            return false;
        } catch (SemelException e) {
            boolean full = e.code() == ErrorCode.PAYLOAD_TOO_LARGE || e.code() == ErrorCode.OVERLOADED;
            if (!full) {
                items.forEach(one -> one.fail(e));
            }
            return !full; // some of them may fit
        }
    }

    /** One of several items has a place already. */
    private static final class MustStoreAlone extends RuntimeException {}

    /** The batch that items are added to. */
    private final class OpenBatch {
        private final ObjectNode batch;
        private final ArrayNode items;
        private boolean hasLeader;
        private int length;

        OpenBatch(ObjectNode document) {
            this.batch = openBatch(document);
            this.items = batch.withArray("items");
            this.hasLeader = !items.isEmpty() && mayStillSend(batch);
            this.length = StrictJsonCodec.write(gather(batch)).length();
        }

        JsonNode add(DigestItem item) {
            length += StrictJsonCodec.write(item.value()).length() + MOST_EXTRA_CHARACTERS;
            if (items.size() >= SizeLimits.DIGEST_ITEM_COUNT || length > SizeLimits.DEFAULT.digestItems()) {
                throw tooLarge("The item was not added.");
            }
            if (!hasLeader) {
                batch.put("leader", item.id()).put("run_id", item.runId());
                batch.put("opened_at", clock.instant().toString());
                hasLeader = true;
            }
            items.addObject().put("id", item.id()).set("value", item.value());
            return batchView(batch, item);
        }
    }

    private static ObjectNode batchView(ObjectNode batch, DigestItem item) {
        ObjectNode place = JsonNodeFactory.instance.objectNode();
        place.set("batch", batch.path("number"));
        place.put("leader", batch.path("leader").asString("").equals(item.id()));
        place.set("run_id", batch.path("run_id"));
        place.set("opened_at", batch.path("opened_at"));
        return place;
    }

    /** Whether the run of a batch is still active. If it is not, the next item's run sends an open batch. */
    private boolean mayStillSend(ObjectNode batch) {
        String id = batch.path("run_id").asString("");
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
        return change(by.key(), List.of(), document -> {
            ObjectNode wanted = batch(document, batch);
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
            removeOldest(document, KEPT_BATCHES);
            return gathered;
        });
    }

    @Override
    public void release(DigestItem by, long batch) {
        try {
            change(by.key(), List.of(), document -> {
                ObjectNode closed = batch(document, batch);
                if (closed != null && closed.path("closed_by").asString("").equals(by.id())) {
                    closed.put("released", true);
                }
                return JsonNodeFactory.instance.nullNode();
            });
        } catch (SemelException e) {
            LOG.log(Level.DEBUG, "a sent digest batch stays until its run has ended: " + e.code());
        }
    }

    private static @Nullable ObjectNode batch(ObjectNode document, long number) {
        for (JsonNode one : document.withArray("batches")) {
            if (one.path("number").longValue() == number && one instanceof ObjectNode found) {
                return found;
            }
        }
        return null;
    }

    /** Removes closed batches that no run needs, the oldest first, until so many are left. */
    private void removeOldest(ObjectNode document, int most) {
        ArrayNode batches = document.withArray("batches");
        for (int i = 0; i < batches.size() && batches.size() > most; ) {
            if (isRemovable(batches.get(i))) {
                batches.remove(i);
            } else {
                i++;
            }
        }
    }

    private boolean isRemovable(JsonNode batch) {
        return batch instanceof ObjectNode closed
                && closed.path("closed").booleanValue(false)
                && (closed.path("released").booleanValue(false) || !mayStillSend(closed));
    }

    /**
     * The items of a batch as its close returns them. The run records them as a step result before it sends them, so a
     * batch that does not fit there would be closed and never sent.
     */
    private static ObjectNode requireRecordable(ObjectNode batch, String state) {
        ObjectNode gathered = gather(batch);
        if (StrictJsonCodec.write(gathered).length() > SizeLimits.DEFAULT.digestItems()) {
            throw tooLarge(state);
        }
        return gathered;
    }

    private static ObjectNode gather(ObjectNode batch) {
        ObjectNode gathered = JsonNodeFactory.instance.objectNode();
        ArrayNode items = gathered.putArray("items");
        batch.path("items").forEach(item -> items.add(item.path("value")));
        return gathered.put("count", items.size());
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

    /**
     * @param added the items that the change adds; their places are stored with the change
     * @param change returns the answer; for several items an object with the place of each
     */
    private JsonNode change(String key, List<DigestItem> added, Function<ObjectNode, JsonNode> change) {
        WorkspaceSettingName name = new WorkspaceSettingName(workspace, DIGEST, Sha256.hex(key));
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
            int before = row == null ? 0 : row.version();
            StoreWriteCommand.SaveSetting put = new StoreWriteCommand.SaveSetting(name, body, before, "digest");
            JsonNode saved = save(put, added, answer);
            if (saved != null) {
                return saved;
            }
            if (added.size() > 1 && version(name) == before) {
                throw new MustStoreAlone();
            }
        }
        throw new SemelException(
                ErrorCode.STORE_UNAVAILABLE,
                "Too many requests changed this digest at the same time. The item was not added.",
                "Try again in a moment.");
    }

    private int version(WorkspaceSettingName name) {
        DatabaseRows.SettingRow row = semel.view(reads -> reads.setting(workspace, DIGEST.word(), name.text()));
        return row == null ? 0 : row.version();
    }

    /**
     * Returns the answer, or the stored place of the only item if it was added before. Null if the document has changed,
     * or if one of several items was added before.
     */
    private @Nullable JsonNode save(StoreWriteCommand.SaveSetting put, List<DigestItem> added, JsonNode answer) {
        if (added.isEmpty()) {
            return semel.change(put) instanceof StoreWriteCommand.SettingResult.Saved ? answer : null;
        }
        // Each command contains the next one: one transaction stores all places and the document, or nothing.
        StoreWriteCommand.IdempotentCommand<?> all = placing(
                put,
                added.getFirst(),
                added.size() == 1 ? answer : answer.path(added.getFirst().id()));
        for (DigestItem item : added.subList(1, added.size())) {
            all = placing(all, item, answer.path(item.id()));
        }
        if (!(semel.change(all) instanceof StoreWriteCommand.CommandReply.Done done)) {
            return null;
        }
        return added.size() == 1 ? StrictJsonCodec.parse(done.answer()) : done.replayed() ? null : answer;
    }

    /** A command that stores the place of an item if the command inside it was executed now. */
    private <T> StoreWriteCommand.IdempotentCommand<T> placing(
            StoreWriteCommand<T> inside, DigestItem item, JsonNode place) {
        StoreWriteCommand.CommandRequest request = new StoreWriteCommand.CommandRequest(
                semel.newId(),
                workspace,
                "digest-item",
                Sha256.hex(item.key() + "\n" + item.id()),
                new byte[0],
                PLACE_KEPT_MICROS);
        return new StoreWriteCommand.IdempotentCommand<>(
                request, inside, outcome -> isExecuted(outcome) ? StrictJsonCodec.write(place) : null);
    }

    private static boolean isExecuted(@Nullable Object outcome) {
        return outcome instanceof StoreWriteCommand.SettingResult.Saved
                || outcome instanceof StoreWriteCommand.CommandReply.Done(String _, boolean replayed) && !replayed;
    }

    /** Removes the oldest batches that no run needs until the document fits. */
    private String serializeWithinLimit(ObjectNode document) {
        ArrayNode batches = document.withArray("batches");
        String body = StrictJsonCodec.write(document);
        while (body.length() > SizeLimits.DEFAULT.digestDocument()) {
            int before = batches.size();
            removeOldest(document, before - 1);
            if (before < 2) {
                throw tooLarge("The item was not added.");
            }
            if (batches.size() == before) {
                throw new SemelException(
                        ErrorCode.OVERLOADED,
                        "Earlier batches of this digest fill it, and the runs that send them have not recorded them yet"
                                + " (" + runsOf(batches) + "). The item was not added.",
                        "Let these runs continue. The step tries again.");
            }
            body = StrictJsonCodec.write(document);
        }
        return body;
    }

    private static String runsOf(ArrayNode batches) {
        Set<String> runs = new TreeSet<>();
        batches.forEach(batch -> {
            if (batch.path("closed").booleanValue(false)) {
                runs.add(batch.path("run_id").asString(""));
            }
        });
        return String.join(", ", runs);
    }

    private static SemelException tooLarge(String state) {
        return new SemelException(
                ErrorCode.PAYLOAD_TOO_LARGE,
                "A digest may have at most " + SizeLimits.DIGEST_ITEM_COUNT + " items and "
                        + SizeLimits.inKibibytes(SizeLimits.DEFAULT.digestItems()) + " before it is sent. " + state,
                "Set a shorter `collect_for` in the digest step, or add smaller items.");
    }
}
