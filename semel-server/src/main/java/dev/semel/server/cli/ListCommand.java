package dev.semel.server.cli;

import java.time.Instant;
import java.util.concurrent.Callable;
import picocli.CommandLine.Mixin;
import tools.jackson.databind.JsonNode;

/**
 * Base of all list commands: fetches one page and prints it as JSON or as a table. Below the table it shows how to see
 * more, or how to fill an empty list. A subclass provides its {@link ListDefinition}.
 */
abstract class ListCommand implements Callable<Integer> {
    final CommandEnvironment environment;

    @Mixin
    final CommandOutput output;

    @Mixin
    final ServerConnectionOptions connection;

    @Mixin
    final PagingOptions listing = new PagingOptions();

    ListCommand(CommandEnvironment environment) {
        this.environment = environment;
        this.output = new CommandOutput(environment);
        this.connection = new ServerConnectionOptions(environment);
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
        ListDefinition sheet = listDefinition();
        ApiResponse answer = connection.api().send(listing.addPaging(sheet.call()).withQuery("q", query()));
        if (output.json) {
            output.printJson(answer.body());
            return ExitCode.OK;
        }
        JsonNode items = answer.body().path("items");
        if (!items.isEmpty()) {
            Instant now = answer.date().orElse(environment.clock().instant());
            sheet.toTable(items, output, now).print(output);
            String next = nextCommand(items.get(0));
            if (!next.isEmpty()) {
                output.suggestCommand(next);
            }
        }
        PagingOptions.printFooter(output, answer.body(), sheet.nextPageCommand(), sheet.emptyMessage());
        return ExitCode.OK;
    }
}
