package dev.semel.json;

import dev.semel.error.SemelException;
import java.util.List;
import tools.jackson.core.JacksonException;
import tools.jackson.core.exc.UnexpectedEndOfInputException;

/**
 * Translates Jackson's syntax errors into messages without payload. Jackson's message quotes the text, so it only
 * selects the message here.
 */
final class SyntaxProblem {
    private record Known(String sign, String message) {}

    private static final List<Known> KNOWN = List.of(
            new Known("Non-standard token", "NaN and Infinity are not JSON numbers"),
            new Known("Unrecognized token", "a word that is not true, false or null; a string needs double quotes"),
            new Known("Illegal unquoted character", "a control character in a string must be escaped"),
            new Known("Unrecognized character escape", "a backslash is followed by a character that it cannot escape"),
            new Known("hex-digit", "\\u must be followed by four hexadecimal digits"),
            new Known("Leading zeroes", "a number must not begin with a zero"),
            new Known("in numeric value", "a number is not written as JSON writes numbers"),
            new Known("to start property name", "a member name in double quotes is expected here"),
            new Known("was expecting a colon", "a colon is expected between a member's name and its value"),
            new Known("was expecting comma", "a comma is expected here"),
            // Jackson checks surrogate pairs only in names; the reader checks strings.
            new Known(
                    "surrogate", "a member name has an escape for half of a surrogate pair, which is not a character"),
            new Known("comment", "comments are not part of JSON"),
            new Known("Unexpected close marker", "a bracket is closed that does not match the open one"));

    private SyntaxProblem() {}

    static SemelException of(String text, JacksonException e) {
        if (e instanceof UnexpectedEndOfInputException) {
            return JsonProblem.at(text, text.length(), "the document ends before it is complete");
        }
        int offset = e.getLocation() == null ? 0 : (int) e.getLocation().getCharOffset();
        String original = e.getOriginalMessage() == null ? "" : e.getOriginalMessage();
        for (Known known : KNOWN) {
            if (original.contains(known.sign())) {
                return JsonProblem.at(text, offset, known.message());
            }
        }
        String found = 0 <= offset && offset < text.length() ? "U+%04X".formatted(text.codePointAt(offset)) : "the end";
        return JsonProblem.at(text, offset, found + " is not expected here");
    }
}
