package dev.semel.trials.support;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** What came back. Read with Jackson itself, not with the code under test. */
public record HttpReply(int status, List<String> lines, String body) {
    private static final JsonMapper JSON = JsonMapper.shared();

    public @Nullable String header(String name) {
        List<String> values = headers(name);
        return values.isEmpty() ? null : values.getFirst();
    }

    public List<String> headers(String name) {
        List<String> out = new ArrayList<>();
        for (String line : lines) {
            int colon = line.indexOf(':');
            if (line.substring(0, colon).equalsIgnoreCase(name)) {
                out.add(line.substring(colon + 1).strip());
            }
        }
        return out;
    }

    public JsonNode json() {
        return JSON.readTree(body);
    }

    /** The text of a member that must be there. */
    public String text(String member) {
        JsonNode value = json().get(member);
        assertNotNull(value, "no member " + member + " in " + body);
        return value.asString();
    }

    public boolean has(String member) {
        return json().has(member);
    }

    public boolean flag(String member) {
        return json().path(member).asBoolean(false);
    }

    public String runId() {
        return text("run_id");
    }

    /** States the status, and shows the body where it is another one. */
    public HttpReply expect(int wanted) {
        assertEquals(wanted, status, () -> lines + " " + body);
        return this;
    }
}
