package dev.semel.json;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.semel.error.SemelException;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.JsonNodeFactory;

class JsonWriteTest {
    private static final JsonNodeFactory NODES = JsonNodeFactory.instance;

    @ParameterizedTest
    @ValueSource(
            strings = {
                "{}",
                "[]",
                "[[],{},[{}]]",
                "{\"b\":1,\"a\":[true,false,null]}",
                "\"\\\"\\\\/\\b\\f\\n\\r\\t\\u0000\\u001f\u007f é € 😀 \u2028\"",
                "[0,-1,9223372036854775807,9223372036854775808,1.0,0.10,1E+400,-1.5E-7]",
            })
    void a_compact_document_is_written_as_it_was_read(String document) {
        assertEquals(document, StrictJsonCodec.write(StrictJsonCodec.parse(document)));
        assertArrayEquals(
                document.getBytes(StandardCharsets.UTF_8), StrictJsonCodec.bytes(StrictJsonCodec.parse(document)));
    }

    @Test
    void white_space_is_removed_and_the_order_of_members_stays() {
        assertEquals(
                "{\"z\":[1,2],\"a\":\"x y\"}",
                StrictJsonCodec.write(StrictJsonCodec.parse(" { \"z\" : [ 1 ,\n2 ] , \"a\":\"x y\" } ")));
    }

    @Test
    void numbers_made_in_java_are_written_as_the_shortest_decimal() {
        JsonNode numbers = NODES.arrayNode()
                .add(0.1)
                .add(0.1f)
                .add(1.0)
                .add(1e300)
                .add((short) 7)
                .add(5L)
                .add(new BigInteger("12345678901234567890"))
                .add(new BigDecimal("1.50"));
        assertEquals("[0.1,0.1,1.0,1.0E+300,7,5,12345678901234567890,1.50]", StrictJsonCodec.write(numbers));
    }

    @Test
    void values_that_could_not_be_read_again_are_not_written() {
        JsonNode deep = NODES.arrayNode();
        for (int i = 0; i < 100; i++) {
            deep = NODES.arrayNode().add(deep);
        }
        refuse(deep, "deeper than 100");
        assertEquals("[".repeat(100) + "]".repeat(100), StrictJsonCodec.write(deep.get(0)));
        JsonNode nested = NODES.objectNode();
        for (int i = 1; i < 100; i++) {
            nested = NODES.objectNode().set("a", nested);
        }
        assertEquals("{\"a\":".repeat(99) + "{}" + "}".repeat(99), StrictJsonCodec.write(nested));
        refuse(NODES.objectNode().set("a", nested), "deeper than 100");
        refuse(NODES.arrayNode().add(nested), "deeper than 100");
        refuse(NODES.numberNode(Double.NaN), "NaN");
        refuse(NODES.numberNode(Float.NEGATIVE_INFINITY), "NaN");
        refuse(NODES.stringNode("a\ud800"), "surrogate");
        refuse(NODES.stringNode("\udc00a"), "surrogate");
        refuse(NODES.objectNode().put("\ud800\ud800", 1), "surrogate");
        refuse(NODES.missingNode(), "MissingNode");
        refuse(NODES.pojoNode(new Object()), "Java object");
        refuse(NODES.numberNode(BigInteger.TEN.pow(1000)), "longer than 1000");
        refuse(NODES.numberNode(BigDecimal.valueOf(1, Integer.MIN_VALUE)), "exponent");
        refuse(NODES.objectNode().put("n".repeat(StrictJsonCodec.MAX_NAME + 1), 1), "member name");
        refuse(NODES.stringNode("s".repeat(StrictJsonCodec.MAX_STRING + 1)), "a string is longer");
    }

    @Test
    void values_at_their_limits_are_written() {
        String name = "n".repeat(StrictJsonCodec.MAX_NAME);
        assertEquals(
                "{\"" + name + "\":1}", StrictJsonCodec.write(NODES.objectNode().put(name, 1)));
        String string = "s".repeat(StrictJsonCodec.MAX_STRING);
        assertEquals("\"" + string + "\"", StrictJsonCodec.write(NODES.stringNode(string)));
        BigInteger number = BigInteger.TEN.pow(StrictJsonCodec.MAX_NUMBER - 1);
        assertEquals(number.toString(), StrictJsonCodec.write(NODES.numberNode(number)));
        BigDecimal exponent = BigDecimal.valueOf(1, StrictJsonCodec.MAX_SCALE);
        assertEquals(exponent.toString(), StrictJsonCodec.write(NODES.numberNode(exponent)));
        refuse(NODES.numberNode(BigDecimal.valueOf(1, StrictJsonCodec.MAX_SCALE + 1)), "exponent");
        refuse(NODES.numberNode(BigDecimal.valueOf(1, -StrictJsonCodec.MAX_SCALE - 1)), "exponent");
    }

    private static void refuse(JsonNode value, String rule) {
        SemelException refusal = assertThrows(SemelException.class, () -> StrictJsonCodec.bytes(value));
        assertTrue(refusal.detail().contains(rule), refusal.detail());
    }
}
