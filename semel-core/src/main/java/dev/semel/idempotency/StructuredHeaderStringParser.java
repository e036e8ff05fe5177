package dev.semel.idempotency;

/** Parses an RFC 9651 Item of type String. Parameters must be well-formed and are ignored. */
final class StructuredHeaderStringParser {
    sealed interface Result {}

    /** The unescaped string. */
    record Parsed(String text) implements Result {}

    /** @param rule what is wrong and where, for a message */
    record Rejected(String rule) implements Result {}

    /** Greater than every allowed character. */
    private static final char END = '\uFFFF';

    private final String text;
    private int at;

    private StructuredHeaderStringParser(String text) {
        this.text = text;
    }

    /** @param text starts with a double quote and has no surrounding white space */
    static Result parse(String text) {
        return new StructuredHeaderStringParser(text).item();
    }

    private Result item() {
        StringBuilder value = new StringBuilder();
        if (!string(value)) {
            return rejected();
        }
        while (take(peek() == ';')) {
            if (!parameter()) {
                return rejected();
            }
        }
        return at == text.length() ? new Parsed(value.toString()) : rejected();
    }

    private Rejected rejected() {
        return new Rejected(
                at >= text.length()
                        ? "it starts with a quote, but the closing quote is missing or a parameter is incomplete"
                        : "it starts with a quote, so it must be one quoted string, and "
                                + IdempotencyKeyAlphabet.describe(text, at)
                                + ", which is not allowed there");
    }

    private boolean string(StringBuilder value) {
        at++;
        while (at < text.length()) {
            char c = text.charAt(at);
            if (c == '"') {
                at++;
                return true;
            }
            if (c == '\\') {
                c = ++at < text.length() ? text.charAt(at) : END;
                if (c != '"' && c != '\\') {
                    return false;
                }
            }
            if (c < 0x20 || c > 0x7E) {
                return false;
            }
            value.append(c);
            at++;
        }
        return false;
    }

    private boolean parameter() {
        skip(" ");
        if (!isLowerCase(peek()) && peek() != '*') {
            return false;
        }
        while (isLowerCase(peek()) || isDigit(peek()) || isOneOf("_-.*")) {
            at++;
        }
        return !take(peek() == '=') || bareItem();
    }

    private boolean bareItem() {
        char c = peek();
        if (c == '"') {
            return string(new StringBuilder());
        }
        if (c == '-' || isDigit(c)) {
            return number(true);
        }
        return switch (c) {
            case '?' -> bool();
            case ':' -> byteSequence();
            case '@' -> date();
            case '%' -> displayString();
            default -> token();
        };
    }

    private boolean number(boolean mayHavePoint) {
        take(peek() == '-');
        int whole = digits();
        if (whole == 0 || whole > 15) {
            return false;
        }
        if (!take(peek() == '.')) {
            return true;
        }
        int fraction = digits();
        return mayHavePoint && whole <= 12 && fraction >= 1 && fraction <= 3;
    }

    private boolean date() {
        at++;
        return number(false);
    }

    private boolean bool() {
        at++;
        return take(isOneOf("01"));
    }

    private boolean byteSequence() {
        at++;
        while (isLetter(peek()) || isDigit(peek()) || isOneOf("+/=")) {
            at++;
        }
        return take(peek() == ':');
    }

    private boolean displayString() {
        at++;
        if (!take(peek() == '"')) {
            return false;
        }
        while (peek() >= 0x20 && peek() <= 0x7E) {
            char c = text.charAt(at++);
            if (c == '"') {
                return true;
            }
            if (c == '%' && !(lowerHex() && lowerHex())) {
                return false;
            }
        }
        return false;
    }

    private boolean token() {
        if (!isLetter(peek()) && peek() != '*') {
            return false;
        }
        while (isLetter(peek()) || isDigit(peek()) || isOneOf("!#$%&'*+-.^_`|~:/")) {
            at++;
        }
        return true;
    }

    private boolean lowerHex() {
        return take(isOneOf("0123456789abcdef"));
    }

    private int digits() {
        int start = at;
        skip("0123456789");
        return at - start;
    }

    private void skip(String characters) {
        while (isOneOf(characters)) {
            at++;
        }
    }

    private boolean take(boolean matches) {
        if (matches) {
            at++;
        }
        return matches;
    }

    private char peek() {
        return at < text.length() ? text.charAt(at) : END;
    }

    private boolean isOneOf(String characters) {
        return characters.indexOf(peek()) >= 0;
    }

    private static boolean isDigit(char c) {
        return c >= '0' && c <= '9';
    }

    private static boolean isLowerCase(char c) {
        return c >= 'a' && c <= 'z';
    }

    private static boolean isLetter(char c) {
        return isLowerCase(c) || (c >= 'A' && c <= 'Z');
    }
}
