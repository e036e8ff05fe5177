package dev.semel.server.operations;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.annotation.JsonInclude;
import dev.semel.json.StrictJsonCodec;
import dev.semel.server.http.TokenScope;
import dev.semel.server.query.view.Described;
import dev.semel.server.query.view.Page;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

class OperationTest {
    private enum Colour {
        DARK_RED
    }

    private sealed interface Shape permits CircleView, SquareView {}

    private record CircleView(int radius) implements Shape {}

    private record SquareView(int side) implements Shape {}

    @Described("One of everything.")
    private record SampleView(
            String plainText,

            @Described(value = "A text or null.", pattern = "^a", example = "ab") @Nullable
            String maybe,

            @JsonInclude(JsonInclude.Include.NON_NULL) @Nullable
            Integer absent,

            @JsonInclude(JsonInclude.Include.NON_NULL) @Nullable
            Optional<String> absentOrNull,

            @Described(min = 1, max = 3) int number,
            long big,
            boolean flag,
            Colour colour,
            @Nullable Colour maybeColour,
            Instant seenAt,
            @Nullable Instant endedAt,
            List<CircleView> circles,
            Map<String, Integer> counts,
            Shape shape,
            @Nullable CircleView maybeCircle,
            JsonNode any,
            ObjectNode object) {}

    private static SampleView sample(@Nullable Integer absent) {
        return new SampleView(
                "x",
                null,
                absent,
                absent == null ? null : Optional.empty(),
                2,
                9_007_199_254_740_993L,
                true,
                Colour.DARK_RED,
                null,
                Instant.parse("2026-11-15T09:00:00Z"),
                null,
                List.of(new CircleView(1)),
                Map.of("a", 1),
                new SquareView(4),
                null,
                StrictJsonCodec.parse("1.10"),
                (ObjectNode) StrictJsonCodec.parse("{\"z\":1,\"a\":2}"));
    }

    @Test
    void a_record_becomes_json_in_its_own_order_with_every_digit() {
        assertEquals(
                "{\"plain_text\":\"x\",\"maybe\":null,\"number\":2,\"big\":9007199254740993,\"flag\":true,"
                        + "\"colour\":\"dark_red\",\"maybe_colour\":null,\"seen_at\":\"2026-11-15T09:00:00Z\","
                        + "\"ended_at\":null,\"circles\":[{\"radius\":1}],\"counts\":{\"a\":1},\"shape\":{\"side\":4},"
                        + "\"maybe_circle\":null,\"any\":1.10,\"object\":{\"z\":1,\"a\":2}}",
                StrictJsonCodec.write(ViewJson.of(sample(null))));
    }

    @Test
    void an_empty_optional_is_null_and_a_missing_one_is_absent() {
        assertTrue(ViewJson.of(sample(1)).path("absent_or_null").isNull());
        assertTrue(ViewJson.of(sample(null)).path("absent_or_null").isMissingNode());
    }

    @Test
    void the_schema_has_the_members_that_the_json_has() {
        RecordSchemas schemas = new RecordSchemas();
        assertEquals(
                "{\"$ref\":\"#/components/schemas/Sample\"}",
                schemas.reference(SampleView.class, false).toString());
        JsonNode schema = schemas.all().path("Sample");
        assertEquals(
                ViewJson.of(sample(7)).propertyNames(),
                schema.path("properties").propertyNames());
        assertEquals(
                List.copyOf(ViewJson.of(sample(null)).propertyNames()),
                schema.path("required").valueStream().map(JsonNode::asString).toList());
        assertEquals("One of everything.", schema.path("description").asString());
    }

