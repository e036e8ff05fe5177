package dev.semel.trials.crash;

import java.util.Map;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** What came back over the wire; header names in lower case. */
record Reply(int status, Map<String, String> headers, String body) {
    private static final JsonMapper JSON = new JsonMapper();

    JsonNode json() {
        return JSON.readTree(body);
    }
}
