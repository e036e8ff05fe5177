package dev.semel.server.cli.command;

import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;

/** Prints rows in aligned columns below headings; in plain mode tab-separated without headings. */
public final class TextTable {
    private static final Pattern COLOUR = Pattern.compile("\u001b\\[\\d+m");
    private final List<List<String>> rows = new ArrayList<>();

    public TextTable(String... headings) {
        rows.add(List.of(headings));
    }

    public void addRow(String... cells) {
        rows.add(List.of(cells));
    }

    public void print(CliCommandOutput output) {
        if (output.plain) {
            rows.stream().skip(1).forEach(row -> output.printLine(String.join("\t", row)));
            return;
        }
        dropEmptyColumns();
        int[] widths = new int[rows.getFirst().size()];
        for (List<String> row : rows) {
            for (int i = 0; i < widths.length; i++) {
                widths[i] = Math.max(widths[i], width(row.get(i)));
            }
        }
        for (List<String> row : rows) {
            StringBuilder line = new StringBuilder();
            for (int i = 0; i < widths.length; i++) {
                line.append(row.get(i)).repeat(' ', widths[i] - width(row.get(i)) + 2);
            }
            output.printLine(line.toString().stripTrailing());
        }
    }

    /** Drops columns that have no value in any row. */
    private void dropEmptyColumns() {
        for (int i = rows.getFirst().size() - 1; i >= 0; i--) {
            int column = i;
            if (rows.stream().skip(1).allMatch(row -> row.get(column).isEmpty())) {
                rows.replaceAll(row -> {
                    List<String> rest = new ArrayList<>(row);
                    rest.remove(column);
                    return rest;
                });
            }
        }
    }

    private static int width(String cell) {
        String bare = COLOUR.matcher(cell).replaceAll("");
        return bare.codePointCount(0, bare.length());
    }
}