    @Test
    void the_schema_of_a_member_follows_from_its_type() {
        RecordSchemas schemas = new RecordSchemas();
        schemas.reference(SampleView.class, false);
        JsonNode members = schemas.all().at("/Sample/properties");
        Map<String, String> expected = Map.of(
                "maybe",
                "{\"type\":[\"string\",\"null\"],\"description\":\"A text or null.\",\"examples\":[\"ab\"],"
                        + "\"pattern\":\"^a\"}",
                "absent",
                "{\"type\":\"integer\"}",
                "absent_or_null",
                "{\"type\":[\"string\",\"null\"]}",
                "number",
                "{\"type\":\"integer\",\"minimum\":1,\"maximum\":3}",
                "maybe_colour",
                "{\"oneOf\":[{\"type\":\"string\",\"enum\":[\"dark_red\"]},{\"type\":\"null\"}]}",
                "ended_at",
                "{\"type\":[\"string\",\"null\"],\"format\":\"date-time\"}",
                "counts",
                "{\"type\":\"object\",\"additionalProperties\":{\"type\":\"integer\"}}",
                "shape",
                "{\"$ref\":\"#/components/schemas/Shape\"}",
                "maybe_circle",
                "{\"oneOf\":[{\"$ref\":\"#/components/schemas/Circle\"},{\"type\":\"null\"}]}",
                "object",
                "{\"type\":\"object\",\"additionalProperties\":true}");
        expected.forEach(
                (name, schema) -> assertEquals(schema, members.path(name).toString(), name));
        assertEquals(2, schemas.all().at("/Shape/oneOf").size());
    }

    @Test
    void a_page_is_a_schema_of_its_own() {
        RecordSchemas schemas = new RecordSchemas();
        assertEquals(
                "#/components/schemas/CircleList",
                schemas.reference(CircleView.class, true).path("$ref").asString());
        assertEquals(
                ViewJson.of(new Page<>(List.of(), null)).propertyNames(),
                schemas.all().at("/CircleList/properties").propertyNames());
    }

    @Test
    void a_type_without_a_schema_is_rejected() {
        record Odd(Thread thread) {}
        assertThrows(IllegalArgumentException.class, () -> new RecordSchemas().reference(Odd.class, false));
    }

    @Test
    void an_operation_describes_exactly_the_parameters_of_its_path() {
        var path = Operation.get("getCircle", "/v1/circles/{id}", TokenScope.READ);
        assertThrows(IllegalArgumentException.class, () -> path.returns(CircleView.class, "A circle."));
    }

    @Test
    void two_operations_have_different_ids_routes_and_commands() {
        Operation<CircleView> one = circle("one", "/v1/one", "circle show");
        assertTrue(rejected(one, circle("one", "/v1/two", "circle list")));
        assertTrue(rejected(one, circle("two", "/v1/one", "circle list")));
        assertTrue(rejected(one, circle("two", "/v1/two", "circle show")));
        assertEquals(
                2,
                OperationTable.of(List.of(one, circle("two", "/v1/two", "circle list")))
                        .operations()
                        .size());
    }

    private static boolean rejected(Operation<?> one, Operation<?> other) {
        var thrown = assertThrows(IllegalArgumentException.class, () -> OperationTable.of(List.of(one, other)));
        return String.valueOf(thrown.getMessage()).startsWith("Two operations have ");
    }

    private static Operation<CircleView> circle(String id, String path, String words) {
        return Operation.get(id, path, TokenScope.READ)
                .command(CommandDeclaration.of(words, "Shows a circle."))
                .returns(CircleView.class, "A circle.");
    }

    @Test
    void a_schema_that_is_also_described_by_hand_is_rejected() {
        OperationTable table = OperationTable.of(List.of(circle("one", "/v1/one", "circle show")));
        ObjectNode empty = (ObjectNode) StrictJsonCodec.parse("{\"paths\":{},\"components\":{\"schemas\":{}}}");
        assertEquals(
                "one",
                OpenApiWriter.write(empty, table)
                        .at("/paths/~1v1~1one/get/operationId")
                        .asString());
        ObjectNode both = empty.deepCopy();
        both.withObjectProperty("components").withObjectProperty("schemas").putObject("Circle");
        assertThrows(IllegalStateException.class, () -> OpenApiWriter.write(both, table));
    }
}
