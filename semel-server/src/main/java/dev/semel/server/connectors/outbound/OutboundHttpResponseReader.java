package dev.semel.server.connectors.outbound;

import java.io.BufferedInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.net.http.HttpHeaders;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.zip.GZIPInputStream;

/** Reads HTTP/1.1 responses from untrusted servers with limits on every line, header list and body. */
final class OutboundHttpResponseReader {
    private static final int LONGEST_HEAD = 64 * 1024;
    private static final int MOST_LINES = 256;
    private static final int MOST_PRELIMINARY = 8;

    private final InputStream in;
    private int headBytes;
    private int headLines;

    OutboundHttpResponseReader(InputStream in) {
        this.in = new BufferedInputStream(in, 8 * 1024);
    }

    /** The body has a content encoding that was not requested. */
    static final class UnsupportedEncoding extends IOException {}

    record ResponseHead(int status, HttpHeaders headers) {
        /** The only value of a header, in lower case; empty if absent. */
        private String singleValue(String name) throws IOException {
            List<String> values = headers.allValues(name).stream()
                    .map(String::strip)
                    .distinct()
                    .toList();
            if (values.size() > 1) {
                throw new IOException("the response has two different values of " + name);
            }
            return values.isEmpty() ? "" : values.getFirst().toLowerCase(Locale.ROOT);
        }
    }

    /** Reads the head of the final response and skips 1xx responses. */
    ResponseHead readHead() throws IOException {
        for (int i = 0; i < MOST_PRELIMINARY; i++) {
            ResponseHead head = new ResponseHead(status(line()), HttpHeaders.of(fields(), (_, _) -> true));
            if (head.status() >= 200) {
                return head;
            }
            if (head.status() == 101) {
                throw new IOException("the response switches the protocol without a request to do so");
            }
        }
        throw new IOException("the server sent too many interim responses");
    }

    private static int status(String line) throws IOException {
        if (!line.matches("HTTP/1\\.[01] [1-5][0-9][0-9]( .*)?")) {
            throw new IOException("the response does not start with an HTTP/1 status line");
        }
        return Integer.parseInt(line.substring(9, 12));
    }

    private Map<String, List<String>> fields() throws IOException {
        Map<String, List<String>> fields = new TreeMap<>(String.CASE_INSENSITIVE_ORDER);
        for (String line = line(); !line.isEmpty(); line = line()) {
            int colon = line.indexOf(':');
            if (colon < 1 || !OutboundRequestHeader.isName(line.substring(0, colon))) {
                throw new IOException("the response has a malformed header");
            }
            fields.computeIfAbsent(line.substring(0, colon), _ -> new ArrayList<>())
                    .add(line.substring(colon + 1).strip());
        }
        return fields;
    }

    private String line() throws IOException {
        if (++headLines > MOST_LINES) {
            throw new IOException("the response has more than " + MOST_LINES + " headers");
        }
        var line = new StringBuilder();
        for (int c = next(); c != '\n'; c = next()) {
            if (++headBytes > LONGEST_HEAD) {
                throw new IOException("the headers of the response have more than " + LONGEST_HEAD + " bytes");
            }
            line.append((char) c);
        }
        int end = line.length();
        return line.substring(0, end > 0 && line.charAt(end - 1) == '\r' ? end - 1 : end);
    }

    private int next() throws IOException {
        int c = in.read();
        if (c < 0) {
            throw new EOFException("the server closed the connection before the response was complete");
        }
        return c;
    }

    /**
     * Reads the decoded body. Above the limit it returns one byte more than allowed, so that the caller notices.
     *
     * @param longest most bytes after decoding
     */
    byte[] readBody(ResponseHead head, String method, int longest) throws IOException {
        if (method.equals("HEAD") || head.status() == 204 || head.status() == 304) {
            return new byte[0];
        }
        String coding = head.singleValue("Content-Encoding");
        InputStream framed = bodyStream(head);
        boolean packed = coding.equals("gzip") || coding.equals("x-gzip");
        if (!packed && !coding.isEmpty() && !coding.equals("identity")) {
            throw new UnsupportedEncoding();
        }
        try (InputStream plain = packed ? new GZIPInputStream(framed) : framed) {
            return plain.readNBytes(longest + 1);
        }
    }

    private InputStream bodyStream(ResponseHead head) throws IOException {
        String transfer = head.singleValue("Transfer-Encoding");
        if (transfer.equals("chunked")) {
            return new ChunkedBody();
        }
        if (!transfer.isEmpty()) {
            throw new IOException("the response body has an unsupported transfer encoding");
        }
        String length = head.singleValue("Content-Length");
        if (length.isEmpty()) {
            return in; // until the connection is closed
        }
        if (!length.matches("[0-9]{1,18}")) {
            throw new IOException("the Content-Length of the response is not a number");
        }
        return new FixedLengthBody(Long.parseLong(length));
    }

    /** A body with Content-Length; an early end is an error, since a truncated response may mislead. */
    private final class FixedLengthBody extends InputStream {
        private long left;

        FixedLengthBody(long left) {
            this.left = left;
        }

        @Override
        public int read() throws IOException {
            if (left == 0) {
                return -1;
            }
            left--;
            return next();
        }

        @Override
        public int read(byte[] into, int from, int most) throws IOException {
            if (left == 0 || most == 0) {
                return most == 0 ? 0 : -1;
            }
            int count = in.read(into, from, (int) Math.min(most, left));
            if (count < 0) {
                throw new EOFException("the server closed the connection before the response was complete");
            }
            left -= count;
            return count;
        }
    }

    private final class ChunkedBody extends InputStream {
        private FixedLengthBody chunk = new FixedLengthBody(0);
        private boolean begun;
        private boolean ended;

        @Override
        public int read() throws IOException {
            return readChunkHeader() ? chunk.read() : -1;
        }

        @Override
        public int read(byte[] into, int from, int most) throws IOException {
            if (most == 0) {
                return 0;
            }
            return readChunkHeader() ? chunk.read(into, from, most) : -1;
        }

        private boolean readChunkHeader() throws IOException {
            if (ended || chunk.left > 0) {
                return !ended;
            }
            headBytes = 0;
            headLines = 0;
            if (begun && !line().isEmpty()) {
                throw new IOException("a chunk of the response is longer than its stated size");
            }
            begun = true;
            String size = line().split(";", 2)[0].strip();
            if (!size.matches("[0-9a-fA-F]{1,15}")) {
                throw new IOException("a chunk size of the response is not a number");
            }
            chunk = new FixedLengthBody(Long.parseLong(size, 16));
            ended = chunk.left == 0;
            if (ended) {
                fields();
            }
            return !ended;
        }
    }
}
