package dev.semel.server.cli.command;

import java.util.List;
import java.util.function.Function;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import tools.jackson.databind.JsonNode;

/**
 * Base of all list commands: fetches one page and prints it as JSON or as a table. Below the table it shows how to see
 * more, or how to fill an empty list. A subclass provides its {@link CliListDefinition}.
 */
public abstract class CliListCommand extends CliApiCommand {
    @Mixin
    protected final CliPagingOptions listing = new CliPagingOptions();

    /** The `list` command of a resource that needs no options of its own. */
    public static CommandLine create(String description, CliListDefinition definition) {
        return create("list", description, _ -> definition);
    }

    /** A list command without options of its own, for example with the name of what contains the rows. */
    public static CommandLine create(
            String usage, String description, Function<List<String>, CliListDefinition> definition) {
        return toCommandLine(usage, description, new PlainListCommand(definition));
    }

    protected abstract CliListDefinition listDefinition();

    @Override
    public Integer call() {
        CliListDefinition definition = listDefinition();
        CliApiResponse answer = connection.api().send(definition.call(listing));
        return output.print(answer.body(), () -> {
            JsonNode items = answer.body().path("items");
            if (!items.isEmpty()) {
                definition.toTable(items, output, now(answer)).print(output);
                String next = definition.nextCommand(items.get(0));
                if (!next.isEmpty()) {
                    output.suggestCommand(next);
                }
            }
            definition.printFooter(output, answer.body());
            printRemarks(answer.body());
        });
    }

    /** Prints remarks about the whole list to stderr. */
    protected void printRemarks(JsonNode list) {}

    @Command
    private static final class PlainListCommand extends CliListCommand {
        private final Function<List<String>, CliListDefinition> definition;

        PlainListCommand(Function<List<String>, CliListDefinition> definition) {
            this.definition = definition;
        }

        @Override
        protected CliListDefinition listDefinition() {
            return definition.apply(arguments());
        }
    }
}
