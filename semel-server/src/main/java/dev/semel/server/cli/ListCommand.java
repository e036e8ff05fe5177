package dev.semel.server.cli;

import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import tools.jackson.databind.JsonNode;

/**
 * Base of all list commands: fetches one page and prints it as JSON or as a table. Below the table it shows how to see
 * more, or how to fill an empty list. A subclass provides its {@link ListDefinition}.
 */
abstract class ListCommand extends ApiCommand {
    @Mixin
    final PagingOptions listing = new PagingOptions();

    ListCommand(CommandEnvironment environment) {
        super(environment);
    }

    /** The `list` command of a resource that needs no options of its own. */
    static CommandLine create(CommandEnvironment environment, String description, ListDefinition definition) {
        CommandLine command = new CommandLine(new PlainListCommand(environment, definition));
        command.getCommandSpec().usageMessage().description(description);
        return command;
    }

    abstract ListDefinition listDefinition();

    /** Filter of the rows; empty for all. */
    String query() {
        return "";
    }

    /** A command that shows details of the first row; empty for none. */
    String nextCommand(JsonNode first) {
        return "";
    }

    @Override
    public Integer call() {
        ListDefinition definition = listDefinition();
        ApiResponse answer =
                connection.api().send(listing.addPaging(definition.call()).withQuery("q", query()));
        if (output.json) {
            return printJson(answer.body());
        }
        JsonNode items = answer.body().path("items");
        if (!items.isEmpty()) {
            definition.toTable(items, output, now(answer)).print(output);
            String next = nextCommand(items.get(0));
            if (!next.isEmpty()) {
                output.suggestCommand(next);
            }
        }
        PagingOptions.printFooter(output, answer.body(), definition.nextPageCommand(), definition.emptyMessage());
        printRemarks(answer.body());
        return ExitCode.OK;
    }

    /** Prints remarks about the whole list to stderr. */
    void printRemarks(JsonNode list) {}

    @Command(name = "list")
    private static final class PlainListCommand extends ListCommand {
        private final ListDefinition definition;

        PlainListCommand(CommandEnvironment environment, ListDefinition definition) {
            super(environment);
            this.definition = definition;
        }

        @Override
        ListDefinition listDefinition() {
            return definition;
        }
    }
}
