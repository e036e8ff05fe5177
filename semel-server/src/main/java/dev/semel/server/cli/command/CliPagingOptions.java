package dev.semel.server.cli.command;

import picocli.CommandLine.Option;
import tools.jackson.databind.JsonNode;

public final class CliPagingOptions {
    @Option(names = "--limit", paramLabel = "N", description = "Maximum number of rows. Default: 50.")
    public int limit = 50;

    @Option(
            names = "--after",
            paramLabel = "CURSOR",
            description = "Continue after this cursor, which the previous page printed.")
    public String after = "";

    public CliApiRequest addPaging(CliApiRequest call) {
        return call.withQuery("limit", Integer.toString(limit)).withQuery("after", after);
    }

    /** Prints how to see more, or how to fill an empty list. */
    public static void printFooter(CliCommandOutput output, JsonNode list, String command, String whenEmpty) {
        String next = TerminalJsonFormatter.text(list, "next");
        if (!next.isEmpty()) {
            output.printMessage("more: semel " + command + " --after " + ShellQuoting.quote(next));
        } else if (list.path("items").isEmpty()) {
            output.printMessage(whenEmpty);
        }
    }

    /** The count in the first of these members that exists. */
    public static long firstCount(JsonNode node, String... names) {
        for (String name : names) {
            if (node.path(name).isIntegralNumber()) {
                return node.path(name).asLong();
            }
        }
        return 0;
    }
}
