package dev.semel.server.http;

import dev.semel.error.ErrorCode;
import dev.semel.error.SemelException;
import org.jspecify.annotations.Nullable;

/** The syntax errors of an HTTP request. Their texts are fixed, so that a response never echoes request bytes. */
enum RequestSyntaxFault {
    LINE_END("A line does not end with CR LF"),
    HEAD_TOO_LARGE("The request line or the headers are too large, or there are too many of them"),
    REQUEST_LINE("The request line is not: method, one space, path, one space, HTTP/1.1"),
    VERSION("The server supports only HTTP/1.1"),
    TARGET("The request target is not a path with an optional query"),
    HEADER_NAME("A header line does not begin with a name and a colon"),
    HEADER_VALUE("A header value has a control character"),
    HOST("There is not exactly one valid Host header"),
    LENGTH("Content-Length is not one plain number"),
    TRANSFER_ENCODING(
            "Transfer-Encoding is not exactly one header with the value chunked, or Content-Length is also present"),
    CHUNK("A chunk is not: size in hex, CR LF, data, CR LF; extensions and trailers are not supported"),
    CHUNK_TOO_LARGE("A chunk is larger than the largest allowed body"),
    OTHER("The request is not well-formed HTTP/1.1");

    private final String text;

    RequestSyntaxFault(String text) {
        this.text = text;
    }

    String text() {
        return text;
    }

    int status() {
        return this == CHUNK_TOO_LARGE ? 413 : 400;
    }

    /** The fault with this text, or {@link #OTHER}. */
    static RequestSyntaxFault forText(@Nullable String text) {
        for (RequestSyntaxFault fault : values()) {
            if (fault.text.equals(text)) {
                return fault;
            }
        }
        return OTHER;
    }

    SemelException toException() {
        return new SemelException(
                ErrorCode.INVALID_INPUT,
                text + ". The server closed the connection and did nothing.",
                "Send HTTP/1.1 that follows RFC 9112.");
    }

    /** Thrown for a malformed request. Has no stack trace, because any client can cause it at any rate. */
    static final class MalformedRequestException extends RuntimeException {
        private final RequestSyntaxFault fault;

        MalformedRequestException(RequestSyntaxFault fault) {
            super(fault.text, null, false, false);
            this.fault = fault;
        }

        RequestSyntaxFault fault() {
            return fault;
        }
    }
}
