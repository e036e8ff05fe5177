package dev.semel.server.files.yaml;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

/** The text of a workflow file, with lines and columns counted from 1 for messages. */
public final class YamlSourceText {
    /** Longer lines, usually generated, are cut around the caret. */
    private static final int SHOWN_COLUMNS = 110;

    private final int[] points;
    private final List<Integer> lineStarts = new ArrayList<>(List.of(0));

    public YamlSourceText(String text) {
        points = text.codePoints().toArray();
        for (int i = 0; i < points.length; i++) {
            boolean crlf = points[i] == '\r' && i + 1 < points.length && points[i + 1] == '\n';
            if (points[i] == '\n' || (points[i] == '\r' && !crlf)) {
                lineStarts.add(i + 1);
            }
        }
    }

    public int length() {
        return points.length;
    }

    public int line(int offset) {
        int found = Collections.binarySearch(lineStarts, Math.min(offset, points.length));
        return found >= 0 ? found + 1 : -found - 1;
    }

    public int column(int offset) {
        return Math.min(offset, points.length) - lineStarts.get(line(offset) - 1) + 1;
    }

    public String substring(int start, int end) {
        int from = Math.min(start, points.length);
        return new String(points, from, Math.min(end, points.length) - from);
    }

    /** The offending line and the one above it, with carets below, as a compiler shows them. */
    public String excerpt(YamlSourceRange spot, String note) {
        int line = line(spot.start());
        int width = Math.max(2, Integer.toString(line).length());
        int cut = Math.max(0, column(spot.start()) - SHOWN_COLUMNS + 20);
        var text = new StringBuilder();
        if (line > 1) {
            text.append(("%" + (width + 2) + "d | %s\n").formatted(line - 1, shown(line - 1, cut)));
        }
        text.append(("%" + (width + 2) + "d | %s\n").formatted(line, shown(line, cut)));
        int lineEnd = lineStarts.get(line - 1)
                + lineText(line).codePointCount(0, lineText(line).length());
        int carets = Math.clamp((long) Math.min(spot.end(), lineEnd) - spot.start(), 1, SHOWN_COLUMNS);
        text.append(" ".repeat(width + 2)).append(" | ").append(" ".repeat(column(spot.start()) - 1 - cut));
        return text.append("^".repeat(carets)).append(' ').append(note).toString();
    }

    private String shown(int line, int cut) {
        int[] visible =
                lineText(line).codePoints().skip(cut).limit(SHOWN_COLUMNS).toArray();
        for (int i = 0; i < visible.length; i++) {
            // A tab or a control character would move the caret away from what it points at.
            visible[i] = Character.isISOControl(visible[i]) ? ' ' : visible[i];
        }
        return new String(visible, 0, visible.length).stripTrailing();
    }

    private String lineText(int line) {
        int end = line < lineStarts.size() ? lineStarts.get(line) : points.length;
        return substring(lineStarts.get(line - 1), end).stripTrailing();
    }
}
