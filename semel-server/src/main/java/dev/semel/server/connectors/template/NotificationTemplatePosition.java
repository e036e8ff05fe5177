package dev.semel.server.connectors.template;

/** A position in a template part. Lines and columns start at 1; columns count code points. */
record NotificationTemplatePosition(NotificationTemplatePart part, int line, int column) {
    @Override
    public String toString() {
        return "%s, line %d, column %d".formatted(part.memberName(), line, column);
    }

    /** Converts text offsets to line and column while reading forward. */
    static final class PositionTracker {
        private final NotificationTemplatePart part;
        private final String text;
        private int positionOf;
        private int line = 1;
        private int column = 1;

        PositionTracker(NotificationTemplatePart part, String text) {
            this.part = part;
            this.text = text;
        }

        NotificationTemplatePosition positionOf(int offset) {
            if (offset < positionOf) {
                positionOf = 0;
                line = 1;
                column = 1;
            }
            while (positionOf < offset) {
                char c = text.charAt(positionOf++);
                boolean crlf = c == '\r' && positionOf < text.length() && text.charAt(positionOf) == '\n';
                if (c == '\n' || (c == '\r' && !crlf)) {
                    line++;
                    column = 1;
                } else if (!Character.isLowSurrogate(c)) {
                    column++;
                }
            }
            return new NotificationTemplatePosition(part, line, column);
        }
    }
}
