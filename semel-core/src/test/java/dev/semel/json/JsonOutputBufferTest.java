package dev.semel.json;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.semel.error.SemelException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

final class JsonOutputBufferTest {
    private static byte[] utf8(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    @ParameterizedTest
    @ValueSource(
            ints = {0x20, 0x7E, 0x7F, 0x80, 0x7FF, 0x800, 0xD7FF, 0xE000, 0xFFFF, 0x10000, 0x3FFFF, 0x40000, 0x10FFFF})
    void a_character_that_needs_no_escape_is_written_in_utf_8(int codePoint) {
        String text = "a" + Character.toString(codePoint) + "b";
        JsonOutputBuffer out = new JsonOutputBuffer();
        out.appendString(text);
        assertArrayEquals(utf8("\"" + text + "\""), out.toBytes());
    }

    @Test
    void the_buffer_grows_wherever_it_is_full() {
        for (String text : new String[] {"", "x", "\u0000", "é", "€", "😀"}) {
            for (int length = 240; length < 270; length++) {
                JsonOutputBuffer out = new JsonOutputBuffer();
                out.appendAscii("y".repeat(length));
                out.appendString(text);
                out.append('z');
                String written = text.equals("\u0000") ? "\\u0000" : text;
                assertArrayEquals(utf8("y".repeat(length) + "\"" + written + "\"z"), out.toBytes());
            }
        }
        for (int length = 250; length < 260; length++) {
            JsonOutputBuffer out = new JsonOutputBuffer();
            for (int i = 0; i < length; i++) {
                out.append('y');
            }
            assertArrayEquals(utf8("y".repeat(length)), out.toBytes());
            out.appendAscii("z".repeat(10_000));
            assertArrayEquals(utf8("y".repeat(length) + "z".repeat(10_000)), out.toBytes());
        }
    }

    @Test
    void a_part_is_what_was_written_between_two_sizes() {
        JsonOutputBuffer out = new JsonOutputBuffer();
        out.appendAscii("before");
        int from = out.size();
        out.appendString("é");
        int to = out.size();
        out.appendAscii("after");
        assertEquals(6, from);
        assertEquals(10, to);
        assertEquals(ByteBuffer.wrap(utf8("\"é\"")), out.part(from, to));
    }

    @ParameterizedTest
    @ValueSource(strings = {"\ud800", "\udfff", "\udc00\ud800", "a\ud800b"})
    void half_of_a_surrogate_pair_has_no_form(String text) {
        assertThrows(SemelException.class, () -> new JsonOutputBuffer().appendString(text));
    }
}
