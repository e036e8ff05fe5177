package dev.semel.server.services;

import dev.semel.server.channel.ChannelHttpClient;
import dev.semel.server.outbound.OutboundHttpClient;
import dev.semel.server.outbound.OutboundRequest;
import dev.semel.server.outbound.TargetUrl;
import dev.semel.workflow.Step;
import java.io.IOException;
import java.util.List;
import tools.jackson.databind.JsonNode;

/** Sends HTTP requests of message channels with the outbound HTTP client. */
record OutboundChannelHttpClient(OutboundHttpClient outbound) implements ChannelHttpClient {
    @Override
    public JsonNode send(Step step, Call call) throws IOException {
        List<dev.semel.server.outbound.RequestHeader> headers = call.headers().stream()
                .map(header -> header.secret()
                        ? dev.semel.server.outbound.RequestHeader.secret(header.name(), header.value())
                        : dev.semel.server.outbound.RequestHeader.of(header.name(), header.value()))
                .toList();
        var request = new OutboundRequest(
                call.method(),
                TargetUrl.parse(call.url()),
                headers,
                call.body(),
                OutboundRequest.SendOptions.USUAL.timeout(call.timeout()));
        return outbound.send(request).orThrow().json();
    }
}
