package dev.semel.replay;

import dev.semel.json.Json;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.JsonNodeFactory;

/**
 * What a plan was asked for, as it is kept with the plan.
 *
 * @param what the runs, in the words of whoever asked: a filter, or their ids
 * @param from as {@link Terms} has it
 * @param asItIs by the version of each workflow that is current, and not by the one that the run had
 */
public record Order(String what, String from, boolean asItIs) {
    public String toJson() {
        return Json.write(JsonNodeFactory.instance
                .objectNode()
                .put("what", what)
                .put("from", from)
                .put("as_it_is", asItIs));
    }

    public static Order parse(String text) {
        JsonNode json = Json.parse(text);
        return new Order(
                json.required("what").asString(),
                json.required("from").asString(),
                json.required("as_it_is").asBoolean());
    }
}
