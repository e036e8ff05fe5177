package dev.semel.server.world;

import dev.semel.server.channel.Calls;
import dev.semel.server.outbound.Outbound;
import dev.semel.server.outbound.Request;
import dev.semel.server.outbound.Target;
import dev.semel.workflow.Step;
import java.io.IOException;
import java.util.List;
import tools.jackson.databind.JsonNode;

/** Sends HTTP requests of message channels with the outbound HTTP client. */
record Courier(Outbound outbound) implements Calls {
    @Override
    public JsonNode send(Step step, Call call) throws IOException {
        List<dev.semel.server.outbound.Header> headers = call.headers().stream()
                .map(header -> header.secret()
                        ? dev.semel.server.outbound.Header.secret(header.name(), header.value())
                        : dev.semel.server.outbound.Header.of(header.name(), header.value()))
                .toList();
        var request = new Request(
                call.method(),
                Target.of(call.url()),
                headers,
                call.body(),
                Request.Manner.USUAL.timeout(call.timeout()));
        return outbound.send(request).orThrow().json();
    }
}
