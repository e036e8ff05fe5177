package dev.semel.server.channel;

/** A position in a template part. Lines and columns start at 1; columns count code points. */
record Place(Part part, int line, int column) {
    @Override
    public String toString() {
        return "%s, line %d, column %d".formatted(part.word(), line, column);
    }

    /** Converts text offsets to line and column while reading forward. */
    static final class Cursor {
        private final Part part;
        private final String text;
        private int at;
        private int line = 1;
        private int column = 1;

        Cursor(Part part, String text) {
            this.part = part;
            this.text = text;
        }

        Place at(int offset) {
            if (offset < at) {
                at = 0;
                line = 1;
                column = 1;
            }
            while (at < offset) {
                char c = text.charAt(at++);
                boolean crlf = c == '\r' && at < text.length() && text.charAt(at) == '\n';
                if (c == '\n' || (c == '\r' && !crlf)) {
                    line++;
                    column = 1;
                } else if (!Character.isLowSurrogate(c)) {
                    column++;
                }
            }
            return new Place(part, line, column);
        }
    }
}
