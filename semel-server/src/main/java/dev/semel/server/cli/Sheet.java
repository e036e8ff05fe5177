package dev.semel.server.cli;

import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;
import tools.jackson.databind.JsonNode;

/**
 * What a list is: where its rows are, what stands in each column, and what is said at its end.
 *
 * @param call where its rows are, without the page
 * @param again the command, without `semel`, that goes on behind this page
 * @param whenEmpty what is said where there is no row: how to get one
 */
record Sheet(Call call, String again, String whenEmpty, List<Column> columns) {
    record Column(String heading, Cell cell) {}

    /** What stands in a column of one row. */
    @FunctionalInterface
    interface Cell {
        String of(JsonNode item, Output output, Instant now);
    }

    static Sheet of(Call call, String again, String whenEmpty) {
        return new Sheet(call, again, whenEmpty, List.of());
    }

    /** The text of a member. */
    Sheet text(String heading, String member) {
        return cell(heading, item -> Json.text(item, member));
    }

    /** A moment, seen from now. */
    Sheet time(String heading, String member) {
        return with(heading, (item, output, now) -> Listing.when(output, item, member, now));
    }

    /** Whatever this makes of the row. */
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
