package dev.semel.server.http.transport;

import dev.semel.server.http.transport.HttpRequestSyntaxError.MalformedRequestException;
import java.nio.charset.StandardCharsets;

/**
 * Validates request line and headers strictly and returns how the body is framed. This prevents request smuggling: it
 * accepts only syntax that every HTTP parser reads in the same way. Pure: bytes in, framing or fault out.
 */
final class HttpRequestHeadValidator {
    /** The result of {@link #validate} for a chunked body; otherwise the result is the length. */
    static final long CHUNKED = -1;

    private static final int MAX_LINES = 128;
    private static final int MAX_METHOD = 24;
    /** Longer numbers would overflow. */
    private static final int MAX_LENGTH_DIGITS = 15;

    private static final boolean[] TOKEN = lettersAnd("!#$%&'*+-.^_`|~");
    private static final boolean[] HOST = lettersAnd("-._~:[]%!$&'()*+;=");
    private static final byte[] VERSION = ascii("HTTP/1.1");
    private static final byte[] CONTENT_LENGTH = ascii("content-length");
    private static final byte[] TRANSFER_ENCODING = ascii("transfer-encoding");
    private static final byte[] HOST_NAME = ascii("host");
    private static final byte[] CHUNKED_WORD = ascii("chunked");

    private final byte[] bytes;
    private final int end;
    private int at;
    private int hosts;
    private long length;
    private int lengths;
    private int transfers;

    private HttpRequestHeadValidator(byte[] bytes, int from, int end) {
        this.bytes = bytes;
        this.at = from;
        this.end = end;
    }

    /**
     * @param end index after the empty line that ends the head; every line ends with CR LF
     * @return the length of the body, or {@link #CHUNKED}
     */
    static long validate(byte[] bytes, int from, int end, int maxPrologue) {
        HttpRequestHeadValidator head = new HttpRequestHeadValidator(bytes, from, end);
        head.requestLine(maxPrologue);
        int lines = 0;
        while (bytes[head.at] != '\r') {
            if (++lines > MAX_LINES) {
                throw new MalformedRequestException(HttpRequestSyntaxError.HEAD_TOO_LARGE);
            }
            head.headerLine();
        }
        return head.framing();
    }

    private void requestLine(int maxPrologue) {
        int start = at;
        while (TOKEN[bytes[at] & 0xFF]) {
            // Helidon reads `get` as GET, while a proxy in front may apply no rule for GET to it.
            if (bytes[at] >= 'a' && bytes[at] <= 'z') {
                throw new MalformedRequestException(HttpRequestSyntaxError.METHOD);
            }
            at++;
        }
        if (at == start || at - start > MAX_METHOD || bytes[at] != ' ') {
            throw new MalformedRequestException(HttpRequestSyntaxError.REQUEST_LINE);
        }
        at++;
        if (bytes[at] != '/') {
            throw new MalformedRequestException(HttpRequestSyntaxError.TARGET);
        }
        while (bytes[at] > ' ' && bytes[at] < 0x7F) {
            // Fragments are never sent, and some servers read a backslash as a slash.
            if (bytes[at] == '#' || bytes[at] == '\\') {
                throw new MalformedRequestException(HttpRequestSyntaxError.TARGET);
            }
            at++;
        }
        if (bytes[at] != ' ') {
            throw new MalformedRequestException(
                    bytes[at] == '\r' ? HttpRequestSyntaxError.REQUEST_LINE : HttpRequestSyntaxError.TARGET);
        }
        at++;
        version();
        if (at - start > maxPrologue) {
            throw new MalformedRequestException(HttpRequestSyntaxError.HEAD_TOO_LARGE);
        }
        at += 2;
    }

    private void version() {
        for (byte expected : VERSION) {
            if (bytes[at] != expected) {
                boolean other = bytes[at] >= '0' && bytes[at] <= '9' && (expected == '1' || expected == '.');
                throw new MalformedRequestException(
                        other ? HttpRequestSyntaxError.VERSION : HttpRequestSyntaxError.REQUEST_LINE);
            }
            at++;
        }
        if (bytes[at] != '\r') {
            throw new MalformedRequestException(HttpRequestSyntaxError.REQUEST_LINE);
        }
    }

