package dev.semel.server.operations.event;

import dev.semel.error.SemelException;
import dev.semel.run.RunId;
import dev.semel.runtime.SemelRuntime;
import dev.semel.server.connectors.ingress.InboundEventResult;
import dev.semel.server.connectors.webhooks.InboundWebhookRequest;
import dev.semel.server.connectors.webhooks.WebhookReceiver;
import dev.semel.server.connectors.webhooks.WebhookReceiver.Outcome;
import dev.semel.server.http.ServerHttpRequest;
import dev.semel.server.http.ServerHttpResponse;
import dev.semel.server.http.TokenScope;
import dev.semel.server.operations.ApiRouter;
import dev.semel.server.operations.AuditNote;
import dev.semel.server.operations.IdempotentInboundRequestExecutor;
import dev.semel.server.query.ApiErrors;
import dev.semel.server.query.InboundEventJsonRenderer;
import dev.semel.server.query.PagingParameters;
import dev.semel.server.query.RunJsonRenderer;
import dev.semel.server.query.StoreReader;
import dev.semel.store.InboundWebhookDelivery;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/** Receives webhook deliveries from providers, lists them, and processes stored deliveries again. */
public record InboundWebhookDeliveryRoutes(
        SemelRuntime semel, WebhookReceiver receiver, IdempotentInboundRequestExecutor actions, String publicUrl) {
    private static final String PREFIX = "dlv_";

    public void addTo(ApiRouter router) {
        // Open: a provider has no token and authenticates with its signature. An Idempotency-Key has no effect here.
        router.router().add("POST", "/v1/webhooks/{name}", TokenScope.OPEN, this::receive);
        // Open too: Meta verifies the URL with a token in the query. Names of webhooks do not begin with src_.
        router.router().add("GET", "/v1/webhooks/src_{name}", TokenScope.OPEN, this::verifyUrl);
        router.get("/v1/webhooks/{name}/deliveries", TokenScope.READ, this::list)
                .post("/v1/webhooks/{name}/deliveries/{delivery_id}/reprocess", TokenScope.OPERATE, this::reprocess);
    }

    /** The response does not contain workflow names, which the provider must not learn. */
    ServerHttpResponse receive(ServerHttpRequest request) {
        request.reserveParsedBody();
        InboundWebhookRequest delivery = new InboundWebhookRequest(
                request::headerLines, request.body(), request.headersWithPrefix("ce-"), urls(request));
        return switch (receiver.receive(request.parameter("name"), delivery)) {
            case Outcome.Challenge(String text) ->
                RunJsonRenderer.ok(RunJsonRenderer.newObject().put("challenge", text));
            case Outcome.Received received -> RunJsonRenderer.ok(toJson(received), received.replayed());
            case Outcome.Batch(List<Outcome> items) -> batch(items, request);
            case Outcome.Rejected(SemelException problem) -> throw problem;
        };
    }

    /** The challenge is returned only after the token was checked, and as text, so that no browser runs it. */
    ServerHttpResponse verifyUrl(ServerHttpRequest request) {
        String challenge = request.query("hub.challenge");
        String token = request.query("hub.verify_token");
        if (!"subscribe".equals(request.query("hub.mode")) || challenge == null || token == null) {
            throw ApiErrors.invalidQuery("a verification needs hub.mode=subscribe, hub.challenge and hub.verify_token");
        }
        String answer = receiver.verifyUrl(request.parameter("name"), token, challenge);
        return ServerHttpResponse.of(200, "text/plain; charset=utf-8", answer.getBytes(StandardCharsets.UTF_8));
    }

    /**
     * The URLs that the provider may have called. A proxy may change scheme, host and port, so each of them is tried:
     * the path is what separates webhooks, and no candidate is valid without a signature.
     */
    private List<String> urls(ServerHttpRequest request) {
        String query = request.rawQuery();
        String path = request.rawPath() + (query.isEmpty() ? "" : "?" + query);
        List<String> urls = new ArrayList<>();
        if (!publicUrl.isEmpty()) {
            urls.add(publicUrl + path);
        }
        List<String> hosts = request.headerLines("Host");
        if (hosts.size() == 1) {
            String host = hosts.getFirst();
            int port = host.lastIndexOf(':');
            String bare = port > host.lastIndexOf(']') ? host.substring(0, port) : host;
            for (String address : new TreeSet<>(List.of(host, bare))) {
                urls.add("https://" + address + path);
                urls.add("http://" + address + path);
            }
            urls.add("https://" + bare + ":443" + path);
            urls.add("http://" + bare + ":80" + path);
        }
        return urls;
    }

    private static ObjectNode toJson(Outcome.Received received) {
        ObjectNode out = RunJsonRenderer.newObject().put("delivery_id", id(received.delivery()));
        out.put("event_id", received.delivery().eventId()).put("idempotent_replayed", received.replayed());
        addRuns(out, received.delivered());
        if (!received.signalledRuns().isEmpty()) {
            received.signalledRuns().forEach(out.putArray("answered")::add);
        }
        return out;
    }

    private static ServerHttpResponse batch(List<Outcome> items, ServerHttpRequest request) {
        ObjectNode out = RunJsonRenderer.newObject();
        ArrayNode list = out.putArray("items");
        boolean replayed = true;
        for (Outcome item : items) {
            if (item instanceof Outcome.Received received) {
                list.add(RunJsonRenderer.newObject().put("status_code", 200).setAll(toJson(received)));
                replayed &= received.replayed();
            } else if (item instanceof Outcome.Rejected(SemelException problem)) {
                list.add(InboundEventJsonRenderer.problemItem(problem, request.id()));
                replayed = false;
            }
        }
        return RunJsonRenderer.ok(out, replayed);
    }

    private static void addRuns(ObjectNode out, InboundEventResult delivered) {
        ArrayNode runs = out.putArray("run_ids");
        delivered.runs().stream().filter(run -> run.rejection() == null).forEach(run -> runs.add(run.runId()));
        long rejected =
                delivered.runs().stream().filter(run -> run.rejection() != null).count();
        if (rejected > 0) {
            out.put("rejected", rejected);
        }
    }

    private static String id(InboundWebhookDelivery delivery) {
        return PREFIX + PagingParameters.cursor(delivery.id());
    }

    ServerHttpResponse list(ServerHttpRequest request) {
        PagingParameters paging = PagingParameters.parse(request);
        int workspace = request.principal().workspace();
        String webhook = request.parameter("name");
        return RunJsonRenderer.pageResponse(
                StoreReader.read(
                        semel, reads -> reads.deliveries(workspace, webhook, paging.afterId(), paging.limit())),
                paging.limit(),
                InboundWebhookDeliveryRoutes::toJson,
                row -> PagingParameters.cursor(row.id()));
    }

    private static ObjectNode toJson(InboundWebhookDelivery row) {
        ObjectNode out = RunJsonRenderer.newObject()
                .put("delivery_id", id(row))
                .put("at", RunJsonRenderer.formatTime(row.at()))
                .put("outcome", row.outcome().name().toLowerCase(Locale.ROOT));
        if (!row.eventId().isEmpty()) {
            out.put("event_id", row.eventId()).put("type", row.type());
        }
        return row.note().isEmpty() ? out : out.put("note", row.note());
    }

    /** Safe to repeat: existing runs are replayed and only missing runs start. */
    ServerHttpResponse reprocess(ServerHttpRequest request) {
        int workspace = request.principal().workspace();
        RunId id = parseId(request.parameter("delivery_id"));
        InboundWebhookDelivery row = ApiErrors.orNotFound(
                id == null ? null : semel.view(reads -> reads.delivery(workspace, request.parameter("name"), id)),
                "This webhook has no delivery with this id. No run was started.",
                "List the deliveries with GET /v1/webhooks/{name}/deliveries.");
        var entry = new AuditNote("delivery.reprocess", id(row), request.parameter("name"));
        InboundEventResult delivered = ApiErrors.orNotFound(
                receiver.reprocess(row, () -> actions.recordAudit(request, entry)),
                "Semel has no payload for this delivery: it was rejected, was a duplicate, or its retention ended."
                        + " No run was started.",
                "Reprocess the first accepted delivery of the event, or let the provider send the event again.");
        ObjectNode out = RunJsonRenderer.newObject()
                .put("delivery_id", id(row))
                .put("idempotent_replayed", delivered.replayed());
        addRuns(out, delivered);
        return RunJsonRenderer.ok(out, delivered.replayed());
    }

    private static @Nullable RunId parseId(String text) {
        return text.startsWith(PREFIX) ? RunId.parse("run_" + text.substring(PREFIX.length())) : null;
    }
}
