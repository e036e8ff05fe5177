package dev.semel.server.services;

import dev.semel.server.connectors.channel.NotificationHttpClient;
import dev.semel.server.connectors.outbound.OutboundHttpClient;
import dev.semel.server.connectors.outbound.OutboundRequest;
import dev.semel.server.connectors.outbound.OutboundRequestUrl;
import dev.semel.workflow.Step;
import java.io.IOException;
import java.util.List;
import tools.jackson.databind.JsonNode;

record OutboundNotificationHttpClient(OutboundHttpClient outbound) implements NotificationHttpClient {
    @Override
    public JsonNode send(Step step, Call call) throws IOException {
        List<dev.semel.server.connectors.outbound.OutboundRequestHeader> headers = call.headers().stream()
                .map(header -> header.secret()
                        ? dev.semel.server.connectors.outbound.OutboundRequestHeader.secret(
                                header.name(), header.value())
                        : dev.semel.server.connectors.outbound.OutboundRequestHeader.of(header.name(), header.value()))
                .toList();
        var request = new OutboundRequest(
                call.method(),
                OutboundRequestUrl.parse(call.url()),
                headers,
                call.body(),
                OutboundRequest.SendOptions.USUAL.timeout(call.timeout()));
        return outbound.send(request).orThrow().json();
    }
}
