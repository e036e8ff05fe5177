package dev.semel.trials.documents;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.semel.json.StrictJsonCodec;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeMap;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/** Sends wrong values in every place that the API description names: a caller's mistake is never an internal error. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class MalformedRequestsTest {
    private static final List<String> VALUES = List.of(
            "{}",
            "[]",
            "\"\"",
            "0",
            "-1",
            "1000000000000000000000000000000",
            "1.5",
            "true",
            "null",
            "\"\\u0000\"",
            "\"\\ud800\"",
            "\"" + "x".repeat(5_000) + "\"",
            "[null]",
            "[[]]",
            "[{}]",
            "{\"x\":[1]}");
    private static final List<String> BODIES =
            List.of("", "{}", "[]", "null", "\"x\"", "{", "{\"a\":1,\"a\":2}", "\u0000");
    private static final List<String> QUERIES = List.of(
            "",
            "-1",
            "0",
            "x",
            "99999999999999999999",
            "%00",
            "{}",
            "1.5",
            "%22",
            "((",
            "status:",
            "2026-99-99",
            "9d9d",
            "1e9");
    private static final List<String> PARTS =
            List.of("one", "%00", "%20", "..%2f", "%27", "0", "-1", "%ff", "x".repeat(3_000));
    private static final int DEEPEST = 5;

    private final LocalServer server = new LocalServer();
    private final TreeMap<String, String> internalErrors = new TreeMap<>();
    private HttpClient client;
    private JsonNode document;
    private int requests;

    @BeforeAll
    void start() throws Exception {
        server.start();
        client = HttpClient.newHttpClient();
        document = StrictJsonCodec.parse(
                send("GET", "/v1/openapi.json", "", "application/json").body());
    }

    @AfterAll
    void stop() throws Exception {
        client.close();
        server.stop();
    }

    @Test
    void no_operation_answers_a_malformed_request_with_an_internal_error() throws Exception {
        for (OpenApi.Operation operation : new OpenApi(document).operations()) {
            JsonNode described = document.path("paths")
                    .path(operation.path())
                    .path(operation.method().toLowerCase(java.util.Locale.ROOT));
            for (String part : PARTS) {
                check(operation, target(operation, part), "", "application/json");
            }
            for (JsonNode parameter : described.path("parameters")) {
                JsonNode found = resolved(parameter);
                if (found.path("in").asString().equals("query")) {
                    for (String value : QUERIES) {
                        check(
                                operation,
                                target(operation, "one") + "?"
                                        + found.path("name").asString() + "=" + value,
                                "",
                                "");
                    }
                }
            }
            bodies(operation, resolved(described.path("requestBody")).path("content"));
        }
        assertEquals(new TreeMap<>(), internalErrors);
        assertTrue(requests > 8_000, requests + " requests were sent");
    }

    private void bodies(OpenApi.Operation operation, JsonNode content) throws Exception {
        if (content.isMissingNode()) {
            return;
        }
        String type = content.has("application/json")
                ? "application/json"
                : content.propertyNames().iterator().next();
        String target = target(operation, "one");
        for (String body : BODIES) {
            check(operation, target, body, type);
        }
        JsonNode schema = content.path(type).path("schema");
        JsonNode sample = sample(schema, 0);
        for (String pointer : pointers(sample)) {
            for (String value : VALUES) {
                check(operation, target, replaced(sample, pointer, value), type);
            }
            if (pointer.indexOf('/', 1) < 0 && sample.isObject()) {
                for (String value : VALUES) {
                    check(operation, target, "{\"" + pointer.substring(1) + "\":" + value + "}", type);
                }
            }
        }
    }

    private void check(OpenApi.Operation operation, String target, String body, String type) throws Exception {
        Reply reply = send(operation.method(), target, body, type);
        requests++;
        if (reply.status() >= 500) {
            internalErrors.putIfAbsent(
                    operation.method() + " " + operation.path(), target + " " + body + ": " + reply.body());
        }
    }

    private Reply send(String method, String target, String body, String type) throws Exception {
        HttpRequest.Builder request = HttpRequest.newBuilder(URI.create(server.url()
                        + target.replace("\"", "%22").replace("{", "%7B").replace("}", "%7D")))
                .method(method, body.isEmpty() ? BodyPublishers.noBody() : BodyPublishers.ofString(body))
                .header("Authorization", "Bearer dev");
        if (!type.isEmpty()) {
            request.header("Content-Type", type);
        }
        return Reply.to(client, request.build());
    }

    /** The path with this text for each parameter. A stream ends at once. */
    private static String target(OpenApi.Operation operation, String part) {
        boolean stream =
                operation.path().endsWith("}/events") || operation.path().equals("/v1/tail");
        return operation.path().replaceAll("\\{[a-z_]+}", part) + (stream ? "?seconds=0" : "");
    }

    /** A document with every member that the schema names. */
    private JsonNode sample(JsonNode node, int depth) {
        JsonNode schema = resolved(node);
        for (String choice : List.of("example", "const", "default")) {
            if (schema.has(choice)) {
                return schema.path(choice);
            }
        }
        for (String several : List.of("examples", "enum")) {
            if (schema.path(several).isArray()) {
                return schema.path(several).path(0);
            }
        }
        for (String several : List.of("oneOf", "anyOf", "allOf")) {
            if (schema.path(several).isArray() && depth < DEEPEST) {
                return sample(schema.path(several).path(0), depth + 1);
            }
        }
        JsonNode type = schema.path("type").isArray() ? schema.path("type").path(0) : schema.path("type");
        return switch (type.asString("")) {
            case "array" -> {
                ArrayNode list = (ArrayNode) StrictJsonCodec.parse("[]");
                if (depth < DEEPEST) {
                    list.add(sample(schema.path("items"), depth + 1));
                }
                yield list;
            }
            case "integer", "number" -> StrictJsonCodec.parse("1");
            case "boolean" -> StrictJsonCodec.parse("true");
            case "string" -> StrictJsonCodec.parse("\"one\"");
            default -> {
                ObjectNode object = (ObjectNode) StrictJsonCodec.parse("{}");
                if (depth < DEEPEST) {
                    schema.path("properties").forEachEntry((name, one) -> object.set(name, sample(one, depth + 1)));
                }
                yield object;
            }
        };
    }

    private static List<String> pointers(JsonNode node) {
        List<String> found = new ArrayList<>();
        node.forEachEntry((name, value) -> {
            String here = "/" + name.replace("~", "~0").replace("/", "~1");
            found.add(here);
            pointers(value).forEach(inner -> found.add(here + inner));
        });
        for (int i = 0; node.isArray() && i < node.size(); i++) {
            String here = "/" + i;
            found.add(here);
            pointers(node.get(i)).forEach(inner -> found.add(here + inner));
        }
        return found;
    }

    private static String replaced(JsonNode sample, String pointer, String value) {
        JsonNode copy = sample.deepCopy();
        int last = pointer.lastIndexOf('/');
        String name = pointer.substring(last + 1).replace("~1", "/").replace("~0", "~");
        JsonNode parent = copy.at(pointer.substring(0, last));
        String marker = "\"replaced here\"";
        JsonNode mark = StrictJsonCodec.parse(marker);
        if (parent instanceof ObjectNode object) {
            object.set(name, mark);
        } else {
            ((ArrayNode) parent).set(Integer.parseInt(name), mark);
        }
        return copy.toString().replace(marker, value);
    }

    private JsonNode resolved(JsonNode node) {
        String target = node.path("$ref").asString("");
        return target.isEmpty() ? node : resolved(document.at(target.substring(1)));
    }
}
