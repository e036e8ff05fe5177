package dev.semel.server.language;

/**
 * An expression could not give a value. The message completes "because …" and names paths, types and functions of the
 * workflow file, never a value. Without a stack trace: it is an answer about data, and data can be wrong often.
 */
public final class Failure extends RuntimeException {
    public Failure(String because) {
        super(because, null, false, false);
    }

    public String because() {
        return String.valueOf(getMessage());
    }
}
