package dev.semel.engine;

import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.JsonNodeFactory;

/** How a person's decision reaches a run: as a signal with one key, so that the first decision is the one that counts. */
public final class Deciding {
    public static final String ONCE = "decision";

    private Deciding() {}

    public static String approval(String step) {
        return Signals.APPROVAL + step;
    }

    public static String review(String step) {
        return Signals.REVIEW + step;
    }

    public static JsonNode decision(boolean approved, String by, String note) {
        return JsonNodeFactory.instance
                .objectNode()
                .put("approved", approved)
                .put("by", by)
                .put("note", note);
    }
}
