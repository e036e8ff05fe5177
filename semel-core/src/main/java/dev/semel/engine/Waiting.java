package dev.semel.engine;

import dev.semel.json.Json;
import dev.semel.store.Write;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

/** What a run waits for, as it is stored and shown: `{"for":"signal","step":"paid","until":…}`. */
final class Waiting {
    private Waiting() {}

    static String text(String reason, String step, long due) {
        return text(reason, step, due, null);
    }

    /** @param detail the signal's name, the other run, or a message */
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
