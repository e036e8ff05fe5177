package dev.semel.json;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.semel.error.ErrorCode;
import dev.semel.error.SemelException;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;

class JsonParseTest {
    @Test
    void every_kind_of_value_is_read() {
        JsonNode read = StrictJsonCodec.parse(bytes("{\"a\":[1,-2.50,\"x\\n\\u00e9€😀\",true,false,null,{}]} \n"));
        JsonNode list = read.get("a");
        assertEquals(1, list.get(0).intValue());
        assertEquals(new BigDecimal("-2.50"), list.get(1).decimalValue());
        assertEquals("x\né€😀", list.get(2).stringValue());
        assertTrue(list.get(3).booleanValue());
        assertFalse(list.get(4).booleanValue());
        assertTrue(list.get(5).isNull());
        assertTrue(list.get(6).isObject());
    }

    @Test
    void a_scalar_is_a_document_too() {
        assertEquals("x", StrictJsonCodec.parse("\"x\"").stringValue());
        assertEquals(7, StrictJsonCodec.parse(" 7 ").intValue());
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '§', textBlock = """
        {"a":1,"a":2}            | line 1, column 8  | appears twice
        {"a":1,"\\u0061":2}      | line 1, column 8  | appears twice
        {"a":{"b":[0,{"c":1,"c":2}]}} | line 1, column 21 | appears twice
        {} {}                    | line 1, column 4  | more text after the end
        {}x                      | line 1, column 3  | not true, false or null
        1 2                      | line 1, column 3  | more text after the end
        {"a":1,}                 | line 1, column 8  | member name in double quotes
        {a:1}                    | line 1, column 2  | member name in double quotes
        {"a" 1}                  | line 1, column 6  | a colon
        {"a":1 "b":2}            | line 1, column 8  | a comma
        [1 2]                    | line 1, column 4  | a comma
        [1,]                     | line 1, column 4  | U+005D is not expected here
        [1}                      | line 1, column 3  | does not match
        {"a":1                   | line 1, column 7  | ends before
        ["abc                    | line 1, column 6  | ends before
        [NaN]                    | line 1            | NaN and Infinity
        [Infinity]               | line 1            | NaN and Infinity
        [-Infinity]              | line 1            | NaN and Infinity
        [nul]                    | line 1, column 2  | not true, false or null
        [secret]                 | line 1, column 2  | not true, false or null
        ['a']                    | line 1, column 2  | U+0027 is not expected here
        /* c */ 1                | line 1, column 1  | comments
        [01]                     | line 1, column 3  | leading zeros
        [+1]                     | line 1            | number
        [.5]                     | line 1, column 2  | U+002E
        [1.]                     | line 1            | number
        [1e]                     | line 1            | number
        ["\\x"]                  | line 1, column 4  | backslash
        ["\\u12g4"]              | line 1, column 7  | four hexadecimal digits
        ["\\ud800"]              | line 1, column 2  | half of a surrogate pair
        ["\\udc00\\ud800"]       | line 1, column 2  | half of a surrogate pair
        ["a\\ud800b"]            | line 1, column 2  | half of a surrogate pair
        {"\\ud800x":1}           | line 1            | half of a surrogate pair
        {"\\udc00":1}            | line 1            | half of a surrogate pair
        {"\\ud800\\ud800":1}     | line 1            | half of a surrogate pair
        1e9999999999             | line 1, column 1  | exponent
        1e-99999999999999999999  | line 1, column 1  | exponent
        1e2000000001             | line 1, column 1  | exponent
        """)
    void non_strict_json_is_rejected_with_position_and_rule(String document, String place, String rule) {
        SemelException refusal = refusal(document);
        assertTrue(refusal.detail().contains(place), refusal.detail());
        assertTrue(refusal.detail().contains(rule), refusal.detail());
        assertTrue(refusal.detail().contains("Nothing was started or changed"), refusal.detail());
        assertFalse(refusal.toString().contains("secret"), refusal.toString());
        assertNull(refusal.getCause());
    }

    @ParameterizedTest
    @ValueSource(strings = {"", " ", "\n\t "})
    void an_empty_document_is_rejected(String document) {
        assertTrue(refusal(document).detail().contains("is empty"));
    }

    @Test
    void lines_and_columns_count_characters_and_every_kind_of_line_end() {
        assertTrue(refusal("{\n\"a\":1,\r\n\"b\":2,\r \"é😀\":x}").detail().contains("line 4, column 7"));
        assertTrue(refusal("[1,\r").detail().contains("line 2, column 1:"));
        assertTrue(refusal("[1,\r\n").detail().contains("line 2, column 1:"));
        assertTrue(refusal("[1,\n\r").detail().contains("line 3, column 1:"));
    }

