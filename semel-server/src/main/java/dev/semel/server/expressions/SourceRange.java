package dev.semel.server.expressions;

/**
 * A range in a workflow file: start and end offset in code points, and the JSON Pointer of the value.
 *
 * <p>Line and column are computed only for messages.
 */
public record SourceRange(int start, int end, String pointer) {
    public SourceRange {
        if (start < 0 || end < start) {
            throw new IllegalArgumentException("a source range must not end before it starts");
        }
    }

    /** The same value, limited to these code points. */
    public SourceRange narrow(int from, int to) {
        return new SourceRange(from, Math.max(from, to), pointer);
    }
}
