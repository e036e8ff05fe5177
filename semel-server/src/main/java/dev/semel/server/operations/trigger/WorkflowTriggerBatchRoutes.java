package dev.semel.server.operations.trigger;

import dev.semel.admission.TriggerResult;
import dev.semel.definition.WorkflowCatalogEntry;
import dev.semel.error.ErrorCode;
import dev.semel.error.SemelException;
import dev.semel.idempotency.IdempotencyKey;
import dev.semel.server.connectors.ingress.ParallelTaskRunner;
import dev.semel.server.connectors.ingress.RunTriggerChainDepthLimit;
import dev.semel.server.http.ServerHttpRequest;
import dev.semel.server.http.ServerHttpResponse;
import dev.semel.server.operations.InboundJsonRequestBody;
import dev.semel.server.query.ApiErrors;
import dev.semel.server.query.InboundEventJsonRenderer;
import dev.semel.server.query.RunJsonRenderer;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/** Serves `POST /v1/workflows/{id}/trigger-batch`: admits each item on its own and returns one result per item. */
public record WorkflowTriggerBatchRoutes(WorkflowTriggerRoutes triggers) {
    private static final int MOST_ITEMS = 1_000;

    public ServerHttpResponse trigger(ServerHttpRequest request) {
        JsonNode body = InboundJsonRequestBody.parseAny(request);
        JsonNode items = body.isObject() ? body.get("items") : null;
        if (items == null || !items.isArray() || items.isEmpty() || items.size() > MOST_ITEMS) {
            throw ApiErrors.invalidTrigger("/items", "items must be an array of 1 to " + MOST_ITEMS + " items");
        }
        WorkflowCatalogEntry workflow = triggers.workflow(request);
        TriggerRequestPreferences preferences = TriggerRequestPreferences.parse(request);
        AtomicReferenceArray<ObjectNode> answers = new AtomicReferenceArray<>(items.size());
        ParallelTaskRunner.runAll(
                triggers.isOrderVisible(request.principal(), workflow) ? List.of(inOrder(items)) : groups(items),
                group -> group.forEach(i -> answers.set(i, one(request, items.get(i), preferences.strict()))));
        return preferences.addAppliedHeader(RunJsonRenderer.ok(InboundEventJsonRenderer.itemsJson(answers)));
    }

    private static List<Integer> inOrder(JsonNode items) {
        return IntStream.range(0, items.size()).boxed().toList();
    }

    /** Items of one key run in order, so that the first is the new one; groups run in parallel. */
    private static List<List<Integer>> groups(JsonNode items) {
        Map<String, List<Integer>> groups = new LinkedHashMap<>();
        for (int i = 0; i < items.size(); i++) {
            JsonNode key = items.get(i).get("key");
            String name = key != null && key.isString() ? "key " + key.stringValue() : "item " + i;
            groups.computeIfAbsent(name, _ -> new ArrayList<>()).add(i);
        }
        return List.copyOf(groups.values());
    }

    private ObjectNode one(ServerHttpRequest request, JsonNode item, boolean strict) {
        try {
            TriggerRequestBody ask = TriggerRequestBody.ofItem(item);
            WorkflowTriggerRoutes.TriggerOptions terms = new WorkflowTriggerRoutes.TriggerOptions(
                    key(item),
                    strict,
                    WorkflowTriggerRoutes.HeaderLookup.NONE,
                    RunTriggerChainDepthLimit.parse(request.header(RunTriggerChainDepthLimit.HEADER)));
            TriggerResult answer = triggers.admit(request.principal(), request.parameter("id"), ask, terms);
            ObjectNode out = RunJsonRenderer.newObject().put("status_code", 200);
            out.setAll(TriggerResponseBuilder.body(answer, ask.warnings()));
            return out;
        } catch (SemelException e) {
            return InboundEventJsonRenderer.problemItem(e, request.id());
        } catch (RuntimeException e) {
            return InboundEventJsonRenderer.problemItem(
                    new SemelException(
                            ErrorCode.INTERNAL,
                            "The server failed to process this item. It may or may not have started a run.",
                            "Send the item again with the same key. This never starts a second run."),
                    request.id());
        }
    }

    private static @Nullable IdempotencyKey key(JsonNode item) {
        JsonNode key = item.get("key");
        if (key == null || key.isNull()) {
            return null;
        }
        if (!key.isString()) {
            throw ApiErrors.invalidTrigger("/key", "key must be text");
        }
        return IdempotencyKey.of(key.stringValue());
    }
}
