package dev.semel.server.http.transport;

import dev.semel.error.ErrorCode;
import dev.semel.error.SemelException;

/** The errors that the HTTP server returns before any handler runs. */
final class InboundRequestErrorFactory {
    private InboundRequestErrorFactory() {}

    static SemelException hostNotAllowed() {
        return new SemelException(
                ErrorCode.HOST_NOT_ALLOWED,
                "The Host header does not name this machine, and `semel dev` serves only this machine. Nothing was read"
                        + " or changed.",
                "Use localhost, 127.0.0.1 or [::1] in the URL. To serve other hosts, use `semel serve`.");
    }

    static SemelException notFound() {
        return new SemelException(
                ErrorCode.NOT_FOUND,
                "The server has no resource at this address. Nothing was changed.",
                "Check the spelling; addresses are case-sensitive and have no slash at the end.");
    }

    static SemelException methodNotAllowed(String method, String allow) {
        return new SemelException(
                ErrorCode.METHOD_NOT_ALLOWED,
                "Method " + method + " is not supported at this address. Nothing was changed.",
                "Use one of: " + allow + ".");
    }

    static SemelException bodyTooLarge(long limit) {
        return new SemelException(
                        ErrorCode.PAYLOAD_TOO_LARGE,
                        "The body is larger than " + limit
                                + " bytes. The server did not process the request; the key is still unused.",
                        "Send a smaller body, or store the data elsewhere and send its URL.")
                .with("limit", limit);
    }

    static SemelException encodedBody() {
        return new SemelException(
                ErrorCode.UNSUPPORTED_MEDIA_TYPE,
                "The body has a Content-Encoding. The server did not process the request; the key is still unused.",
                "Send the body without compression.");
    }

    static SemelException bodyMemoryFull() {
        return new SemelException(
                ErrorCode.OVERLOADED,
                "Other requests use all the memory that this server reserves for request bodies. The server did not"
                        + " process this request.",
                "Send the request again in a moment, with the same Idempotency-Key.");
    }

    static SemelException overloaded(String who, int limit) {
        return new SemelException(
                ErrorCode.OVERLOADED,
                who + " has " + limit + " requests in progress. The server did not process this one.",
                "Send the same request again in a moment.");
    }

    static SemelException shuttingDown() {
        return new SemelException(
                ErrorCode.SHUTTING_DOWN,
                "The server is shutting down. It did not process the request.",
                "Send the same request again in a moment.");
    }

    /** Hides the cause of an unexpected error, because exception texts can contain payloads, paths and SQL. */
    static SemelException internal() {
        return new SemelException(
                ErrorCode.INTERNAL,
                "An unexpected error happened. The server does not know how far it processed the request.",
                "Send the same request again with the same Idempotency-Key. This is always safe."
                        + " If the error persists, give your operator the instance id.");
    }
}
