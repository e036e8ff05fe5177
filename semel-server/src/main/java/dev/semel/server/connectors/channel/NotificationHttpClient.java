package dev.semel.server.connectors.channel;

import dev.semel.error.HttpStatusException;
import dev.semel.error.RequestNotSent;
import dev.semel.workflow.Step;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import tools.jackson.databind.JsonNode;

/** HTTP client that message channels use. One call sends exactly one request and never retries. */
@FunctionalInterface
public interface NotificationHttpClient {
    /**
     * @return the body of a 2xx response: JSON if its Content-Type is JSON, otherwise a text node
     * @throws RequestNotSent if no byte of the request was sent
     * @throws HttpStatusException if the status is not 2xx
     * @throws IOException if the outcome is unknown
     */
    JsonNode send(Step step, Call call) throws IOException, InterruptedException;

    record Call(String method, String url, List<Header> headers, byte[] body, Duration timeout) {
        public Call {
            headers = List.copyOf(headers);
        }
    }

    /** @param secret whether the value is a credential: it is never logged and never sent to another origin */
    record Header(String name, String value, boolean secret) {
        @Override
        public String toString() {
            return name + ": " + (secret ? "…" : value);
        }
    }
}
