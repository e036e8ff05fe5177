package dev.semel.engine;

import dev.semel.json.Json;
import dev.semel.store.Write;
import java.util.List;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

/**
 * Formats what a run waits for as the stored JSON: `{"for":"signal","step":"paid","until":…}`; other branches in
 * `also`.
 */
final class Waiting {
    private static final int MOST_SHOWN = 20;

    private Waiting() {}

    static String text(String reason, String step, long due) {
        return text(reason, step, due, null);
    }

    /** A wait for a signal that may be addressed by key. */
    static String keyed(String step, long due, String signal, String key) {
        ObjectNode out = (ObjectNode) Json.parse(text("signal", step, due, signal));
        return Json.write(out.put("key", key));
    }

    /** Returns the first wait with a bounded number of others in {@code also}. */
    static String all(String first, List<String> all) {
        List<String> others = all.stream()
                .filter(one -> !one.equals(first))
                .distinct()
                .limit(MOST_SHOWN)
                .toList();
        if (others.isEmpty()) {
            return first;
        }
        ObjectNode out = (ObjectNode) Json.parse(first);
        ArrayNode also = out.putArray("also");
        others.forEach(one -> also.add(Json.parse(one)));
        return Json.write(out);
    }

    /** @param detail the name of the signal, the other run, or a message */
    static String text(String reason, String step, long due, @Nullable String detail) {
        ObjectNode out =
                JsonNodeFactory.instance.objectNode().put("for", reason).put("step", step);
        if (detail != null) {
            out.put("detail", detail);
        }
        if (due != Write.Rest.NEVER && due > 0) {
            out.put("until", due);
        }
        return Json.write(out);
    }
}
