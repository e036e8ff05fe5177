package dev.semel.trials.documents;

import com.networknt.schema.Schema;
import com.networknt.schema.SchemaRegistry;
import com.networknt.schema.SpecificationVersion;
import dev.semel.json.StrictJsonCodec;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

/** The description of the API, as something that answers can be held against. */
record OpenApi(JsonNode document) {
    /** What an operation asks for. */
    record Operation(String method, String path, String scope) {}

    static OpenApi parse(String text) {
        return new OpenApi(StrictJsonCodec.parse(text));
    }

    List<Operation> operations() {
        List<Operation> found = new ArrayList<>();
        document.path("paths")
                .forEachEntry((path, methods) -> methods.forEachEntry((method, operation) -> {
                    JsonNode security = operation.path("security");
                    String scope = security.isEmpty()
                            ? "open"
                            : security.get(0).path("token").get(0).asString();
                    found.add(new Operation(method.toUpperCase(java.util.Locale.ROOT), path, scope));
                }));
        return found;
    }

    /** What is wrong with an answer, by what is written under this operation; empty where all is well. */
    List<String> faults(String method, String path, Reply reply) {
        JsonNode response = resolved(document.path("paths")
                .path(path)
                .path(method.toLowerCase(java.util.Locale.ROOT))
                .path("responses")
                .path(String.valueOf(reply.status())));
        if (response.isMissingNode()) {
            return List.of(method + " " + path + " does not say that it answers " + reply.status());
        }
        List<String> faults = new ArrayList<>();
        reply.headers().forEach((name, value) -> header(response, name, value).forEach(faults::add));
        JsonNode content = response.path("content").path(reply.mediaType());
        if (content.isMissingNode()) {
            faults.add("the media type " + reply.mediaType() + " is not described");
        } else if (reply.mediaType().endsWith("ndjson")) {
            reply.body()
                    .lines()
                    .forEach(line -> faults.addAll(faults(content.path("schema"), StrictJsonCodec.parse(line))));
        } else if (reply.mediaType().endsWith("json")) {
            faults.addAll(faults(content.path("schema"), StrictJsonCodec.parse(reply.body())));
        }
        return faults;
    }

    List<String> faults(String schemaName, JsonNode value) {
        return faults(StrictJsonCodec.parse("{\"$ref\":\"#/components/schemas/" + schemaName + "\"}"), value);
    }

    private List<String> header(JsonNode response, String name, String value) {
        Map<String, JsonNode> described = new TreeMap<>(String.CASE_INSENSITIVE_ORDER);
        response.path("headers").forEachEntry(described::put);
        JsonNode header = described.get(name);
        if (header == null) {
            return List.of("the header " + name + " is not described");
        }
        JsonNode text = JsonNodeFactory.instance.stringNode(value);
        return faults(resolved(header).path("schema"), text).stream()
                .map(f -> name + ": " + f)
                .toList();
    }

    /** Members that no schema names count as faults here; for clients the schemas stay open to new ones. */
    private List<String> faults(JsonNode schema, JsonNode value) {
        ObjectNode whole = ((ObjectNode) schema).deepCopy();
        whole.set("components", closed(document.path("components").deepCopy()));
        SchemaRegistry registry = SchemaRegistry.withDefaultDialect(
                SpecificationVersion.DRAFT_2020_12,
                builder -> builder.schemaLoader(loader -> loader.fetchRemoteResources(false)));
        Schema compiled = registry.getSchema(whole);
        return compiled.validate(value).stream().map(Object::toString).toList();
    }

    private static JsonNode closed(JsonNode node) {
        if (node instanceof ObjectNode object && object.has("properties") && object.has("type")) {
            if (!object.has("additionalProperties")) {
                object.put("additionalProperties", false);
            }
        }
        node.forEach(OpenApi::closed);
        return node;
    }

    private JsonNode resolved(JsonNode node) {
        String target = node.path("$ref").asString("");
        return target.isEmpty() ? node : document.at(target.substring(1));
    }
}
