package dev.semel.server.language;

/**
 * A range in a workflow file: start and end offset in code points, and the JSON Pointer of the value.
 *
 * <p>Line and column are computed only for messages.
 */
public record Spot(int start, int end, String pointer) {
    public Spot {
        if (start < 0 || end < start) {
            throw new IllegalArgumentException("a source range must not end before it starts");
        }
    }

    /** The same value, limited to these code points. */
    public Spot narrowed(int from, int to) {
        return new Spot(from, Math.max(from, to), pointer);
    }
}
