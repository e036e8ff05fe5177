package dev.semel.server.query;

import dev.semel.run.RunId;
import dev.semel.runtime.SemelRuntime;
import dev.semel.store.DatabaseRows;
import dev.semel.store.HumanReviewStoreWriteCommand;
import java.util.LinkedHashSet;
import java.util.SequencedSet;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * The data of a message that was accepted before and of the changed one that waits for a decision, with the fields in
 * which they differ. Both are masked with the personal data of both runs.
 */
record ChangedMessageView(SemelRuntime semel, RunPiiMaskFactory masks) {
    private static final int MOST_FIELDS = 50;

    /** Null if the review is about something else. */
    @Nullable
    ObjectNode toJson(HumanReviewStoreWriteCommand.ReviewRow row, PiiMask mask) {
        if (row.kind() != HumanReviewStoreWriteCommand.ReviewKind.CHANGE) {
            return null;
        }
        RunId before = UnmaskedPiiValue.previousRun(row);
        DatabaseRows.RunRow run = before == null ? null : semel.view(reads -> reads.run(row.ws(), before));
        PiiMask earlier = masks.of(run, row.ws(), row.workflowId());
        ObjectNode out = RunJsonRenderer.newObject();
        out.put("previous_run_id", run == null ? before == null ? null : before.text() : run.runIdText());
        out.put("previous_at", RunJsonRenderer.formatTime(UnmaskedPiiValue.previousAt(row)));
        UnmaskedPiiValue previous =
                UnmaskedPiiValue.changedData(row, HumanReviewStoreWriteCommand.ReviewQuestion.PREVIOUS_DATA);
        UnmaskedPiiValue next = UnmaskedPiiValue.changedData(row, HumanReviewStoreWriteCommand.ReviewQuestion.NEW_DATA);
        out.set("previous", masked(previous, earlier, mask));
        out.set("next", masked(next, earlier, mask));
        if (previous.isNull() || next.isNull()) {
            out.putNull("fields");
        } else {
            SequencedSet<String> fields = new LinkedHashSet<>();
            previous.addDifferences(next, fields, MOST_FIELDS);
            var names = out.putArray("fields");
            fields.forEach(name -> names.add(earlier.maskText(mask.maskText(name))));
            out.put("more_fields", fields.size() == MOST_FIELDS);
        }
        return out;
    }

    private static JsonNode masked(UnmaskedPiiValue value, PiiMask earlier, PiiMask mask) {
        return earlier.maskValue(value.maskWith(mask));
    }

    /** Adds the paths of the values that differ, such as `order.lines[0].sku`; objects and arrays are compared inside. */
    static void addDifferences(JsonNode one, JsonNode other, String path, SequencedSet<String> out, int most) {
        if (out.size() >= most || one.equals(other)) {
            return;
        }
        if (one.isObject() && other.isObject()) {
            TreeSet<String> names = new TreeSet<>(one.propertyNames());
            names.addAll(other.propertyNames());
            for (String name : names) {
                addDifferences(one.path(name), other.path(name), path.isEmpty() ? name : path + "." + name, out, most);
            }
        } else if (one.isArray() && other.isArray()) {
            for (int at = 0; at < Math.max(one.size(), other.size()); at++) {
                addDifferences(one.path(at), other.path(at), path + "[" + at + "]", out, most);
            }
        } else {
            out.add(path.isEmpty() ? "(whole value)" : path);
        }
    }
}
