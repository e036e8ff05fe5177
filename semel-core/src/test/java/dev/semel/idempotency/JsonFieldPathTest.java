package dev.semel.idempotency;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.semel.json.StrictJsonCodec;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import tools.jackson.databind.JsonNode;

class JsonFieldPathTest {
    private static final JsonNode ORDER = StrictJsonCodec.parse("""
        {"payment_id":"p1","none":null,"customer":{"id":7},"größe":1,"$ref":2,
         "lines":[{"sku":"A","tags":["x","y"]},{"sku":"B"},{"qty":1}],"empty":[]}
        """);

    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '§', textBlock = """
        payment_id      | "p1"
        customer.id     | 7
        customer        | {"id":7}
        none            | null
        größe           | 1
        $ref            | 2
        lines[0].sku    | "A"
        lines[1]        | {"sku":"B"}
        lines[].sku     | ["A","B",undefined]
        lines[].tags[]  | [["x","y"],undefined,undefined]
        lines[].tags[0] | ["x",undefined,undefined]
        empty[]         | []
        empty[].sku     | []
        nothing         | undefined
        nothing[]       | undefined
        nothing.id      | undefined
        none.id         | undefined
        none[]          | undefined
        customer[]      | undefined
        customer[0]     | undefined
        payment_id.x    | undefined
        lines.sku       | undefined
        lines[9]        | undefined
        lines[9].sku    | undefined
        """)
    void a_path_reads_its_value_from_the_data(String path, String canonical) {
        JsonNode value = JsonFieldPath.parse(path).valueIn(ORDER);
        assertEquals(canonical, new String(CanonicalJsonWriter.bytes(value), StandardCharsets.UTF_8));
        FingerprintField field = JsonFieldPath.parse(path).toField();
        assertEquals(path, field.name());
        assertEquals(value, field.value().apply(ORDER));
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '§', textBlock = """
        payment_id     | /payment_id
        customer       | /customer
        customer.id    | /customer/id
        lines[1]       | /lines/1
        lines[].sku    | /lines/0/sku /lines/1/sku
        lines[].tags[] | /lines/0/tags/0 /lines/0/tags/1
        none           |
        nothing        |
        lines.sku      |
        customer[]     |
        """)
    void a_mask_covers_only_the_values_at_its_path(String path, @Nullable String covered) {
        JsonNode mark = StrictJsonCodec.parse("\"•\"");
        JsonNode before = ORDER.deepCopy();
        JsonNode masked = JsonFieldPath.mask(ORDER, List.of(JsonFieldPath.parse(path)), mark);
        assertEquals(before, ORDER, "the data stay as they are");
        int marks = 0;
        for (String pointer : covered == null ? new String[0] : covered.split(" ")) {
            assertEquals(mark, masked.at(pointer), pointer);
            marks++;
        }
        assertEquals(marks, StrictJsonCodec.write(masked).split("•", -1).length - 1, "only those");
        if (marks == 0) {
            assertEquals(ORDER, masked);
        }
    }

    @Test
    void a_member_name_may_be_any_text() {
        JsonNode data = StrictJsonCodec.parse("{\"a.b\":1,\"a\":{\"b\":2}}");
        JsonNode masked = JsonFieldPath.mask(data, List.of(JsonFieldPath.member("a.b")), StrictJsonCodec.parse("0"));
        assertEquals(StrictJsonCodec.parse("{\"a.b\":0,\"a\":{\"b\":2}}"), masked);
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '§', textBlock = """
        .id           | character 1 is U+002E
        a..b          | character 3 is U+002E
        a.            | the path ends there
        [0]           | character 1 is U+005B
        a[            | [ is not closed
        a[0           | [ is not closed
        a[x]          | an index such as 0 between [ and ], or nothing for every element, but character 3 is U+0078
        a[-1]         | an index such as 0
        a[1234567]    | an index such as 0
        a[0]b         | a dot or [ is expected, but character 5
        a]            | character 2 is U+005D
        a b           | character 2 is U+0020
        ${ input.a }  | character 2 is U+007B
        $.a           | without a leading $
        $             | without a leading $
        a["b"]        | an index such as 0
        a,b           | character 2 is U+002C
        """)
    void an_invalid_path_is_rejected(String path, String rule) {
        String message = refusal(path);
        assertTrue(message.contains(rule), message);
    }

    @Test
    void a_path_is_neither_empty_nor_unlimited() {
        assertTrue(refusal("").contains("empty"));
        assertTrue(refusal("  ").contains("empty"));
        assertTrue(refusal("a".repeat(257)).contains("256"));
        assertEquals("a".repeat(256), JsonFieldPath.parse("a".repeat(256)).toString());
        assertEquals("a[123456]", JsonFieldPath.parse("a[123456]").toString());
        assertTrue(refusal("a\nb").contains("a\\u000ab"));
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '§', textBlock = """
        a              | {"b":{"c":1,"d":2},"l":[{"x":1,"y":2},{"x":3}]}
        b.c            | {"a":0,"b":{"d":2},"l":[{"x":1,"y":2},{"x":3}]}
        l[].x          | {"a":0,"b":{"c":1,"d":2},"l":[{"y":2},{}]}
        l[0].x         | {"a":0,"b":{"c":1,"d":2},"l":[{"y":2},{"x":3}]}
        l[0]           | {"a":0,"b":{"c":1,"d":2},"l":[null,{"x":3}]}
        l[]            | {"a":0,"b":{"c":1,"d":2},"l":[null,null]}
        l              | {"a":0,"b":{"c":1,"d":2}}
        a b.c l[].x    | {"b":{"d":2},"l":[{"y":2},{}]}
        l l[].x        | {"a":0,"b":{"c":1,"d":2}}
        z z.y a.b b[]  | {"a":0,"b":{"c":1,"d":2},"l":[{"x":1,"y":2},{"x":3}]}
        l[7] l[7].x    | {"a":0,"b":{"c":1,"d":2},"l":[{"x":1,"y":2},{"x":3}]}
        """)
    void ignored_paths_are_removed_and_the_data_stays(String paths, String rest) {
        String document = "{\"a\":0,\"b\":{\"c\":1,\"d\":2},\"l\":[{\"x\":1,\"y\":2},{\"x\":3}]}";
        JsonNode data = StrictJsonCodec.parse(document);
        List<JsonFieldPath> ignored =
                Stream.of(paths.split(" ")).map(JsonFieldPath::parse).toList();
        assertEquals(rest, StrictJsonCodec.write(JsonFieldPath.without(data, ignored)));
        assertEquals(document, StrictJsonCodec.write(data));
    }

    private static String refusal(String path) {
        return assertThrows(IllegalArgumentException.class, () -> JsonFieldPath.parse(path))
                .toString();
    }
}
