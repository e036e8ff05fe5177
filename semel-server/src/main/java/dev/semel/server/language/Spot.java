package dev.semel.server.language;

/**
 * Where something stands in a workflow file: an offset in code points, how far it reaches, and its JSON Pointer. Line
 * and column are worked out only when somebody has to be told.
 */
public record Spot(int start, int end, String pointer) {
    public Spot {
        if (start < 0 || end < start) {
            throw new IllegalArgumentException("a spot must not end before it starts");
        }
    }

    /** The same member, but only these code points of it. */
    public Spot narrowed(int from, int to) {
        return new Spot(from, Math.max(from, to), pointer);
    }
}
