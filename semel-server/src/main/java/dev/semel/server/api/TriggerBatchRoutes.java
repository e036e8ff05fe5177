package dev.semel.server.api;

import dev.semel.admission.IdempotencyKey;
import dev.semel.error.ErrorCode;
import dev.semel.error.SemelException;
import dev.semel.json.StrictJson;
import dev.semel.server.http.HttpRequest;
import dev.semel.server.http.ProblemResponses;
import dev.semel.server.ingress.RunDepthLimit;
import dev.semel.trigger.TriggerResult;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/** Serves `POST /v1/workflows/{id}/trigger-batch`: admits each item on its own and returns one result per item. */
final class TriggerBatchRoutes {
    private static final int MOST_ITEMS = 1_000;

    private final TriggerRoutes triggers;

    TriggerBatchRoutes(TriggerRoutes triggers) {
        this.triggers = triggers;
    }

    dev.semel.server.http.HttpResponse trigger(HttpRequest request) {
        ContentTypeCheck.requireJson(request);
        JsonNode body = StrictJson.parse(request.body());
        JsonNode items = body.isObject() ? body.get("items") : null;
        if (items == null || !items.isArray() || items.isEmpty() || items.size() > MOST_ITEMS) {
            throw TriggerRequestBody.invalidBody("/items", "items must be an array of 1 to " + MOST_ITEMS + " items");
        }
        triggers.findWorkflow(request.principal(), request.parameter("id"));
        TriggerPreferences preferences = TriggerPreferences.parse(request);
        List<@Nullable ObjectNode> answers = new ArrayList<>();
        for (int i = 0; i < items.size(); i++) {
            answers.add(null);
        }
        runGroups(groups(items), i -> answers.set(i, one(request, items.get(i), preferences.strict())));
        ObjectNode out = JsonViews.newObject();
        ArrayNode list = out.putArray("items");
        answers.forEach(answer -> {
            if (answer != null) {
                list.add(answer);
            }
        });
        return preferences.addAppliedHeader(JsonViews.ok(out));
    }

    /**
     * Groups the items by key. Items of one group run in order, so that the first is the new one; groups run in
     * parallel.
     */
    private static List<List<Integer>> groups(JsonNode items) {
        Map<String, List<Integer>> groups = new LinkedHashMap<>();
        for (int i = 0; i < items.size(); i++) {
            JsonNode key = items.get(i).get("key");
            String name = key != null && key.isString() ? "key " + key.stringValue() : "item " + i;
            groups.computeIfAbsent(name, _ -> new ArrayList<>()).add(i);
        }
        return List.copyOf(groups.values());
    }

    private interface ItemAt {
        void run(int at);
    }

    private static void runGroups(List<List<Integer>> groups, ItemAt item) {
        try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
            List<Future<?>> all = new ArrayList<>();
            for (List<Integer> group : groups) {
                all.add(threads.submit(() -> group.forEach(item::run)));
            }
            for (Future<?> one : all) {
                one.get();
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("interrupted inside a batch", e);
        } catch (ExecutionException e) {
            throw new IllegalStateException("an item of a batch failed unexpectedly", e.getCause());
        }
    }

    private ObjectNode one(HttpRequest request, JsonNode item, boolean strict) {
        try {
            TriggerRequestBody ask = TriggerRequestBody.ofItem(item);
            TriggerRoutes.TriggerOptions terms = new TriggerRoutes.TriggerOptions(
                    key(item),
                    strict,
                    TriggerRoutes.HeaderLookup.NONE,
                    RunDepthLimit.parse(request.header(RunDepthLimit.HEADER)));
            TriggerResult answer = triggers.admit(request.principal(), request.parameter("id"), ask, terms);
            ObjectNode out = JsonViews.newObject().put("status_code", 200);
            out.setAll(TriggerResponses.body(answer, ask.warnings()));
            return out;
        } catch (SemelException e) {
            return problem(e, request);
        } catch (RuntimeException e) {
            return problem(
                    new SemelException(
                            ErrorCode.INTERNAL,
                            "The server failed to process this item. It may or may not have started a run.",
                            "Send it again with the same key: that never starts a second run."),
                    request);
        }
    }

    private static ObjectNode problem(SemelException e, HttpRequest request) {
        UUID instance =
                new UUID(request.id().getMostSignificantBits(), request.id().getLeastSignificantBits());
        ObjectNode out = JsonViews.newObject().put("status_code", e.code().status());
        out.setAll(ProblemResponses.toDocument(e, instance));
        return out;
    }

    private static @Nullable IdempotencyKey key(JsonNode item) {
        JsonNode key = item.get("key");
        if (key == null || key.isNull()) {
            return null;
        }
        if (!key.isString()) {
            throw TriggerRequestBody.invalidBody("/key", "key must be text");
        }
        return IdempotencyKey.of(key.stringValue());
    }
}
