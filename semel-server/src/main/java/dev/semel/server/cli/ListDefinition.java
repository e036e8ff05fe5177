package dev.semel.server.cli;

import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;
import java.util.stream.Collectors;
import tools.jackson.databind.JsonNode;

/**
 * Defines a list: its API call, its columns, and the texts for the next page and for an empty list.
 *
 * @param call API call without paging
 * @param nextPageCommand the command, without `semel`, that shows the next page
 * @param emptyMessage text for an empty list: how to create a row
 */
record ListDefinition(ApiRequest call, String nextPageCommand, String emptyMessage, List<Column> columns) {
    record Column(String heading, CellFormatter formatter) {}

    /** Formats the cell of one row. */
    @FunctionalInterface
    interface CellFormatter {
        String format(JsonNode item, CommandOutput output, Instant now);
    }

    static ListDefinition of(ApiRequest call, String again, String whenEmpty) {
        return new ListDefinition(call, again, whenEmpty, List.of());
    }

    /** Adds a column with the text of a member. */
    ListDefinition addText(String heading, String member) {
        return addColumn(heading, item -> TerminalJson.text(item, member));
    }

    /** Adds a column with the texts of an array. */
    ListDefinition addTexts(String heading, String member, String separator) {
        return addColumn(
                heading,
                item -> item.path(member)
                        .valueStream()
                        .map(text -> TerminalJson.sanitize(text.asString("")))
                        .collect(Collectors.joining(separator)));
    }

    /** Adds a column with a time relative to now. */
    ListDefinition addTime(String heading, String member) {
        return addCell(heading, (item, output, now) -> PagingOptions.formatTime(output, item, member, now));
    }

    /** Adds a column with a computed text. */
    ListDefinition addColumn(String heading, Function<JsonNode, String> text) {
        return addCell(heading, (item, _, _) -> text.apply(item));
    }

    /** Adds a column with a text that also depends on the output options or the time. */
    ListDefinition addCell(String heading, CellFormatter cell) {
        List<Column> more = new ArrayList<>(columns);
        more.add(new Column(heading, cell));
        return new ListDefinition(call, nextPageCommand, emptyMessage, List.copyOf(more));
    }

    TextTable toTable(JsonNode items, CommandOutput output, Instant now) {
        TextTable table = new TextTable(columns.stream().map(Column::heading).toArray(String[]::new));
        for (JsonNode item : items) {
            table.addRow(columns.stream()
                    .map(column -> column.formatter().format(item, output, now))
                    .toArray(String[]::new));
        }
        return table;
    }
}
