package dev.semel.json;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

class ShownNameTest {
    @Test
    void a_short_printable_name_is_shown_as_it_is() {
        assertEquals("amount", ShownName.of("amount", 64));
        assertEquals("Größe 😀", ShownName.of("Größe 😀", 64));
        assertEquals("", ShownName.of("", 64));
        assertEquals("a".repeat(64), ShownName.of("a".repeat(64), 64));
    }

    @Test
    void a_long_name_is_cut_between_characters() {
        assertEquals("a".repeat(63) + "…", ShownName.of("a".repeat(65), 64));
        assertEquals("ab…", ShownName.of("ab😀cd", 4));
        assertEquals("ab😀", ShownName.of("ab😀", 4));
    }

    @Test
    void what_does_not_print_is_shown_as_its_code() {
        assertEquals("a\\u000ab", ShownName.of("a\nb", 64));
        assertEquals(
                "\\u0000\\u001b\\u202e\\u200b\\u2028\\ud800", ShownName.of("\u0000\u001b\u202e\u200b\u2028\ud800", 64));
        assertTrue(ShownName.of("\n".repeat(1000), 64).length() <= 64);
    }
}
