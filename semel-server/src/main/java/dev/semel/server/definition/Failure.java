package dev.semel.server.definition;

/**
 * An expression could not give a value. The message completes "because …" and names paths, types and functions of the
 * workflow file, never a value. Without a stack trace: it is an answer about data, and data can be wrong often.
 */
final class Failure extends RuntimeException {
    Failure(String because) {
        super(because, null, false, false);
    }

    String because() {
        return String.valueOf(getMessage());
    }
}