    @Test
    void a_document_that_begins_with_broken_text_is_rejected_there() {
        SemelException bytes =
                assertThrows(SemelException.class, () -> StrictJsonCodec.parse(new byte[] {(byte) 0xFF}));
        assertTrue(bytes.detail().contains("line 1, column 1: bytes that are not UTF-8"), bytes.detail());
        assertTrue(refusal("\ud800").detail().contains("line 1, column 1: an unpaired surrogate"));
    }

    @Test
    void an_error_points_to_the_member() {
        SemelException refusal = refusal("{\"a\":{\"b/c\":[0,{\"d\":1,\"d\":2}]}}");
        assertEquals(
                List.of(Map.of("pointer", "/a/b~1c/1/d", "message", "this member name appears twice in one object")),
                refusal.members().get("errors"));
        assertTrue(refusal.detail().contains("(/a/b~1c/1/d)"), refusal.detail());
        String longest = "n".repeat(255);
        String twice = "{\"" + longest + "\":1,\"" + longest + "\":2}";
        assertTrue(refusal(twice).detail().contains("(/" + longest + ")"));
        assertEquals(Map.of(), refusal(twice.replace("nn\"", "nnn\"")).members(), "a cut pointer would be another one");
    }

    @Test
    void a_hostile_member_name_is_escaped_in_the_message() {
        SemelException refusal = refusal("{\"a\\r\\nlevel=error\\u202e\":\"\\ud800\"}");
        assertTrue(refusal.detail().contains("/a\\u000d\\u000alevel=error\\u202e"), refusal.detail());
        assertTrue(refusal.detail().chars().allMatch(c -> c >= 0x20 && c <= 0x7E), refusal.detail());
    }

    @Test
    void a_control_character_in_a_string_is_rejected() {
        assertTrue(refusal("[\"a\nb\"]").detail().contains("control character"));
        assertTrue(refusal("{\"a\u0000b\":1}").detail().contains("control character"));
    }

    @Test
    void an_escaped_nul_is_text_like_any_other() {
        assertEquals("\u0000", StrictJsonCodec.parse("\"\\u0000\"").stringValue());
    }

    @Test
    void escaped_surrogate_pairs_are_characters() {
        assertEquals("😀", StrictJsonCodec.parse("\"\\ud83d\\ude00\"").stringValue());
        assertEquals("\uFFFD", StrictJsonCodec.parse(bytes("\"\uFFFD\"")).stringValue());
    }

    @Test
    void other_encodings_and_broken_utf_8_are_rejected() {
        byte[][] documents = {
            {(byte) 0xEF, (byte) 0xBB, (byte) 0xBF, '{', '}'},
            "{\"a\":1}".getBytes(StandardCharsets.UTF_16),
            "{\"a\":1}".getBytes(StandardCharsets.UTF_16LE),
            "{\"a\":1}".getBytes(StandardCharsets.UTF_16BE),
            {'{', 0, 0, 0, '}', 0, 0, 0},
            {0, 0, 0, '{', 0, 0, 0, '}'},
            {'"', (byte) 0xFF, '"'},
            {'"', (byte) 0xC0, (byte) 0x80, '"'},
            {'"', (byte) 0xC0, (byte) 0xAF, '"'},
            {'"', (byte) 0xE0, (byte) 0x80, (byte) 0x80, '"'},
            {'"', (byte) 0xED, (byte) 0xA0, (byte) 0x80, '"'},
            {'"', (byte) 0xF4, (byte) 0x90, (byte) 0x80, (byte) 0x80, '"'},
            {'"', (byte) 0xE2, (byte) 0x82},
            {'"', (byte) 0xC3, '"'},
            {'"', (byte) 0xE9, '"'},
        };
        for (byte[] document : documents) {
            SemelException refusal = assertThrows(SemelException.class, () -> StrictJsonCodec.parse(document));
            assertEquals(ErrorCode.INVALID_INPUT, refusal.code());
        }
        SemelException refusal = assertThrows(
                SemelException.class, () -> StrictJsonCodec.parse(new byte[] {'[', '\n', '"', 'a', (byte) 0xFF}));
        assertTrue(refusal.detail().contains("line 2, column 3"), refusal.detail());
    }

    @Test
    void a_java_string_that_is_not_unicode_is_rejected() {
        assertTrue(refusal("[\"\ud800\"]").detail().contains("line 1, column 3"));
        assertTrue(refusal("\uFEFF{}").detail().contains("byte order mark"));
    }

