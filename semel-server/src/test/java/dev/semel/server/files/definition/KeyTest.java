package dev.semel.server.files.definition;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.semel.error.ErrorCode;
import dev.semel.error.SemelException;
import dev.semel.json.StrictJsonCodec;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class KeyTest {
    private static WorkflowDefinition keyed(String expression) {
        return DefinitionFixtures.compiled("trigger:\n  http:\n    key: " + expression + "\n");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "${ header[\"Idempotency-Key\"] }",
                "${ header[\"idempotency-key\"] }",
                "${header['IDEMPOTENCY-KEY']}"
            })
    void the_default_written_out_derives_nothing(String key) {
        assertFalse(keyed(key).derivesKey());
    }

    @Test
    void without_a_key_expression_nothing_is_derived() {
        assertFalse(DefinitionFixtures.compiled("").derivesKey());
        assertFalse(DefinitionFixtures.compiled("trigger: {http: {require_key: true}}\n")
                .derivesKey());
        assertThrows(
                IllegalStateException.class,
                () -> DefinitionFixtures.compiled("").deriveKey(StrictJsonCodec.parse("{}"), Map.of()));
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '`', textBlock = """
        ${ input.id }                        | {"id":"evt_1"}         | evt_1
        ${ input.id }                        | {"id":" evt_1 "}       | evt_1
        ${ input.id }                        | {"id":42}              | 42
        ${ input.id }                        | {"id":123456789012345678901234567890} | 1.2345678901234567890123456789e+29
        ${ input.n + 1 }                     | {"n":1}                | 2
        order-${ input.id }                  | {"id":7}               | order-7
        ${ key(input.order, "fulfil") }      | {"order":"a:b"}        | a%3Ab:fulfil
        ${ header["x-event-id"] }            | {}                     | h1
        ${ header["X-EVENT-ID"] + input.id } | {"id":"2"}             | h12
        """)
    void a_key_is_derived_from_the_input_or_a_header(String key, String input, String made) {
        WorkflowDefinition definition = keyed(key);
        assertTrue(definition.derivesKey());
        assertEquals(made, definition.deriveKey(StrictJsonCodec.parse(input), Map.of("X-Event-Id", "h1")));
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '`', textBlock = """
        ${ input.n }                                   | 100
        order-${ input.n }                             | order-100
        ${ "order-" + string(input.n) }                | order-100
        ${ key("order", input.n) }                     | order:100
        ${ key("order", 100.0, 1e2, input.n) }         | order:100:100:100
        ${ format("%s-%d-%05d", input.n, input.n, input.n) } | 100-100-00100
        ${ json(input.deep) }                          | {"a":[100],"b":100}
        deep-${ input.deep }                           | deep-{"a":[100],"b":100}
        ${ sha256(json({"b": input.n, "a": input.n})) } | 7cd1aa1561560e99d24487a857855a29a1f5e1dd3a4cf20faf90e7e8cf365e42
        """)
    void one_number_in_any_notation_makes_one_key(String key, String made) {
        WorkflowDefinition definition = keyed("'" + key + "'");
        Set<String> keys = new LinkedHashSet<>();
        for (String notation : List.of("100", "100.0", "1e2", "1.00E+2", "1000e-1")) {
            String deep = notation.equals("100") ? "{\"b\": 100, \"a\": [100]}" : "{\"a\":[N], \"b\": N}";
            String input = "{\"n\": N, \"deep\": DEEP}".replace("DEEP", deep).replace("N", notation);
            keys.add(definition.deriveKey(StrictJsonCodec.parse(input), Map.of()));
        }
        assertEquals(Set.of(made), keys);
    }

    @Test
    void keys_of_large_numbers_lose_no_digit() {
        for (String key : List.of("${ input.n }", "n-${ input.n }", "${ key('n', input.n) }", "${ string(input.n) }")) {
            Set<String> keys = new HashSet<>();
            for (String number : List.of(
                    "9007199254740992",
                    "9007199254740993",
                    "9007199254740993.0",
                    "123456789012345678901234567890",
                    "123456789012345678901234567891",
                    "0.1234567890123456789")) {
                keys.add(
                        keyed("\"" + key + "\"").deriveKey(StrictJsonCodec.parse("{\"n\": " + number + "}"), Map.of()));
            }
            assertEquals(5, keys.size(), key + " " + keys);
        }
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '`', textBlock = """
        ${ input.id }                   | {}             | input.id is missing
        ${ input.id }                   | {"id":null}    | the expression returned null or an empty text
        ${ input.id }                   | {"id":""}      | the expression returned null or an empty text
        ${ input.id }                   | {"id":"  "}    | the expression returned null or an empty text
        ${ header["X-Event-Id"] }       | {}             | header["X-Event-Id"] is missing
        ${ key("order", input.id) }     | {"id":""}      | part 2 of key() is empty
        ${ lower(input.id) }            | {"id":5}       | an operator or function does not accept
        order-${ input.id }             | {"id":null}    | an expression inside text returned null
        """)
    void a_key_that_is_empty_or_fails_is_a_missing_key(String key, String input, String because) {
        SemelException e =
                assertThrows(SemelException.class, () -> keyed(key).deriveKey(StrictJsonCodec.parse(input), Map.of()));
        assertEquals(ErrorCode.IDEMPOTENCY_KEY_REQUIRED, e.code());
        assertTrue(e.detail().contains("because " + because), e.detail());
        assertTrue(e.detail().endsWith("No run was started."));
    }

    @Test
    void a_key_outside_the_alphabet_or_too_long_or_of_another_type_is_invalid() {
        for (String id :
                new String[] {"\"schlüssel\"", "\"a\\nb\"", "\"" + "a".repeat(256) + "\"", "true", "[1]", "{\"a\":1}"
                }) {
            var input = StrictJsonCodec.parse("{\"id\":" + id + "}");
            SemelException e = assertThrows(
                    SemelException.class, () -> keyed("${ input.id }").deriveKey(input, Map.of()));
            assertEquals(ErrorCode.IDEMPOTENCY_KEY_INVALID, e.code());
            assertFalse(e.detail().contains("schl") || e.detail().contains("aaa"), e.detail());
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"now()", "uuid()", "random()", "attempt"})
    void values_that_change_per_attempt_are_rejected_in_keys_and_fingerprints(String volatileThing) {
        var inKey = DefinitionFixtures.only(
                DefinitionFixtures.with("trigger: {http: {key: '${ key(input.id, " + volatileThing + ") }'}}\n"));
        assertTrue(inKey.message().startsWith("this key changes between attempts: " + volatileThing), inKey.message());
        assertEquals("4:41", inKey.line() + ":" + inKey.column());
        var inFingerprint = DefinitionFixtures.only(DefinitionFixtures.with(
                "idempotency: {fingerprint: [{a: '${ key(input.id, " + volatileThing + ") }'}]}\n"));
        assertTrue(
                inFingerprint.message().startsWith("this fingerprint changes between attempts: "),
                inFingerprint.message());
    }

    @ParameterizedTest
    @ValueSource(strings = {"run.id", "run.started_at"})
    void replay_specific_values_are_rejected_in_effect_keys(String own) {
        var mistake = DefinitionFixtures.only(
                DefinitionFixtures.with("steps:\n  - {id: a, java: pay, protect: ask, idempotent: {key: '${ key(" + own
                        + ") }', time: 1, unit: days}}\n"));
        assertTrue(mistake.message().startsWith("this key changes with every safe replay"), mistake.message());
    }

    @Test
    void a_key_declares_its_headers_and_none_is_a_credential() {
        assertEquals(
                Set.of("X-Event-Id", "x-b"),
                keyed("${ key(header[\"X-Event-Id\"], default(header[\"x-b\"], \"-\"), input.id) }")
                        .keyHeaders());
        var credential = DefinitionFixtures.only(
                DefinitionFixtures.with("trigger: {http: {key: '${ header[\"authorization\"] }'}}\n"));
        assertEquals(
                "a key must not contain authorization: Semel stores and shows keys, and this header is a credential.",
                credential.message());
        for (String chosen : new String[] {"header[input.name]", "header", "header[\"a b\"]"}) {
            var mistake = DefinitionFixtures.only(
                    DefinitionFixtures.with("trigger: {http: {key: '${ string(" + chosen + ") }'}}\n"));
            assertTrue(mistake.message().startsWith("write the name of the header"), mistake.message());
        }
    }

    @Test
    void two_different_lists_of_parts_never_make_the_same_key() {
        String[] parts = {"a", "b", ":", "%", "a:b", "%3A", "a%", " ", "ä"};
        var made = new HashMap<String, String>();
        WorkflowDefinition definition = keyed("${ key(input.a, input.b) }");
        for (String a : parts) {
            for (String b : parts) {
                if (!a.isBlank() && !b.isBlank()) {
                    var input = StrictJsonCodec.parse("{\"a\":\"" + a + "\",\"b\":\"" + b + "\"}");
                    String before = made.put(definition.deriveKey(input, Map.of()), a + "\n" + b);
                    assertEquals(null, before);
                }
            }
        }
    }
}