    /** Rejects folded lines, a leading space and a space before the colon. */
    private void headerLine() {
        int name = at;
        while (TOKEN[bytes[at] & 0xFF]) {
            at++;
        }
        int nameEnd = at;
        if (nameEnd == name || bytes[nameEnd] != ':') {
            throw new MalformedRequestException(HttpRequestSyntaxError.HEADER_NAME);
        }
        at++;
        int value = at;
        while (bytes[at] >= ' ' && bytes[at] != 0x7F || bytes[at] == '\t' || bytes[at] < 0) {
            at++;
        }
        if (bytes[at] != '\r') {
            throw new MalformedRequestException(HttpRequestSyntaxError.HEADER_VALUE);
        }
        framingHeader(name, nameEnd, value);
        at += 2;
    }

    private void framingHeader(int name, int nameEnd, int value) {
        int size = nameEnd - name;
        if (size != HOST_NAME.length && size != CONTENT_LENGTH.length && size != TRANSFER_ENCODING.length) {
            return;
        }
        int from = value;
        int to = at;
        while (from < to && isBlank(bytes[from])) {
            from++;
        }
        while (to > from && isBlank(bytes[to - 1])) {
            to--;
        }
        if (same(name, nameEnd, HOST_NAME)) {
            host(from, to);
        } else if (same(name, nameEnd, CONTENT_LENGTH)) {
            length(from, to);
        } else if (same(name, nameEnd, TRANSFER_ENCODING)) {
            transfers++;
            if (!same(from, to, CHUNKED_WORD)) {
                throw new MalformedRequestException(HttpRequestSyntaxError.TRANSFER_ENCODING);
            }
        }
    }

    private void host(int from, int to) {
        hosts++;
        boolean valid = from < to;
        for (int i = from; i < to; i++) {
            valid &= HOST[bytes[i] & 0xFF];
        }
        if (!valid) {
            throw new MalformedRequestException(HttpRequestSyntaxError.HOST);
        }
    }

    private void length(int from, int to) {
        lengths++;
        int digits = to - from;
        boolean padded = digits > 1 && bytes[from] == '0';
        if (lengths > 1 || digits == 0 || digits > MAX_LENGTH_DIGITS || padded) {
            throw new MalformedRequestException(HttpRequestSyntaxError.LENGTH);
        }
        for (int i = from; i < to; i++) {
            int digit = bytes[i] - '0';
            if (digit < 0 || digit > 9) {
                throw new MalformedRequestException(HttpRequestSyntaxError.LENGTH);
            }
            length = length * 10 + digit;
        }
    }

    private long framing() {
        if (at + 2 != end || hosts != 1) {
            throw new MalformedRequestException(
                    hosts != 1 ? HttpRequestSyntaxError.HOST : HttpRequestSyntaxError.OTHER);
        }
        if (transfers == 0) {
            return length;
        }
        if (transfers > 1 || lengths > 0) {
            throw new MalformedRequestException(HttpRequestSyntaxError.TRANSFER_ENCODING);
        }
        return CHUNKED;
    }

    private boolean same(int from, int to, byte[] lower) {
        if (to - from != lower.length) {
            return false;
        }
        for (int i = 0; i < lower.length; i++) {
            int b = bytes[from + i];
            if ((b >= 'A' && b <= 'Z' ? b + 32 : b) != lower[i]) {
                return false;
            }
        }
        return true;
    }

    private static boolean isBlank(byte b) {
        return b == ' ' || b == '\t';
    }

    private static byte[] ascii(String text) {
        return text.getBytes(StandardCharsets.US_ASCII);
    }

    private static boolean[] lettersAnd(String others) {
        boolean[] out = new boolean[256];
        for (char c = 0; c < 128; c++) {
            boolean letter = c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9';
            out[c] = letter || others.indexOf(c) >= 0;
        }
        return out;
    }
}
