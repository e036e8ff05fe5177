package dev.semel.server.channel;

import dev.semel.workflow.Failures;
import dev.semel.workflow.Step;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import tools.jackson.databind.JsonNode;

/** HTTP as channels need it: one call is one request. */
@FunctionalInterface
public interface Calls {
    /**
     * @return the body of an answer that is a success: JSON where it says so, otherwise a text
     * @throws Failures.NotSent where it did not leave
     * @throws Failures.Status where the answer is not 2xx
     * @throws IOException where nobody knows
     */
    JsonNode send(Step step, Call call) throws IOException, InterruptedException;

    record Call(String method, String url, List<Header> headers, byte[] body, Duration timeout) {
        public Call {
            headers = List.copyOf(headers);
        }
    }

    /** @param secret whether the value is a credential, which is never shown and never goes elsewhere */
    record Header(String name, String value, boolean secret) {
        @Override
        public String toString() {
            return name + ": " + (secret ? "…" : value);
        }
    }
}
