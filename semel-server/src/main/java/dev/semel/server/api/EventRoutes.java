package dev.semel.server.api;

import dev.semel.error.ErrorCode;
import dev.semel.error.SemelException;
import dev.semel.json.StrictJson;
import dev.semel.server.access.TriggerQuotas;
import dev.semel.server.http.HttpRequest;
import dev.semel.server.http.HttpResponse;
import dev.semel.server.http.Principal;
import dev.semel.server.ingress.BinaryEventReader;
import dev.semel.server.ingress.EventDeliveryResult;
import dev.semel.server.ingress.EventIngress;
import dev.semel.server.ingress.EventOrigin;
import dev.semel.server.ingress.InboundEvent;
import dev.semel.server.ingress.JsonEventReader;
import dev.semel.server.ingress.ParallelTasks;
import dev.semel.server.ingress.RunDepthLimit;
import dev.semel.trigger.Trigger;
import dev.semel.trigger.TriggerSource;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.atomic.AtomicReferenceArray;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/** Serves `POST /v1/events`: receives CloudEvents 1.0 (structured, binary, batch) and plain JSON events. */
final class EventRoutes {
    private static final int MOST_EVENTS = 1_000;

    private final EventIngress ingress;
    private final TriggerQuotas quotas;

    EventRoutes(EventIngress ingress, TriggerQuotas quotas) {
        this.ingress = ingress;
        this.quotas = quotas;
    }

    HttpResponse post(HttpRequest request) {
        String type = String.valueOf(request.header("Content-Type")).strip().toLowerCase(Locale.ROOT);
        // The longer type first: the shorter one is its prefix.
        if (type.startsWith("application/cloudevents-batch")) {
            requireJson(type, "application/cloudevents-batch+json");
            return batch(request, StrictJson.parse(request.body()), true);
        }
        if (type.startsWith("application/cloudevents")) {
            requireJson(type, "application/cloudevents+json");
            return single(request, JsonEventReader.read(StrictJson.parse(request.body()), true));
        }
        Map<String, List<String>> attributes = request.headersWithPrefix("ce-");
        if (!attributes.isEmpty()) {
            return single(request, BinaryEventReader.read(attributes, request.header("Content-Type"), request.body()));
        }
        ContentTypeCheck.requireJson(request);
        JsonNode body = StrictJson.parse(request.body());
        return body.isArray() ? batch(request, body, false) : single(request, JsonEventReader.read(body, false));
    }

    private static void requireJson(String type, String expected) {
        int end = type.indexOf(';');
        if (!(end < 0 ? type : type.substring(0, end)).strip().equals(expected)) {
            throw new SemelException(
                    ErrorCode.UNSUPPORTED_MEDIA_TYPE,
                    "The server reads CloudEvents only as JSON, and the Content-Type is another one. It did not read"
                            + " the body.",
                    "Send the header Content-Type: " + expected + ".");
        }
    }

    private HttpResponse single(HttpRequest request, InboundEvent event) {
        EventDeliveryResult delivered = deliver(request, event);
        HttpResponse answer = JsonViews.ok(EventViews.deliveryJson(event, delivered, request.id()));
        return delivered.replayed()
                ? answer.with("X-Idempotent-Replayed", "true").with("Idempotent-Replayed", "true")
                : answer;
    }

    private EventDeliveryResult deliver(HttpRequest request, InboundEvent event) {
        Principal who = request.principal();
        return ingress.deliver(
                who.workspace(), event, origin(who, RunDepthLimit.parse(request.header(RunDepthLimit.HEADER))));
    }

    private EventOrigin origin(Principal who, int depth) {
        Runnable fresh = quotas.freshCheck(who);
        Trigger.AdmissionChecks quota = fresh == null
                ? Trigger.AdmissionChecks.NONE
                : new Trigger.AdmissionChecks(fresh, () -> quotas.countReplay(who));
        return new EventOrigin(TriggerSource.EVENT, who.tokenId(), null, quota, depth);
    }

    private HttpResponse batch(HttpRequest request, JsonNode items, boolean cloud) {
        if (!items.isArray() || items.isEmpty() || items.size() > MOST_EVENTS) {
            throw new SemelException(
                    ErrorCode.INVALID_INPUT,
                    "A batch must be an array of 1 to " + MOST_EVENTS + " events. Nothing was stored and no run was"
                            + " started.",
                    "Send the events as a JSON array, in smaller batches.");
        }
        AtomicReferenceArray<ObjectNode> answers = new AtomicReferenceArray<>(items.size());
        ParallelTasks.runAll(
                groups(items),
                group -> group.forEach(at -> answers.set(at, deliverItem(request, items.get(at), cloud))));
        ObjectNode out = JsonViews.newObject();
        ArrayNode list = out.putArray("items");
        for (int i = 0; i < answers.length(); i++) {
            list.add(answers.get(i));
        }
        return JsonViews.ok(out);
    }

    /**
     * Groups equal events. Events of one group run in order, so that the first is the new one; groups run in parallel.
     */
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

    private ObjectNode deliverItem(HttpRequest request, JsonNode item, boolean cloud) {
        try {
            InboundEvent event = JsonEventReader.read(item, cloud);
            ObjectNode out = JsonViews.newObject().put("status_code", 200);
            out.setAll(EventViews.deliveryJson(event, deliver(request, event), request.id()));
            return out;
        } catch (SemelException e) {
            return EventViews.problemItem(e, request.id());
        } catch (RuntimeException e) {
            SemelException failure = new SemelException(
                    ErrorCode.INTERNAL,
                    "The server failed to process this event. It may or may not have started runs.",
                    "Send it again with the same id: that never starts a run twice.",
                    e);
            return EventViews.problemItem(failure, request.id());
        }
    }
}
