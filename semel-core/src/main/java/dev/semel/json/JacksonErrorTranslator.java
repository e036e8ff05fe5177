package dev.semel.json;

import dev.semel.error.SemelException;
import java.util.List;
import tools.jackson.core.JacksonException;
import tools.jackson.core.exc.UnexpectedEndOfInputException;

/** Messages have no payload: Jackson's message quotes the text, so it only selects the message here. */
final class JacksonErrorTranslator {
    private record Pattern(String sign, String message) {}

    private static final List<Pattern> PATTERNS = List.of(
            new Pattern("Non-standard token", "NaN and Infinity are not JSON numbers"),
            new Pattern("Unrecognized token", "a word that is not true, false or null; a string needs double quotes"),
            new Pattern("Illegal unquoted character", "a control character in a string must be escaped"),
            new Pattern(
                    "Unrecognized character escape", "a backslash is followed by a character that it cannot escape"),
            new Pattern("hex-digit", "\\u must be followed by four hexadecimal digits"),
            new Pattern("Leading zeroes", "a number must not have leading zeros"),
            new Pattern("in numeric value", "this is not a JSON number"),
            new Pattern("to start property name", "a member name in double quotes is expected here"),
            new Pattern("was expecting a colon", "a colon is expected between a member's name and its value"),
            new Pattern("was expecting comma", "a comma is expected here"),
            // Jackson checks surrogate pairs only in names; the reader checks strings.
            new Pattern(
                    "surrogate", "a member name has an escape for half of a surrogate pair, which is not a character"),
            new Pattern("comment", "comments are not part of JSON"),
            new Pattern("Unexpected close marker", "the closing bracket does not match the opening bracket"));

    private JacksonErrorTranslator() {}

    static SemelException of(String text, JacksonException e) {
        if (e instanceof UnexpectedEndOfInputException) {
            return InvalidJsonErrorFactory.at(text, text.length(), "the document ends before it is complete");
        }
        int offset = e.getLocation() == null ? 0 : (int) e.getLocation().getCharOffset();
        String original = e.getOriginalMessage() == null ? "" : e.getOriginalMessage();
        for (Pattern pattern : PATTERNS) {
            if (original.contains(pattern.sign())) {
                return InvalidJsonErrorFactory.at(text, offset, pattern.message());
            }
        }
        String found = 0 <= offset && offset < text.length() ? "U+%04X".formatted(text.codePointAt(offset)) : "the end";
        return InvalidJsonErrorFactory.at(text, offset, found + " is not expected here");
    }
}
