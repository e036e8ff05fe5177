package dev.semel.server.http;

import dev.semel.error.ErrorCode;
import dev.semel.error.SemelException;

/** The refusals of the door itself. Each says that nothing was done, because nothing was. */
final class Refusals {
    private Refusals() {}

    static SemelException notFound() {
        return new SemelException(
                ErrorCode.NOT_FOUND,
                "There is nothing at this address. Nothing was done.",
                "Check the spelling; addresses are case-sensitive and have no slash at the end.");
    }

    static SemelException notAllowed(String method, String allow) {
        return new SemelException(
                ErrorCode.METHOD_NOT_ALLOWED,
                "Method " + method + " is not offered at this address. Nothing was done.",
                "Use one of: " + allow + ".");
    }

    static SemelException tooLarge(long limit) {
        return new SemelException(
                        ErrorCode.PAYLOAD_TOO_LARGE,
                        "The body is larger than " + limit + " bytes. Nothing was done; the key is free.",
                        "Send less, or put the data elsewhere and send its address.")
                .with("limit", limit);
    }

    static SemelException encoded() {
        return new SemelException(
                ErrorCode.UNSUPPORTED_MEDIA_TYPE,
                "The body has a Content-Encoding. It was not read, nothing was done; the key is free.",
                "Send the body as it is, without compression.");
    }

    static SemelException bodiesInWork() {
        return new SemelException(
                ErrorCode.OVERLOADED,
                "The bodies of other requests fill the room that this server has for them. Nothing was read or"
                        + " started.",
                "Send it again in a moment, with the same Idempotency-Key.");
    }

    static SemelException overloaded(int limit) {
        return new SemelException(
                ErrorCode.OVERLOADED,
                "The server has " + limit + " requests in work already. This one was not looked at.",
                "Send the same request again in a moment.");
    }

    static SemelException shuttingDown() {
        return new SemelException(
                ErrorCode.SHUTTING_DOWN,
                "The server is shutting down. The request was not looked at.",
                "Send the same request again in a moment.");
    }

    /** An unexpected error says nothing of its cause: exception texts carry payloads, paths and SQL. */
    static SemelException internal() {
        return new SemelException(
                ErrorCode.INTERNAL,
                "Something unexpected happened, and it is not known how far the request got.",
                "Send the same request again with the same Idempotency-Key; that is always safe."
                        + " If it stays, give your operator the instance id.");
    }
}
