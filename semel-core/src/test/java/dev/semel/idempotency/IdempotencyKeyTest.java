package dev.semel.idempotency;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.semel.error.ErrorCode;
import dev.semel.error.SemelException;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class IdempotencyKeyTest {
    @Test
    void no_header_line_is_no_key() {
        assertNull(IdempotencyKey.fromHeader(List.of()));
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '§',
            ignoreLeadingAndTrailingWhitespace = false,
            value = {
                "abc|abc",
                "\"abc\"|abc",
                "  abc\t |abc",
                " \t\"abc\" |abc",
                "a b  c|a b  c",
                "a,b|a,b",
                "a\"b|a\"b",
                "a;b=c|a;b=c",
                "a\\b|a\\b",
                "'abc'|'abc'",
                "\"a\\\"b\\\\c\"|a\"b\\c",
                "\" a \"| a ",
                "\"a,b\"|a,b",
                "\"abc\";a|abc",
                "\"abc\";a;b=1;c=-1.5;*d=tok/en:*|abc",
                "\"abc\";  a=\"x\\\"y\"|abc",
                "\"abc\";a=?1;b=?0;c=:aGk=:;d=@-1659578233;e=%\"f%c3%bc\"|abc",
                "\"abc\";a=:: |abc",
                "\"abc\";a=0;z=9;a09z=AZaz09|abc",
                "\"abc\";a=123456789012345;b=123456789012.123;c=@123456789012345|abc",
                "\"abc\";a=:AZaz09+/=:;b=*AZ|abc",
                "\"abc\";a=%\"%00 ~%ff\"|abc",
                "\"abc\";a=\" ~\"|abc",
                "\" !~\"| !~",
                "~!#$%&'()*+-./09:;<=>?@AZ[]^_`az{}|~!#$%&'()*+-./09:;<=>?@AZ[]^_`az{}",
            })
    void bare_and_quoted_forms_give_the_canonical_key(String line, String key) {
        assertEquals(IdempotencyKey.of(key), IdempotencyKey.fromHeader(List.of(line)));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                " ",
                "\t",
                "\"\"",
                "a\tb",
                "a\rb",
                "a\nb",
                "abc\r\n def",
                "a\u0000b",
                "\u007f",
                "\u00a0abc",
                "é",
                "e\u0301",
                "\u212a",
                "a\u200bb",
                "a\u202eb",
                "\ud800x",
                "\ud801x",
                "\"abc",
                "\"",
                "\"abc\\",
                "\"a\\bc\"",
                "\"a\\nc\"",
                "\"abc\"def",
                "\"abc\" def",
                "\"abc\", \"def\"",
                "\"abc\",\"abc\"",
                "\"abc\" ;a",
                "\"abc\";",
                "\"abc\";A",
                "\"abc\";a=",
                "\"abc\";a=-",
                "\"abc\";a=1.",
                "\"abc\";a=1.2345",
                "\"abc\";a=1234567890123456",
                "\"abc\";a=1234567890123.1",
                "\"abc\";a=?2",
                "\"abc\";a=?",
                "\"abc\";a=%",
                "\"abc\";a=%\"",
                "\"abc\";a=%\"%",
                "\"abc\";a=%\"%c",
                "\"abc\";a=%\"%cg\"",
                "\"abc\";a=%\"\u001f\"",
                "\"abc\";a=%\"\u007f\"",
                "\"abc\";`",
                "\"abc\";{",
                "\"abc\";a@",
                "\"abc\";a=1/",
                "\"abc\";a=1:",
                "\"abc\";a=@",
                "\"abc\";a=[",
                "\"abc\";a=:a!:",
                "\"abc\";a=:aa",
                "\"abc\";a=@1.5",
                "\"abc\";a=%\"%C3\"",
                "\"abc\";a=%x",
                "\"abc\";a=%\"x",
                "\"abc\";a=\"x",
                "\"abc\";a=(1 2)",
                "\"abc\";a ;b",
                "\"a\tb\"",
                "\"é\"",
                "\"a\\é\"",
            })
    void other_forms_are_rejected(String line) {
        refuse(line);
    }

    @Test
    void a_quoted_key_may_consist_of_spaces() {
        assertEquals(IdempotencyKey.of("  "), IdempotencyKey.fromHeader(List.of("\"  \"")));
    }

    @Test
    void two_header_lines_are_rejected_even_if_equal() {
        SemelException refusal =
                assertThrows(SemelException.class, () -> IdempotencyKey.fromHeader(List.of("abc", "abc")));
        assertEquals(ErrorCode.IDEMPOTENCY_KEY_INVALID, refusal.code());
        assertTrue(refusal.detail().contains("2 times"), refusal.detail());
    }

    @Test
    void the_length_is_counted_after_unescaping() {
        String longest = "k".repeat(255);
        assertEquals(longest, text("  " + longest + "  "));
        assertEquals(longest, text("\"" + longest + "\""));
        assertEquals("\"".repeat(255), text("\"" + "\\\"".repeat(255) + "\""));
        refuse(longest + "k");
        refuse("\"" + longest + "k\"");
        refuse("😀".repeat(255));
    }

    @Test
    void keys_are_compared_by_character_and_case() {
        assertNotEquals(IdempotencyKey.of("abc"), IdempotencyKey.of("Abc"));
        assertNotEquals(IdempotencyKey.of("abc"), IdempotencyKey.of("abc "));
        assertNotEquals(IdempotencyKey.of("abc"), IdempotencyKey.of("\"abc\""));
    }

    @Test
    void an_error_names_rule_position_and_character_but_not_the_key() {
        SemelException refusal = refuse("secret-\u212a-secret");
        assertTrue(refusal.detail().contains("character 8 is U+212A"), refusal.detail());
        assertTrue(refusal.detail().contains("Nothing was started"), refusal.detail());
        assertFalse(refusal.toString().contains("secret"), refusal.toString());
        assertFalse(refusal.members().containsKey("idempotency_key"));
        assertTrue(refuse("x".repeat(300)).detail().contains("300 characters"));
        assertTrue(refuse("").detail().contains("empty"));
        assertTrue(refuse("x\ud83d\ude00").detail().contains("character 2 is U+1F600"));
    }

    @Test
    void a_rejected_key_is_echoed_only_if_harmless() {
        assertEquals("\"abc\"x", refuse("\"abc\"x").members().get("idempotency_key"));
        assertFalse(refuse("\"abc\n").members().containsKey("idempotency_key"));
        String longest = "\"".repeat(255);
        assertEquals(longest, refuse(longest).members().get("idempotency_key"));
        assertFalse(refuse(longest + "\"").members().containsKey("idempotency_key"));
    }

    @Test
    void a_long_key_is_shortened_for_logs() {
        assertEquals("0123456789abcdef", IdempotencyKey.of("0123456789abcdef").shortened());
        assertEquals("01234567…defg", IdempotencyKey.of("0123456789abcdefg").shortened());
        assertEquals("01234567…defg", IdempotencyKey.of("0123456789abcdefg").toString());
    }

    @Test
    void a_chosen_run_id_is_a_key_without_spaces_and_slashes() {
        assertEquals("order-1042", new ChosenRunId("order-1042").text());
        assertEquals(128, new ChosenRunId("r".repeat(128)).text().length());
        for (String bad :
                List.of("", "a b", "a/b", " a", "a\t", "é", "\ud800", "a\u0000", ".", "..", "r".repeat(129))) {
            SemelException refusal = assertThrows(SemelException.class, () -> new ChosenRunId(bad));
            assertEquals(ErrorCode.INVALID_INPUT, refusal.code());
            assertTrue(refusal.members().toString().contains("/run_id"));
        }
        for (String good : List.of("...", "!", "~", "!a~")) {
            assertEquals(good, new ChosenRunId(good).text());
        }
        assertThrows(SemelException.class, () -> new ChosenRunId("\u007f"));
    }

    private static String text(String line) {
        IdempotencyKey key = IdempotencyKey.fromHeader(List.of(line));
        return key == null ? "" : key.text();
    }

    private static SemelException refuse(String line) {
        SemelException refusal = assertThrows(SemelException.class, () -> IdempotencyKey.fromHeader(List.of(line)));
        assertEquals(ErrorCode.IDEMPOTENCY_KEY_INVALID, refusal.code());
        return refusal;
    }
}
