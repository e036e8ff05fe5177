package dev.semel.server.files.yaml;

/** Start and end offset in code points. Line and column are computed only for messages. */
public record YamlSourceRange(int start, int end, String pointer) {
    public YamlSourceRange {
        if (start < 0 || end < start) {
            throw new IllegalArgumentException("a source range must not end before it starts");
        }
    }

    /** The same value, limited to these code points. */
    public YamlSourceRange narrow(int from, int to) {
        return new YamlSourceRange(from, Math.max(from, to), pointer);
    }
}
