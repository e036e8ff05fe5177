package dev.semel.journal;

import dev.semel.json.Json;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.JsonNodeFactory;

/**
 * The append-only memory of a run, in chunks: entries that become durable together are one stored text. The run row
 * itself is the first entry, so the journal of a run that did nothing yet is empty.
 */
public final class Journal {
    private Journal() {}

    public static String encode(List<Entry> entries) {
        ArrayNode out = JsonNodeFactory.instance.arrayNode(entries.size());
        for (Entry entry : entries) {
            switch (entry) {
                case Entry.StepDone done ->
                    out.addObject()
                            .put("step", done.path())
                            .put("at", done.at())
                            .set("result", done.result());
            }
        }
        return Json.write(out);
    }

    public static List<Entry> decode(String chunk) {
        List<Entry> entries = new ArrayList<>();
        for (JsonNode line : Json.parse(chunk)) {
            entries.add(new Entry.StepDone(
                    line.required("step").asString(), line.required("at").asLong(), line.required("result")));
        }
        return entries;
    }

    /** The results by path, in the order in which they were recorded. */
    public static Map<String, JsonNode> results(List<Entry> entries) {
        Map<String, JsonNode> results = new LinkedHashMap<>();
        for (Entry entry : entries) {
            switch (entry) {
                case Entry.StepDone done -> results.putIfAbsent(done.path(), done.result());
            }
        }
        return results;
    }
}
