package dev.semel.json;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.charset.StandardCharsets;
import java.util.List;
import org.junit.jupiter.api.Test;

class StorableTextTest {
    @Test
    void nul_and_unpaired_surrogates_are_not_storable() {
        for (String text : List.of("\0", "a\0", "\ud83d", "\ude00", "a\ude00\ud83d")) {
            assertFalse(StorableText.isStorable(text));
        }
        for (String text : List.of("", " ", "\u0001", "\ud83d\ude00", "\uffff", "ä€")) {
            assertTrue(StorableText.isStorable(text));
        }
    }

    @Test
    void a_text_that_fits_stays_and_a_longer_one_is_cut_between_characters() {
        for (String character : List.of("x", "ä", "€", "\ud83d\ude00")) {
            int bytes = character.getBytes(StandardCharsets.UTF_8).length;
            String fits = character.repeat(StorableText.LONGEST_INDEXED / bytes);
            assertSame(fits, StorableText.shortenForIndex(fits));
            String longer = fits + "xxxx";
            String cut = StorableText.shortenForIndex(longer);
            assertTrue(cut.getBytes(StandardCharsets.UTF_8).length <= StorableText.LONGEST_INDEXED, character);
            assertTrue(StorableText.isStorable(cut), character);
            String prefix = cut.substring(0, cut.indexOf('…'));
            assertTrue(longer.startsWith(prefix), character);
            assertEquals(900 / bytes * bytes, prefix.getBytes(StandardCharsets.UTF_8).length, character);
            assertEquals(cut, StorableText.shortenForIndex(cut), "a cut text stays as it is");
        }
    }

    @Test
    void different_long_texts_stay_different() {
        String start = "x".repeat(StorableText.LONGEST_INDEXED);
        assertNotEquals(StorableText.shortenForIndex(start + "a"), StorableText.shortenForIndex(start + "b"));
    }
}
