package dev.semel.json;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

class PrintableNameTest {
    @Test
    void a_short_printable_name_is_shown_as_it_is() {
        assertEquals("amount", PrintableName.of("amount", 64));
        assertEquals("Größe 😀", PrintableName.of("Größe 😀", 64));
        assertEquals("", PrintableName.of("", 64));
        assertEquals("a".repeat(64), PrintableName.of("a".repeat(64), 64));
    }

    @Test
    void a_long_name_is_cut_between_characters() {
        assertEquals("a".repeat(63) + "…", PrintableName.of("a".repeat(65), 64));
        assertEquals("ab…", PrintableName.of("ab😀cd", 4));
        assertEquals("ab😀", PrintableName.of("ab😀", 4));
    }

    @Test
    void unprintable_characters_are_shown_as_codes() {
        assertEquals("a\\u000ab", PrintableName.of("a\nb", 64));
        assertEquals(
                "\\u0000\\u001b\\u202e\\u200b\\u2028\\ud800",
                PrintableName.of("\u0000\u001b\u202e\u200b\u2028\ud800", 64));
        assertTrue(PrintableName.of("\n".repeat(1000), 64).length() <= 64);
    }
}