    @Test
    void numbers_keep_every_digit() {
        assertEquals(new BigInteger("123456789012345678901234567890"), number("123456789012345678901234567890"));
        assertEquals(9007199254740993L, number("9007199254740993"));
        assertEquals(new BigDecimal("0.10"), number("0.10"));
        assertEquals(new BigDecimal("3.141592653589793238462643383279"), number("3.141592653589793238462643383279"));
        assertEquals(new BigDecimal("1E+400"), number("1e400"));
    }

    @Test
    void a_huge_exponent_is_kept_and_not_expanded() {
        JsonNode huge = StrictJsonCodec.parse("1e1000000000");
        assertEquals(new BigDecimal("1e1000000000"), huge.decimalValue());
        assertEquals("1E+1000000000", StrictJsonCodec.write(huge));
        assertEquals("1E-2000000000", StrictJsonCodec.write(StrictJsonCodec.parse("1e-2000000000")));
    }

    @Test
    void numbers_are_limited_by_their_length() {
        assertEquals("1".repeat(1000), StrictJsonCodec.write(StrictJsonCodec.parse("1".repeat(1000))));
        assertTrue(refusal("[" + "1".repeat(1001) + "]").detail().contains("longer than 1000"));
        assertTrue(refusal("0." + "1".repeat(1_000_000)).detail().contains("longer than 1000"));
        assertTrue(refusal("1".repeat(1_000_000)).detail().contains("longer than 1000"));
    }

    @Test
    void a_number_too_long_once_written_is_rejected_immediately() {
        String longest = "1".repeat(998) + "e5";
        assertTrue(refusal(longest).detail().contains("longer than 1000"));
        String fits = "1".repeat(980) + "e5";
        assertEquals(
                StrictJsonCodec.parse(fits), StrictJsonCodec.parse(StrictJsonCodec.write(StrictJsonCodec.parse(fits))));
    }

    @Test
    void depth_is_limited() {
        assertEquals(1, StrictJsonCodec.parse("[".repeat(100) + "]".repeat(100)).size());
        assertTrue(refusal("[".repeat(101) + "]".repeat(101)).detail().contains("deeper than 100"));
        assertTrue(refusal("[".repeat(100_000)).detail().contains("column 101"));
        assertTrue(refusal("{\"a\":".repeat(100_000)).detail().contains("deeper than 100"));
    }

    @Test
    void names_strings_and_the_number_of_values_are_limited() {
        String name = "n".repeat(StrictJsonCodec.MAX_NAME);
        assertTrue(StrictJsonCodec.parse("{\"" + name + "\":1}").has(name));
        SemelException tooLong = refusal("{\"" + name + "n\":1}");
        assertTrue(tooLong.detail().contains("member name is longer than 10000"), tooLong.detail());
        assertTrue(tooLong.toString().length() < 500, "the name itself is not in the message");

        String string = "s".repeat(StrictJsonCodec.MAX_STRING);
        assertEquals(
                StrictJsonCodec.MAX_STRING,
                StrictJsonCodec.parse("\"" + string + "\"").stringValue().length());
        assertTrue(refusal("{\"a\":\"" + string + "s\"}").detail().contains("(/a): a string is longer"));

        assertEquals(
                999_999,
                StrictJsonCodec.parse("[" + "1,".repeat(999_998) + "1]").size());
        assertTrue(refusal("[" + "1,".repeat(1_000_000) + "1]").detail().contains("more than 1000000 values"));
    }

    @Test
    void member_names_with_colliding_hashes_are_plain_names() {
        StringBuilder document = new StringBuilder("{");
        int bits = 14;
        for (int i = 0; i < 1 << bits; i++) {
            StringBuilder name = new StringBuilder();
            for (int bit = 0; bit < bits; bit++) {
                name.append((i >> bit & 1) == 0 ? "Aa" : "BB");
            }
            document.append(i == 0 ? "\"" : ",\"").append(name).append("\":").append(i);
        }
        assertEquals(
                1 << bits,
                StrictJsonCodec.parse(document.append('}').toString()).size());
    }

    private static Number number(String document) {
        return StrictJsonCodec.parse(bytes(document)).numberValue();
    }

    private static SemelException refusal(String document) {
        SemelException refusal = assertThrows(SemelException.class, () -> StrictJsonCodec.parse(document));
        assertEquals(ErrorCode.INVALID_INPUT, refusal.code());
        return refusal;
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }
}
