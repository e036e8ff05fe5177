package dev.semel.server.cli;

import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;
import tools.jackson.databind.JsonNode;

/**
 * Defines a list: its API call, its columns, and the texts for the next page and for an empty list.
 *
 * @param call API call without paging
 * @param again the command, without `semel`, that shows the next page
 * @param whenEmpty text for an empty list: how to create a row
 */
record Sheet(Call call, String again, String whenEmpty, List<Column> columns) {
    record Column(String heading, Cell cell) {}

    /** Formats the cell of one row. */
    @FunctionalInterface
    interface Cell {
        String of(JsonNode item, Output output, Instant now);
    }

    static Sheet of(Call call, String again, String whenEmpty) {
        return new Sheet(call, again, whenEmpty, List.of());
    }

    /** Adds a column with the text of a member. */
    Sheet text(String heading, String member) {
        return cell(heading, item -> Json.text(item, member));
    }

    /** Adds a column with a time relative to now. */
    Sheet time(String heading, String member) {
        return with(heading, (item, output, now) -> Listing.when(output, item, member, now));
    }

    /** Adds a column with a computed text. */
    Sheet cell(String heading, Function<JsonNode, String> text) {
        return with(heading, (item, _, _) -> text.apply(item));
    }

    private Sheet with(String heading, Cell cell) {
        List<Column> more = new ArrayList<>(columns);
        more.add(new Column(heading, cell));
        return new Sheet(call, again, whenEmpty, List.copyOf(more));
    }

    Table table(JsonNode items, Output output, Instant now) {
        Table table = new Table(columns.stream().map(Column::heading).toArray(String[]::new));
        for (JsonNode item : items) {
            table.row(columns.stream()
                    .map(column -> column.cell().of(item, output, now))
                    .toArray(String[]::new));
        }
        return table;
    }
}
