package dev.semel.server.http.transport;

import dev.semel.error.ErrorCode;
import dev.semel.error.SemelException;
import org.jspecify.annotations.Nullable;

/** The syntax errors of an HTTP request. Their texts are fixed, so that a response never echoes request bytes. */
enum HttpRequestSyntaxError {
    LINE_END("A line does not end with CR LF"),
    HEAD_TOO_LARGE("The request line or a header is too large, or there are too many headers"),
    REQUEST_LINE("The request line is malformed. Expected: method, one space, path, one space, HTTP/1.1"),
    METHOD("The request method has a lower-case letter. Methods are case-sensitive"),
    VERSION("The server supports only HTTP/1.1"),
    TARGET("The request target must be a path with an optional query"),
    HEADER_NAME("A header line does not begin with a name and a colon"),
    HEADER_VALUE("A header value has a control character"),
    HOST("The request must have exactly one valid Host header"),
    LENGTH("Content-Length must be one header with a plain number"),
    TRANSFER_ENCODING("Transfer-Encoding must be one header with the value chunked, and Content-Length must be absent"),
    CHUNK("A chunk is malformed. Expected: size in hex, CR LF, data, CR LF. Extensions and trailers are not supported"),
    CHUNK_TOO_LARGE("A chunk is larger than the largest allowed body"),
    OTHER("The request is not well-formed HTTP/1.1");

    private final String text;

    HttpRequestSyntaxError(String text) {
        this.text = text;
    }

    String text() {
        return text;
    }

    int status() {
        return this == CHUNK_TOO_LARGE ? 413 : 400;
    }

    /** The fault with this text, or {@link #OTHER}. */
    static HttpRequestSyntaxError forText(@Nullable String text) {
        for (HttpRequestSyntaxError fault : values()) {
            if (fault.text.equals(text)) {
                return fault;
            }
        }
        return OTHER;
    }

    SemelException toException() {
        return new SemelException(
                ErrorCode.INVALID_INPUT,
                text + ". The server did not process the request and closed the connection.",
                "Send an HTTP/1.1 request that follows RFC 9112.");
    }

    /** Thrown for a malformed request. Has no stack trace, because any client can cause it at any rate. */
    static final class MalformedRequestException extends RuntimeException {
        private final HttpRequestSyntaxError fault;

        MalformedRequestException(HttpRequestSyntaxError fault) {
            super(fault.text, null, false, false);
            this.fault = fault;
        }

        HttpRequestSyntaxError fault() {
            return fault;
        }
    }
}
