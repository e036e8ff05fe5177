package dev.semel.idempotency;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.semel.json.StrictJsonCodec;
import dev.semel.policy.SameKeyDifferentPayloadPolicy;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import tools.jackson.databind.JsonNode;

class RequestFingerprintTest {
    private static final byte[] SECRET = "a workspace's own secret".getBytes(StandardCharsets.UTF_8);
    private static final KeyPolicy NONE = KeyPolicy.DEFAULT;
    private static final String UNTRACKED = "(a field that is not tracked)";
    private static final String BEYOND = "(a field beyond the first 32)";

    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '§', textBlock = """
        id amount | {"id":"p","amount":10}            | {"amount":10.0,"id":"p"}          | same
        id amount | {"id":"p","amount":10}            | {"id":"p","amount":10,"note":"x"} | same
        id amount | {"id":"p","amount":10}            | {"id":"p","amount":11}            | amount
        id amount | {"id":"p","amount":10}            | {"id":"q","amount":11}            | amount id
        id amount | {"id":"p","amount":10}            | {"id":"p"}                        | amount
        id amount | {"id":"p","amount":null}          | {"id":"p"}                        | amount
        id amount | {"id":"p","amount":10}            | {"id":"p","amount":"10"}          | amount
        l[].sku   | {"l":[{"sku":"A","q":1}]}         | {"l":[{"sku":"A","q":2}]}         | same
        l[].sku   | {"l":[{"sku":"A"},{"sku":"B"}]}   | {"l":[{"sku":"B"},{"sku":"A"}]}   | l[].sku
        l[].sku   | {"l":[]}                          | {}                                | l[].sku
        -at       | {"id":"p","at":1}                 | {"id":"p","at":2}                 | same
        -at       | {"id":"p","at":1}                 | {"id":"p"}                        | same
        -at       | {"id":"p","at":1}                 | {"id":"q","at":1}                 | id
        -at       | {"id":"p"}                        | {"id":"p","new":null}             | new
        -c.at     | {"c":{"at":1,"b":2}}              | {"c":{"at":2,"b":2}}              | same
        -c.at     | {"c":{"at":1,"b":2}}              | {"c":{"at":2,"b":3}}              | c
        *         | {"id":"p","c":{"x":1,"y":2}}      | {"c":{"y":2.0,"x":1e0},"id":"p"}  | same
        *         | {"id":"p","c":{"x":1}}            | {"id":"p","c":{"x":2}}            | c
        *         | {"id":"p"}                        | {"id":"p","b":1,"a":1}            | a b
        *         | {"id":"p","b":1}                  | {"a":1}                           | a b id
        *         | {"id":9007199254740993}           | {"id":9007199254740992}           | id
        *         | {}                                | {}                                | same
        *         | {}                                | {"a":null}                        | a
        *         | [1]                               | [1.0]                             | same
        *         | [1]                               | [2]                               | (data)
        *         | [1]                               | {"a":1}                           | (data) a
        """)
    void the_same_action_has_the_same_digest_and_another_names_its_changed_fields(
            String declared, String first, String second, String changed) {
        RequestFingerprint stored = of(first, policy(declared));
        RequestFingerprint later = of(second, policy(declared));
        assertEquals(changed.equals("same"), later.sameDigest(stored.digest()));
        if (!changed.equals("same")) {
            assertEquals(List.of(changed.split(" ")), later.changedFrom(stored.fields()));
            assertEquals(List.of(changed.split(" ")), stored.changedFrom(later.fields()));
        }
    }

    /** Digests are stored for as long as keys live: whoever changes the bytes must change the version as well. */
    @Test
    void the_digest_is_stable() {
        assertEquals(
                "fp1:" + sha256("semel-fp1\n\"wf_1\"\n\"id\":\"p\"\n\"amount\":10"),
                of("{\"amount\":10.0,\"id\":\"p\"}", policy("id amount")).toString());
        assertEquals(
                "fp1:" + sha256("semel-fp1\n\"wf_1\"\n{\"amount\":10,\"id\":\"p\"}"),
                of("{\"id\":\"p\",\"amount\":10.0}", NONE).toString());
    }

    @Test
    void the_workflow_is_part_of_the_digest() {
        RequestFingerprint one = RequestFingerprint.of("wf_1", StrictJsonCodec.parse("{\"a\":1}"), NONE, SECRET);
        RequestFingerprint other = RequestFingerprint.of("wf_2", StrictJsonCodec.parse("{\"a\":1}"), NONE, SECRET);
        assertFalse(one.sameDigest(other.digest()));
    }

    @Test
    void the_secret_changes_the_hashes_and_not_the_digest() {
        RequestFingerprint one = of("{\"a\":1}", NONE);
        RequestFingerprint other =
                RequestFingerprint.of("wf_1", StrictJsonCodec.parse("{\"a\":1}"), NONE, new byte[] {1});
        assertTrue(one.sameDigest(other.digest()));
        assertFalse(Arrays.equals(one.fields(), other.fields()));
    }

    @Test
    void equal_values_in_two_fields_do_not_look_equal() {
        FingerprintFieldHashes hashes =
                FingerprintFieldHashes.decoded(of("{\"a\":1,\"b\":1}", NONE).fields());
        assertNotEquals(hashes.hashes().get(0).hash(), hashes.hashes().get(1).hash());
    }

    @Test
    void equal_values_in_two_workflows_do_not_look_equal() {
        JsonNode data = StrictJsonCodec.parse("{\"a\":1}");
        RequestFingerprint one = RequestFingerprint.of("wf_1", data, NONE, SECRET);
        RequestFingerprint other = RequestFingerprint.of("wf_2", data, NONE, SECRET);
        assertFalse(Arrays.equals(one.fields(), other.fields()));
    }

    @Test
    void more_than_255_declared_fields_are_read_back() {
        List<FingerprintFieldHashes.FieldHash> hashes = IntStream.range(0, 300)
                .mapToObj(i -> new FingerprintFieldHashes.FieldHash("f%03d".formatted(i), i))
                .toList();
        FingerprintFieldHashes stored = new FingerprintFieldHashes(hashes, true);
        assertEquals(stored, FingerprintFieldHashes.decoded(stored.encoded()));
    }

    @Test
    void no_value_is_stored_in_clear() {
        RequestFingerprint made = of("{\"card\":\"4111111111111111\",\"pin\":\"0000\"}", NONE);
        String stored = new String(made.fields(), StandardCharsets.ISO_8859_1);
        assertFalse(stored.contains("4111"));
        assertEquals(List.of("card", "pin"), RequestFingerprint.fieldNames(made.fields()));
        assertEquals(32, made.digest().length);
        assertEquals(4 + (1 + 4 + 8) + (1 + 3 + 8), made.fields().length);
    }

    @Test
    void only_32_undeclared_members_are_hashed_and_later_changes_stay_unnamed() {
        RequestFingerprint stored = of(members(1, 40, ""), NONE);
        assertEquals(32, RequestFingerprint.fieldNames(stored.fields()).size());
        assertEquals(List.of("m03"), of(members(1, 40, "m03"), NONE).changedFrom(stored.fields()));
        assertEquals(List.of("m32"), of(members(1, 40, "m32"), NONE).changedFrom(stored.fields()));
        assertEquals(List.of(BEYOND), of(members(1, 40, "m33"), NONE).changedFrom(stored.fields()));
        assertTrue(of(members(1, 40, ""), NONE).sameDigest(stored.digest()));
        assertFalse(of(members(1, 40, "m33"), NONE).sameDigest(stored.digest()), "it is part of the digest");
        assertFalse(of(members(1, 41, ""), NONE).sameDigest(stored.digest()));
        assertEquals(List.of(BEYOND), of(members(1, 32, ""), NONE).changedFrom(stored.fields()));
        assertEquals(List.of("m32"), of(members(1, 31, ""), NONE).changedFrom(stored.fields()));
    }

    @Test
    void a_new_leading_member_does_not_report_the_displaced_one_as_changed() {
        RequestFingerprint stored = of(members(1, 40, ""), NONE);
        assertEquals(List.of("m00"), of(members(0, 40, ""), NONE).changedFrom(stored.fields()));
        assertEquals(List.of("m01"), of(members(2, 40, ""), NONE).changedFrom(stored.fields()));
    }

    @Test
    void every_declared_field_is_hashed_however_many() {
        String names = IntStream.rangeClosed(1, 40).mapToObj("m%02d"::formatted).collect(Collectors.joining(" "));
        RequestFingerprint stored = of(members(1, 40, ""), policy(names));
        assertEquals(List.of("m39"), of(members(1, 40, "m39"), policy(names)).changedFrom(stored.fields()));
    }

    @Test
    void payload_names_are_shown_short_and_printable() {
        String longName = "n".repeat(500);
        RequestFingerprint stored = of("{\"a\\nb\":1,\"" + longName + "\":1}", NONE);
        RequestFingerprint later = of("{\"a\\nb\":2,\"" + longName + "\":2}", NONE);
        assertEquals(List.of("a\\u000ab", "n".repeat(63) + "…"), later.changedFrom(stored.fields()));
        assertTrue(stored.fields().length < 200);
    }

    @Test
    void names_shown_alike_are_still_distinguished() {
        String same = "n".repeat(100);
        RequestFingerprint both = of("{\"" + same + "1\":1,\"" + same + "2\":1}", NONE);
        RequestFingerprint one = of("{\"" + same + "2\":1}", NONE);
        assertEquals(List.of("n".repeat(63) + "…"), one.changedFrom(both.fields()));
    }

    @Test
    void truncated_or_unknown_stored_bytes_never_fail_and_never_report_wrong_changes() {
        byte[] whole = of("{\"a\":1,\"b\":2,\"c\":3}", NONE).fields();
        RequestFingerprint later = of("{\"a\":1,\"b\":9,\"c\":3}", NONE);
        for (int length = 0; length < whole.length; length++) {
            List<String> changed = later.changedFrom(Arrays.copyOf(whole, length));
            assertTrue(changed.equals(List.of("b")) || changed.equals(List.of(UNTRACKED)), changed.toString());
        }
        assertEquals(List.of(UNTRACKED), later.changedFrom(new byte[0]));
        assertEquals(List.of(UNTRACKED), later.changedFrom(new byte[] {9, 1, 0, 1, 1, 'a'}));
        assertEquals(List.of(UNTRACKED), later.changedFrom(new byte[] {1, 1, -1, -1, -1}));
        assertEquals(List.of(), RequestFingerprint.fieldNames(new byte[] {1}));
    }

    @Test
    void stored_fields_are_read_back_unchanged() {
        FingerprintFieldHashes made = new FingerprintFieldHashes(
                List.of(
                        new FingerprintFieldHashes.FieldHash("ü😀".repeat(21), -1L),
                        new FingerprintFieldHashes.FieldHash("a", 5L)),
                false);
        assertEquals(made, FingerprintFieldHashes.decoded(made.encoded()));
        assertArrayEquals(
                made.encoded(), FingerprintFieldHashes.decoded(made.encoded()).encoded());
    }

    @Test
    void a_declared_function_may_return_nothing_and_may_throw() {
        FingerprintField nothing = new FingerprintField("x", data -> data.get("not there"));
        KeyPolicy policy = declaring(List.of(nothing), List.of());
        assertTrue(of("{}", policy).sameDigest(of("{}", policy("x")).digest()));

        IllegalStateException thrown = new IllegalStateException();
        KeyPolicy throwing = declaring(
                List.of(new FingerprintField("x", data -> {
                    throw thrown;
                })),
                List.of());
        assertEquals(thrown, assertThrows(IllegalStateException.class, () -> of("{}", throwing)));
    }

    @Test
    void the_order_of_declared_fields_does_not_affect_the_changed_names() {
        RequestFingerprint stored = of("{\"a\":1,\"b\":2}", policy("b a"));
        assertEquals(List.of("a", "b"), of("{\"a\":3,\"b\":4}", policy("b a")).changedFrom(stored.fields()));
    }

    @Test
    void expressions_are_normalised() {
        assertEquals(
                "{\"Name\":[\"a b\",\"straße\",1,null,true,{\"X\":\"i\"}]}",
                StrictJsonCodec.write(RequestFingerprint.normalise(StrictJsonCodec.parse(
                        "{\"Name\":[\" A b\\n\",\"STRAßE\",1,null,true,{\"X\":\"\\u2003I\"}]}"))));
    }

    private static RequestFingerprint of(String document, KeyPolicy policy) {
        return RequestFingerprint.of("wf_1", StrictJsonCodec.parse(document), policy, SECRET);
    }

    /** "a b" declares two fields, "-a" ignores one, "*" says nothing. */
    private static KeyPolicy policy(String declared) {
        if (declared.equals("*")) {
            return NONE;
        }
        if (declared.startsWith("-")) {
            return declaring(List.of(), List.of(declared.substring(1)));
        }
        return declaring(
                Stream.of(declared.split(" "))
                        .map(path -> JsonFieldPath.parse(path).toField())
                        .toList(),
                List.of());
    }

    private static KeyPolicy declaring(List<FingerprintField> fields, List<String> ignored) {
        return new KeyPolicy(
                NONE.window(),
                NONE.scope(),
                fields,
                ignored,
                SameKeyDifferentPayloadPolicy.REJECT,
                NONE.duplicatePayload(),
                NONE.onFailed(),
                true,
                false);
    }

    private static String members(int first, int last, String changed) {
        return IntStream.rangeClosed(first, last)
                .mapToObj("m%02d"::formatted)
                .map(name -> "\"" + name + "\":" + (name.equals(changed) ? "\"other\"" : "0"))
                .collect(Collectors.joining(",", "{", "}"));
    }

    private static String sha256(String text) {
        try {
            return java.util.HexFormat.of()
                    .formatHex(java.security.MessageDigest.getInstance("SHA-256")
                            .digest(text.getBytes(StandardCharsets.UTF_8)));
        } catch (java.security.NoSuchAlgorithmException e) {
            throw new AssertionError(e);
        }
    }
}
