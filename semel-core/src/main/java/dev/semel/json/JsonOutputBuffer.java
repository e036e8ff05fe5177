package dev.semel.json;

import java.nio.ByteBuffer;
import java.util.Arrays;

/** A growing buffer of JSON text in UTF-8, with the escapes of RFC 8785. Not thread-safe. */
public final class JsonOutputBuffer {
    private static final byte[] HEX = {'0', '1', '2', '3', '4', '5', '6', '7', '8', '9', 'a', 'b', 'c', 'd', 'e', 'f'};

    private byte[] buffer = new byte[256];
    private int size;

    public void append(char ascii) {
        room(1);
        buffer[size++] = (byte) ascii;
    }

    public void appendAscii(CharSequence text) {
        room(text.length());
        for (int i = 0; i < text.length(); i++) {
            buffer[size++] = (byte) text.charAt(i);
        }
    }

    /** Appends a JSON string in quotes with the required escapes only. */
    public void appendString(String text) {
        append('"');
        for (int i = 0; i < text.length(); i++) {
            // A character needs at most six bytes: an escaped control character.
            room(6);
            char c = text.charAt(i);
            if (c >= 0x20 && c < 0x80 && c != '"' && c != '\\') {
                buffer[size++] = (byte) c;
            } else if (c < 0x80) {
                escaped(c);
            } else if (c < 0x800) {
                buffer[size++] = (byte) (0xC0 | c >> 6);
                continuation(c);
            } else if (!Character.isSurrogate(c)) {
                buffer[size++] = (byte) (0xE0 | c >> 12);
                continuation(c >> 6);
                continuation(c);
            } else {
                supplementary(text, i++);
            }
        }
        append('"');
    }

    public int size() {
        return size;
    }

    /** The bytes between two sizes; valid until the next append. */
    public ByteBuffer part(int from, int to) {
        return ByteBuffer.wrap(buffer, from, to - from);
    }

    public byte[] toBytes() {
        return Arrays.copyOf(buffer, size);
    }

    private void escaped(char c) {
        buffer[size++] = '\\';
        switch (c) {
            case '"', '\\' -> buffer[size++] = (byte) c;
            case '\b' -> buffer[size++] = 'b';
            case '\t' -> buffer[size++] = 't';
            case '\n' -> buffer[size++] = 'n';
            case '\f' -> buffer[size++] = 'f';
            case '\r' -> buffer[size++] = 'r';
            default -> {
                buffer[size++] = 'u';
                buffer[size++] = '0';
                buffer[size++] = '0';
                buffer[size++] = HEX[c >> 4];
                buffer[size++] = HEX[c & 0xF];
            }
        }
    }

    private void supplementary(String text, int at) {
        int codePoint = text.codePointAt(at);
        if (!Character.isSupplementaryCodePoint(codePoint)) {
            throw InvalidJsonErrorFactory.unwritable(
                    "a string contains half of a surrogate pair, which has no UTF-8 form");
        }
        buffer[size++] = (byte) (0xF0 | codePoint >> 18);
        continuation(codePoint >> 12);
        continuation(codePoint >> 6);
        continuation(codePoint);
    }

    private void continuation(int bits) {
        buffer[size++] = (byte) (0x80 | bits & 0x3F);
    }

    private void room(int more) {
        if (buffer.length - size < more) {
            buffer = Arrays.copyOf(buffer, Math.max(buffer.length * 2, Math.addExact(size, more)));
        }
    }
}
