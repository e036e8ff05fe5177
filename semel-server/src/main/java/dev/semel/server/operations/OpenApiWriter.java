package dev.semel.server.operations;

import dev.semel.server.http.TokenScope;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

/**
 * Writes the OpenAPI 3.1 description of the declared operations. The base document has what no operation declares: the
 * title, the tags, the problem document, and the error responses and headers that operations share.
 */
public final class OpenApiWriter {
    private static final String JSON = "application/json";

    private final ObjectNode document;
    private final RecordSchemas schemas = new RecordSchemas();

    private OpenApiWriter(ObjectNode base) {
        this.document = base.deepCopy();
    }

    public static ObjectNode write(ObjectNode base, OperationTable table) {
        OpenApiWriter writer = new OpenApiWriter(base);
        ObjectNode paths = writer.document.withObjectProperty("paths");
        for (Operation<?> operation : table.operations()) {
            put(
                    paths.withObjectProperty(operation.path()),
                    operation.method().toLowerCase(Locale.ROOT),
                    writer.operationJson(operation));
        }
        ObjectNode named = writer.document.withObjectProperty("components").withObjectProperty("schemas");
        writer.schemas.all().forEachEntry((name, schema) -> put(named, name, schema));
        return writer.document;
    }

    private static void put(ObjectNode into, String name, JsonNode value) {
        if (into.has(name)) {
            throw new IllegalStateException(name + " is declared by an operation and described in the base document");
        }
        into.set(name, value);
    }

    private ObjectNode operationJson(Operation<?> operation) {
        Operation.Declaration declared = operation.declared;
        ObjectNode out = JsonNodeFactory.instance.objectNode().put("operationId", operation.id());
        out.putArray("tags").add(declared.tag);
        out.put("summary", declared.summary);
        if (!declared.description.isEmpty()) {
            out.put("description", declared.description);
        }
        ArrayNode parameters = out.putArray("parameters");
        declared.parameters.forEach(one -> parameters.add(one.toOpenApi()));
        if (operation.changes() && operation.scope() != TokenScope.OPEN) {
            parameters.add(Parameter.CHANGE_KEY.toOpenApi());
        }
        Operation.RequestBody request = declared.request;
        if (request != null) {
            out.putObject("requestBody")
                    .put("description", request.description())
                    .put("required", request.required())
                    .putObject("content")
                    .putObject(JSON)
                    .set("schema", schemas.reference(request.type(), false));
        }
        out.set("responses", responses(operation));
        ArrayNode security = out.putArray("security");
        if (operation.scope() != TokenScope.OPEN) {
            security.addObject().putArray("token").add(operation.scope().name().toLowerCase(Locale.ROOT));
        }
        return out;
    }

    private ObjectNode responses(Operation<?> operation) {
        ObjectNode out = JsonNodeFactory.instance.objectNode();
        out.set("200", success(operation));
        problems(operation)
                .forEach((status, name) ->
                        out.putObject(String.valueOf(status)).put("$ref", "#/components/responses/" + name));
        return out;
    }

    private ObjectNode success(Operation<?> operation) {
        Operation.ResponseBody body = operation.response;
        ObjectNode out = JsonNodeFactory.instance.objectNode().put("description", body.description());
        ObjectNode content = out.putObject("content");
        boolean first = true;
        for (String mediaType : body.mediaTypes()) {
            Class<?> type = body.type();
            ObjectNode schema = type == null
                    ? JsonNodeFactory.instance.objectNode().put("type", "string")
                    : schemas.reference(type, first && body.page());
            content.putObject(mediaType).set("schema", schema);
            first = false;
        }
        ObjectNode headers = JsonNodeFactory.instance.objectNode();
        if (operation.declared.storesResponse) {
            header(headers, "X-Idempotent-Replayed", "Replayed");
            header(headers, "Idempotent-Replayed", "Replayed");
        }
        operation.declared.responseHeaders.forEach(name -> header(headers, name, name.replace("-", "")));
        return headers.isEmpty() ? out : out.set("headers", headers);
    }

    private static void header(ObjectNode headers, String name, String component) {
        headers.putObject(name).put("$ref", "#/components/headers/" + component);
    }

    /** The error responses by status: those of every operation, of its kind, and its own. */
    private static Map<Integer, String> problems(Operation<?> operation) {
        Map<Integer, String> out = new TreeMap<>();
        out.put(400, "BadRequest");
        if (operation.scope() != TokenScope.OPEN) {
            out.put(401, "Unauthenticated");
            out.put(403, "Forbidden");
        }
        if (operation.path().contains("{")) {
            out.put(404, "NotFound");
        }
        if (operation.declared.request != null) {
            out.put(413, "TooLarge");
            out.put(415, "MediaType");
        }
        if (operation.declared.storesResponse) {
            out.put(422, "KeyConflict");
        }
        out.put(500, "Internal");
        out.put(503, "Unavailable");
        out.putAll(operation.declared.problems);
        return out;
    }
}
