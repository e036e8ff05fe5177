package dev.semel.json;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import org.junit.jupiter.api.Test;

class UntrustedNameLogSanitizerTest {
    @Test
    void a_short_printable_name_is_shown_as_it_is() {
        assertEquals("amount", UntrustedNameLogSanitizer.of("amount", 64));
        assertEquals("Größe 😀", UntrustedNameLogSanitizer.of("Größe 😀", 64));
        assertEquals("", UntrustedNameLogSanitizer.of("", 64));
        assertEquals("a".repeat(64), UntrustedNameLogSanitizer.of("a".repeat(64), 64));
    }

    @Test
    void a_name_that_needs_no_change_is_not_copied() {
        for (String name : List.of("amount", "a".repeat(64), " ~", "Größe 😀")) {
            assertSame(name, UntrustedNameLogSanitizer.of(name, 64));
        }
    }

    @Test
    void a_long_name_is_cut_between_characters() {
        assertEquals("a".repeat(63) + "…", UntrustedNameLogSanitizer.of("a".repeat(65), 64));
        assertEquals("ab…", UntrustedNameLogSanitizer.of("ab😀cd", 4));
        assertEquals("ab😀", UntrustedNameLogSanitizer.of("ab😀", 4));
    }

    @Test
    void unprintable_characters_are_shown_as_codes() {
        assertEquals("a\\u000ab", UntrustedNameLogSanitizer.of("a\nb", 64));
        assertEquals(
                "\\u0000\\u001b\\u202e\\u200b\\u2028\\ud800",
                UntrustedNameLogSanitizer.of("\u0000\u001b\u202e\u200b\u2028\ud800", 64));
        assertTrue(UntrustedNameLogSanitizer.of("\n".repeat(1000), 64).length() <= 64);
    }
}
