package dev.semel.json;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotSame;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

final class UnparsedJsonTest {
    @ParameterizedTest
    @ValueSource(strings = {"{}", "[]", "{\"a\":[1,{\"b\":9007199254740993}],\"ü€😀\":null}", "[1.10,\"x\",true]"})
    void a_container_is_kept_as_text_and_parsed_to_an_equal_value(String text) {
        JsonNode value = StrictJsonCodec.parse(text);
        JsonNode kept = UnparsedJson.compact(value);
        assertTrue(kept.isPojo());
        assertEquals(value, UnparsedJson.parse(kept));
        assertEquals(text, StrictJsonCodec.write(UnparsedJson.parse(kept)));
        JsonNode copy = UnparsedJson.parseCopy(kept);
        assertEquals(value, copy);
        assertNotSame(UnparsedJson.parse(kept), copy, "a caller may change it");
    }

    @ParameterizedTest
    @ValueSource(strings = {"null", "1", "\"text\"", "true"})
    void other_values_stay_as_they_are(String text) {
        JsonNode value = StrictJsonCodec.parse(text);
        assertSame(value, UnparsedJson.compact(value));
        assertSame(value, UnparsedJson.parse(value));
    }

    @Test
    void kept_members_are_parsed_at_any_depth_and_the_original_is_unchanged() {
        JsonNode inner = StrictJsonCodec.parse("{\"id\":7}");
        ObjectNode item = JsonNodeFactory.instance.objectNode();
        item.set("kept", UnparsedJson.compact(inner));
        item.put("plain", 1);
        ArrayNode list = JsonNodeFactory.instance.arrayNode().add(2).add(item);
        assertEquals(StrictJsonCodec.parse("[2,{\"kept\":{\"id\":7},\"plain\":1}]"), UnparsedJson.parseAll(list));
        assertTrue(item.get("kept").isPojo());
        JsonNode whole = StrictJsonCodec.parse("{\"a\":[{\"b\":1}]}");
        assertSame(whole, UnparsedJson.parseAll(whole));
    }
}
