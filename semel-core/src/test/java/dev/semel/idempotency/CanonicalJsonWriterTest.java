package dev.semel.idempotency;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.semel.error.SemelException;
import dev.semel.json.StrictJsonCodec;
import java.math.BigDecimal;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.MissingNode;

class CanonicalJsonWriterTest {
    private static final JsonNodeFactory NODES = JsonNodeFactory.instance;

    @Test
    void the_example_of_rfc_8785_matches_except_for_the_rounded_number() {
        String document = """
            {
              "numbers": [333333333.33333329, 1E30, 4.50, 2e-3, 0.000000000000000000000000001],
              "string": "\\u20ac$\\u000F\\u000aA'\\u0042\\u0022\\u005c\\\\\\"\\/",
              "literals": [null, true, false]
            }
            """;
        assertEquals(
                "{\"literals\":[null,true,false],\"numbers\":[333333333.33333329,1e+30,4.5,0.002,1e-27],"
                        + "\"string\":\"€$\\u000f\\nA'B\\\"\\\\\\\\\\\"/\"}",
                canonical(document));
    }

    @Test
    void members_are_sorted_by_utf_16_code_units_as_in_rfc_8785() {
        String document = """
            {"\\u20ac": "Euro Sign", "\\r": "Carriage Return", "\\ufb33": "Hebrew Letter Dalet With Dagesh",
             "1": "One", "\\ud83d\\ude00": "Emoji: Grinning Face", "\\u0080": "Control",
             "\\u00f6": "Latin Small Letter O With Diaeresis"}
            """;
        assertEquals(
                "{\"\\r\":\"Carriage Return\",\"1\":\"One\",\"\u0080\":\"Control\","
                        + "\"ö\":\"Latin Small Letter O With Diaeresis\",\"€\":\"Euro Sign\","
                        + "\"😀\":\"Emoji: Grinning Face\",\"\ufb33\":\"Hebrew Letter Dalet With Dagesh\"}",
                canonical(document));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "5e-324",
                "-5e-324",
                "1.7976931348623157e+308",
                "-1.7976931348623157e+308",
                "9007199254740992",
                "-9007199254740992",
                "295147905179352830000",
                "9.999999999999997e+22",
                "1e+23",
                "1.0000000000000001e+23",
                "999999999999999700000",
                "999999999999999900000",
                "1e+21",
                "9.999999999999997e-7",
                "0.000001",
                "333333333.3333332",
                "333333333.33333325",
                "333333333.3333333",
                "333333333.3333334",
                "333333333.33333343",
                "-0.0000033333333333333333",
                "1424953923781206.2",
            })
    void the_number_samples_of_rfc_8785_stay_as_they_are(String number) {
        assertEquals(number, canonical(number));
    }

    @ParameterizedTest
    @CsvSource({
        "1, 1.0, 1",
        "1e0, 10e-1, 1",
        "0.1e1, 1.000e+0, 1",
        "0, -0, 0",
        "-0.0, 0e99, 0",
        "0.00, -0e-1000000000, 0",
        "-1.50, -15e-1, -1.5",
        "100, 1e2, 100",
        "100000000000000000000, 1e20, 100000000000000000000",
        "1000000000000000000000, 1e21, 1e+21",
        "12300e-7, 0.00123, 0.00123",
        "0.0000001, 1e-7, 1e-7",
        "0.5, 5e-1, 0.5",
        "-0.05, -5e-2, -0.05",
        "123456789012345678901.5, 1234567890123456789015e-1, 123456789012345678901.5",
        "1234567890123456789012.5, 12345678901234567890125e-1, 1.2345678901234567890125e+21",
        "9007199254740993, 9007199254740993.0, 9007199254740993",
        "123456789012345678901234567890, 12345678901234567890123456789e1, 1.2345678901234567890123456789e+29",
        "1e400, 10e399, 1e+400",
        "1e1000000000, 100e999999998, 1e+1000000000",
        "-1.5e-1000000000, -15e-1000000001, -1.5e-1000000000",
    })
    void spellings_of_one_number_are_one_number(String one, String other, String text) {
        assertEquals(text, canonical(one));
        assertEquals(text, canonical(other));
    }

    @Test
    void numbers_that_a_double_would_merge_stay_distinct() {
        assertNotEquals(canonical("9007199254740993"), canonical("9007199254740992"));
        assertNotEquals(canonical("0.1"), canonical("0.1000000000000000055511151231257827"));
        assertNotEquals(canonical("1e400"), canonical("1e401"));
        assertNotEquals(canonical("1"), canonical("\"1\""));
    }

    @Test
    void a_number_created_in_java_equals_the_written_number() {
        for (JsonNode made : new JsonNode[] {
            NODES.numberNode(0.1f),
            NODES.numberNode(0.1),
            NODES.numberNode(100.0),
            NODES.numberNode(1e22),
            NODES.numberNode((short) 3),
            NODES.numberNode(new BigDecimal("1.10")),
            NODES.numberNode(-0.0)
        }) {
            assertEquals(canonical(StrictJsonCodec.write(made)), canonical(made));
        }
    }

    @Test
    void missing_differs_from_null_and_from_every_string() {
        assertEquals("undefined", canonical(MissingNode.getInstance()));
        assertEquals("null", canonical("null"));
        assertEquals("\"undefined\"", canonical("\"undefined\""));
    }

    @Test
    void values_without_a_canonical_form_are_rejected() {
        JsonNode deep = NODES.arrayNode();
        for (int i = 0; i < 50_000; i++) {
            deep = NODES.arrayNode().add(deep);
        }
        JsonNode tooDeep = deep;
        assertTrue(assertThrows(SemelException.class, () -> CanonicalJsonWriter.bytes(tooDeep))
                .detail()
                .contains("deeper than 100"));
        assertThrows(SemelException.class, () -> CanonicalJsonWriter.bytes(NODES.numberNode(Double.NaN)));
        assertThrows(SemelException.class, () -> CanonicalJsonWriter.bytes(NODES.pojoNode(new Object())));
        assertThrows(SemelException.class, () -> CanonicalJsonWriter.bytes(NODES.stringNode("\ud800")));
        assertEquals("[".repeat(100) + "]".repeat(100), canonical("[".repeat(100) + "]".repeat(100)));
        JsonNode inside = NODES.stringNode("x");
        for (int i = 0; i < 100; i++) {
            inside = NODES.objectNode().set("a", inside);
        }
        JsonNode deepest = inside;
        assertEquals("{\"a\":".repeat(100) + "\"x\"" + "}".repeat(100), canonical(deepest));
        assertThrows(
                SemelException.class,
                () -> CanonicalJsonWriter.bytes(NODES.objectNode().set("a", deepest)));
    }

    @Test
    void a_number_in_a_key_has_the_text_of_a_fingerprint() {
        for (String number : new String[] {"0", "-0.0", "1.50", "1e21", "12300e-7", "-1.5e-1000"}) {
            assertEquals(canonical(number), CanonicalJsonWriter.numberText(new BigDecimal(number)));
            assertEquals(canonical(number), CanonicalJsonWriter.text(StrictJsonCodec.parse(number)));
        }
    }

    private static String canonical(String document) {
        return canonical(StrictJsonCodec.parse(document));
    }

    private static String canonical(JsonNode value) {
        return new String(CanonicalJsonWriter.bytes(value), StandardCharsets.UTF_8);
    }
}
