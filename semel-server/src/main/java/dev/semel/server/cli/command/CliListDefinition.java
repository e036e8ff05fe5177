package dev.semel.server.cli.command;

import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;
import java.util.stream.Collectors;
import tools.jackson.databind.JsonNode;

public final class CliListDefinition {
    private record Column(String heading, CellFormatter formatter) {}

    @FunctionalInterface
    public interface CellFormatter {
        String format(JsonNode item, CliCommandOutput output, Instant now);
    }

    private final CliApiRequest call;
    private final String again;
    private final String whenEmpty;
    private final List<Column> columns = new ArrayList<>();
    private String query = "";
    private Function<JsonNode, String> nextCommand = _ -> "";

    private CliListDefinition(CliApiRequest call, String again, String whenEmpty) {
        this.call = call;
        this.again = again;
        this.whenEmpty = whenEmpty;
    }

    /**
     * @param call API call without paging
     * @param again the command, without `semel`, that shows the next page
     * @param whenEmpty text for an empty list: how to create a row
     */
    public static CliListDefinition of(CliApiRequest call, String again, String whenEmpty) {
        return new CliListDefinition(call, again, whenEmpty);
    }

    /** Only the rows that match these filter terms; all if there are none. */
    public CliListDefinition filter(List<String> terms) {
        query = String.join(" ", terms);
        return this;
    }

    /** Suggests a command about the first row, whose argument is the text of a member. */
    public CliListDefinition suggest(String command, String member) {
        return suggest(item -> command + " " + ShellQuoting.quote(TerminalJsonFormatter.text(item, member)));
    }

    public CliListDefinition suggest(Function<JsonNode, String> command) {
        nextCommand = command;
        return this;
    }

    public CliListDefinition addText(String heading, String member) {
        return addColumn(heading, item -> TerminalJsonFormatter.text(item, member));
    }

    public CliListDefinition addTexts(String heading, String member, String separator) {
        return addColumn(
                heading, item -> TerminalJsonFormatter.texts(item.path(member)).collect(Collectors.joining(separator)));
    }

    /** Adds a column with a time relative to now. */
    public CliListDefinition addTime(String heading, String member) {
        return addCell(heading, (item, output, now) -> output.formatTime(item, member, now));
    }

    public CliListDefinition addColumn(String heading, Function<JsonNode, String> text) {
        return addCell(heading, (item, _, _) -> text.apply(item));
    }

    /** Adds a column with a text that also depends on the output options or the time. */
    public CliListDefinition addCell(String heading, CellFormatter cell) {
        columns.add(new Column(heading, cell));
        return this;
    }

    CliApiRequest call(CliPagingOptions paging) {
        return paging.addPaging(call).withQuery("q", query);
    }

    /** A command that shows details of the first row; empty for none. */
    String nextCommand(JsonNode first) {
        return nextCommand.apply(first);
    }

    public TextTable toTable(JsonNode items, CliCommandOutput output, Instant now) {
        TextTable table = new TextTable(columns.stream().map(Column::heading).toArray(String[]::new));
        for (JsonNode item : items) {
            table.addRow(columns.stream()
                    .map(column -> column.formatter().format(item, output, now))
                    .toArray(String[]::new));
        }
        return table;
    }

    void printFooter(CliCommandOutput output, JsonNode list) {
        CliPagingOptions.printFooter(output, list, again, whenEmpty);
    }
}
