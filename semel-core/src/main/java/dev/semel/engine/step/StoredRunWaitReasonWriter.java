package dev.semel.engine.step;

import dev.semel.journal.JournalEntry;
import dev.semel.json.StrictJsonCodec;
import dev.semel.store.StoreWrite;
import java.util.List;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

/** Format: `{"for":"signal","step":"paid","until":…}`; other branches in `also`. */
public final class StoredRunWaitReasonWriter {
    private static final int MOST_SHOWN = 20;
    private static final int MESSAGE_CHARS = 500;

    private StoredRunWaitReasonWriter() {}

    public static String toJson(String reason, String step, long due) {
        return toJson(reason, step, due, null);
    }

    /** A wait for the next attempt. {@code problem}: of the last one; null if it is not recorded. */
    static String retryJson(String step, long due, JournalEntry.@Nullable ErrorDetails problem) {
        String wait = toJson("retry", step, due);
        if (problem == null) {
            return wait;
        }
        ObjectNode out = (ObjectNode) StrictJsonCodec.parse(wait);
        out.putObject("error")
                .put("code", problem.code())
                .put("message", StepResultSerializer.sanitize(problem.message(), MESSAGE_CHARS));
        return StrictJsonCodec.write(out);
    }

    /** A wait for a signal that may be addressed by key. */
    public static String keyedSignalJson(String step, long due, String signal, String key) {
        ObjectNode out = (ObjectNode) StrictJsonCodec.parse(toJson("signal", step, due, signal));
        return StrictJsonCodec.write(out.put("key", key));
    }

    /** Returns the first wait with a bounded number of others in {@code also}. */
    public static String mergeJson(String first, List<String> all) {
        List<String> others = all.stream()
                .filter(one -> !one.equals(first))
                .distinct()
                .limit(MOST_SHOWN)
                .toList();
        if (others.isEmpty()) {
            return first;
        }
        ObjectNode out = (ObjectNode) StrictJsonCodec.parse(first);
        ArrayNode also = out.putArray("also");
        others.forEach(one -> also.add(StrictJsonCodec.parse(one)));
        return StrictJsonCodec.write(out);
    }

    /** Whether the branch can only try again later, so that the run needs no place until then. */
    public static boolean needsNoPlace(WaitingBranchesRunSuspender.BranchWait wait) {
        String what = wait.description();
        return what.startsWith("{\"for\":\"retry\"") || what.startsWith("{\"for\":\"effect\"");
    }

    /** @param detail the name of the signal, the other run, or a message */
    public static String toJson(String reason, String step, long due, @Nullable String detail) {
        ObjectNode out =
                JsonNodeFactory.instance.objectNode().put("for", reason).put("step", step);
        if (detail != null) {
            out.put("detail", detail);
        }
        if (due != StoreWrite.Suspension.NEVER && due > 0) {
            out.put("until", due);
        }
        return StrictJsonCodec.write(out);
    }
}
