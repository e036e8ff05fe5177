package dev.semel.server.connectors.channel;

import jakarta.mail.internet.MimeUtility;
import java.nio.charset.StandardCharsets;
import java.util.Base64;

/**
 * Writes a subject as RFC 2047 says: lines with encoded words have at most 76 characters, and no encoded word splits a
 * character. Plain ASCII stays as it is and is folded at spaces.
 */
final class EncodedSubject {
    private static final String START = "=?UTF-8?B?";
    private static final String END = "?=";
    private static final int LONGEST_LINE = 76;
    private static final String NAME = "Subject: ";

    private EncodedSubject() {}

    static String of(String subject) {
        boolean plain = subject.chars().allMatch(c -> c >= 0x20 && c < 0x7f) && !subject.contains("=?");
        return plain ? MimeUtility.fold(NAME.length(), subject) : encoded(subject);
    }

    private static String encoded(String subject) {
        StringBuilder out = new StringBuilder();
        StringBuilder word = new StringBuilder();
        int room = bytesIn(LONGEST_LINE - NAME.length());
        for (int at = 0; at < subject.length(); ) {
            int next = subject.offsetByCodePoints(at, 1);
            String character = subject.substring(at, next);
            if (utf8(word + character).length > room) {
                append(out, word);
                room = bytesIn(LONGEST_LINE - 1); // a further line begins with a space
            }
            word.append(character);
            at = next;
        }
        append(out, word);
        return out.toString();
    }

    /** How many bytes an encoded word of this length holds. */
    private static int bytesIn(int characters) {
        return (characters - START.length() - END.length()) / 4 * 3;
    }

    private static void append(StringBuilder out, StringBuilder word) {
        out.append(out.isEmpty() ? "" : "\r\n ")
                .append(START)
                .append(Base64.getEncoder().encodeToString(utf8(word.toString())))
                .append(END);
        word.setLength(0);
    }

    private static byte[] utf8(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }
}
