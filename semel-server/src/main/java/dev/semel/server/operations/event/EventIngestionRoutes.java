package dev.semel.server.operations.event;

import dev.semel.admission.TriggerSource;
import dev.semel.error.ErrorCode;
import dev.semel.error.SemelException;
import dev.semel.server.access.ApiTokenRateLimiter;
import dev.semel.server.connectors.ingress.BinaryCloudEventReader;
import dev.semel.server.connectors.ingress.InboundEvent;
import dev.semel.server.connectors.ingress.InboundEventOrigin;
import dev.semel.server.connectors.ingress.InboundEventProcessor;
import dev.semel.server.connectors.ingress.InboundEventResult;
import dev.semel.server.connectors.ingress.JsonInboundEventReader;
import dev.semel.server.connectors.ingress.ParallelTaskRunner;
import dev.semel.server.connectors.ingress.RunTriggerChainDepthLimit;
import dev.semel.server.http.Principal;
import dev.semel.server.http.ServerHttpRequest;
import dev.semel.server.http.ServerHttpResponse;
import dev.semel.server.operations.InboundJsonRequestBody;
import dev.semel.server.query.ApiErrors;
import dev.semel.server.query.InboundEventJsonRenderer;
import dev.semel.server.query.RunJsonRenderer;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/** Serves `POST /v1/events`: receives CloudEvents 1.0 (structured, binary, batch) and plain JSON events. */
public record EventIngestionRoutes(InboundEventProcessor ingress, ApiTokenRateLimiter quotas) {
    private static final int MOST_EVENTS = 1_000;

    public ServerHttpResponse post(ServerHttpRequest request) {
        String type = String.valueOf(request.header("Content-Type")).strip().toLowerCase(Locale.ROOT);
        // The longer type first: the shorter one is its prefix.
        if (type.startsWith("application/cloudevents-batch")) {
            requireJson(type, "application/cloudevents-batch+json");
            return batch(request, InboundJsonRequestBody.parseBytes(request.body()), true);
        }
        if (type.startsWith("application/cloudevents")) {
            requireJson(type, "application/cloudevents+json");
            return single(
                    request, JsonInboundEventReader.read(InboundJsonRequestBody.parseBytes(request.body()), true));
        }
        Map<String, List<String>> attributes = request.headersWithPrefix("ce-");
        if (!attributes.isEmpty()) {
            return single(
                    request, BinaryCloudEventReader.read(attributes, request.header("Content-Type"), request.body()));
        }
        JsonNode body = InboundJsonRequestBody.parseAny(request);
        return body.isArray() ? batch(request, body, false) : single(request, JsonInboundEventReader.read(body, false));
    }

    private static void requireJson(String type, String expected) {
        int end = type.indexOf(';');
        if (!(end < 0 ? type : type.substring(0, end)).strip().equals(expected)) {
            throw new SemelException(
                    ErrorCode.UNSUPPORTED_MEDIA_TYPE,
                    "The server reads CloudEvents only as JSON, but this request has another Content-Type. The server"
                            + " did not read the body.",
                    "Send the header Content-Type: " + expected + ".");
        }
    }

    private ServerHttpResponse single(ServerHttpRequest request, InboundEvent event) {
        InboundEventResult delivered = deliver(request, event);
        return RunJsonRenderer.ok(
                InboundEventJsonRenderer.deliveryJson(event, delivered, request.id()), delivered.replayed());
    }

    private InboundEventResult deliver(ServerHttpRequest request, InboundEvent event) {
        Principal who = request.principal();
        return ingress.deliver(
                who.workspace(),
                event.fromOutside(),
                origin(who, RunTriggerChainDepthLimit.parse(request.header(RunTriggerChainDepthLimit.HEADER))));
    }

    private InboundEventOrigin origin(Principal who, int depth) {
        return new InboundEventOrigin(TriggerSource.EVENT, who.tokenId(), null, quotas.quota(who), depth);
    }

    private ServerHttpResponse batch(ServerHttpRequest request, JsonNode items, boolean cloud) {
        if (!items.isArray() || items.isEmpty() || items.size() > MOST_EVENTS) {
            throw ApiErrors.invalidInput(
                    "A batch must be an array of 1 to " + MOST_EVENTS + " events. Nothing was stored and no run was"
                            + " started.",
                    "Send the events as a JSON array, in smaller batches.");
        }
        AtomicReferenceArray<ObjectNode> answers = new AtomicReferenceArray<>(items.size());
        ParallelTaskRunner.runAll(
                isOrderVisible(request.principal())
                        ? List.of(IntStream.range(0, items.size()).boxed().toList())
                        : groups(items),
                group -> group.forEach(at -> answers.set(at, deliverItem(request, items.get(at), cloud))));
        return RunJsonRenderer.ok(InboundEventJsonRenderer.itemsJson(answers));
    }

    private boolean isOrderVisible(Principal who) {
        return quotas.quota(who).limitsFresh() || ingress.isOrderVisible(who.workspace());
    }

    /** Equal events run in order, so that the first is the new one; groups run in parallel. */
    private static List<List<Integer>> groups(JsonNode items) {
        Map<List<String>, List<Integer>> groups = new LinkedHashMap<>();
        for (int i = 0; i < items.size(); i++) {
            String source = text(items.get(i), "source");
            String id = text(items.get(i), "id");
            List<String> name = source == null || id == null ? List.of(String.valueOf(i)) : List.of(source, id);
            groups.computeIfAbsent(name, _ -> new ArrayList<>()).add(i);
        }
        return List.copyOf(groups.values());
    }

    private static @Nullable String text(JsonNode item, String name) {
        JsonNode value = item.path(name);
        return value.isString() ? value.stringValue() : null;
    }

    private ObjectNode deliverItem(ServerHttpRequest request, JsonNode item, boolean cloud) {
        try {
            InboundEvent event = JsonInboundEventReader.read(item, cloud);
            ObjectNode out = RunJsonRenderer.newObject().put("status_code", 200);
            out.setAll(InboundEventJsonRenderer.deliveryJson(event, deliver(request, event), request.id()));
            return out;
        } catch (SemelException e) {
            return InboundEventJsonRenderer.problemItem(e, request.id());
        } catch (RuntimeException e) {
            SemelException failure = new SemelException(
                    ErrorCode.INTERNAL,
                    "The server failed to process this event. It may or may not have started runs.",
                    "Send the event again with the same id. This never starts a run twice.",
                    e);
            return InboundEventJsonRenderer.problemItem(failure, request.id());
        }
    }
}
