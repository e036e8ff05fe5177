package dev.semel.server.operations;

import java.util.List;
import java.util.Locale;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

/** A path, query or header parameter of an operation. */
public record Parameter(String name, Place place, String description, boolean required, ObjectNode schema) {
    public static final Parameter WORKFLOW = path("id", "Name or `wf_…` id of the workflow.");
    public static final Parameter RUN = path("run_id", "Id of the run, generated or chosen.");
    public static final Parameter KEY = path("key", "The key, percent-encoded.");
    public static final Parameter LIMIT =
            number("limit", "Rows per page.", 1, 200).withDefault(50);
    public static final Parameter AFTER = text("after", "Cursor: `next` of the previous page.");
    static final Parameter CHANGE_KEY = header(
            "Idempotency-Key",
            "Idempotency key of this change. A repeated request within 24 hours is executed once and gets the same"
                    + " response. Unique per workspace and action.");

    public enum Place {
        PATH,
        QUERY,
        HEADER
    }

    public static Parameter path(String name, String description) {
        return new Parameter(name, Place.PATH, description, true, type("string"));
    }

    public static Parameter header(String name, String description) {
        return new Parameter(name, Place.HEADER, description, false, type("string"));
    }

    /** An optional query parameter with any text. */
    public static Parameter text(String name, String description) {
        return new Parameter(name, Place.QUERY, description, false, type("string"));
    }

    /** An optional query parameter with one of these texts. */
    public static Parameter oneOf(String name, String description, List<String> texts) {
        ObjectNode schema = type("string");
        texts.forEach(schema.putArray("enum")::add);
        return new Parameter(name, Place.QUERY, description, false, schema);
    }

    /** An optional query parameter that is `true` or absent. */
    public static Parameter flag(String name, String description) {
        return new Parameter(name, Place.QUERY, description, false, type("boolean"));
    }

    /** An optional query parameter that is a whole number in this range. */
    public static Parameter number(String name, String description, long min, long max) {
        ObjectNode schema = type("integer").put("minimum", min).put("maximum", max);
        return new Parameter(name, Place.QUERY, description, false, schema);
    }

    /** The same parameter with a default that the description shows. */
    public Parameter withDefault(long number) {
        return new Parameter(
                name, place, description, required, schema.deepCopy().put("default", number));
    }

    public Parameter asRequired() {
        return new Parameter(name, place, description, true, schema);
    }

    ObjectNode toOpenApi() {
        ObjectNode out = JsonNodeFactory.instance.objectNode();
        out.put("name", name).put("in", place.name().toLowerCase(Locale.ROOT)).put("description", description);
        out.put("required", required).set("schema", schema);
        return out;
    }

    private static ObjectNode type(String name) {
        return JsonNodeFactory.instance.objectNode().put("type", name);
    }
}
