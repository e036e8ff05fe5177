package dev.semel.server.files.expressions;

/**
 * Thrown when an expression cannot be evaluated.
 *
 * <p>The message completes "because …" and names paths, types and functions of the workflow file, never a value. It has
 * no stack trace, because wrong data is a frequent cause.
 */
public final class ExpressionEvaluationException extends RuntimeException {
    public ExpressionEvaluationException(String because) {
        super(because, null, false, false);
    }

    public String reason() {
        return String.valueOf(getMessage());
    }
}
