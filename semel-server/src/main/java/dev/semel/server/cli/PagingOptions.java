package dev.semel.server.cli;

import java.time.Instant;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;
import tools.jackson.databind.JsonNode;

/** Paging options of every list command, and the footer below a list. */
final class PagingOptions {
    @Option(names = "--limit", paramLabel = "N", description = "Maximum number of rows. Default: 50.")
    int limit = 50;

    @Option(names = "--after", paramLabel = "CURSOR", description = "Continue after this cursor.")
    String after = "";

    ApiRequest addPaging(ApiRequest call) {
        return call.withQuery("limit", Integer.toString(limit)).withQuery("after", after);
    }

    /** Prints how to see more, or how to fill an empty list. */
    static void printFooter(CommandOutput output, JsonNode list, String command, String whenEmpty) {
        String next = TerminalJson.text(list, "next");
        if (!next.isEmpty()) {
            output.printMessage("more: semel " + command + " --after " + ShellQuoting.quote(next));
        } else if (list.path("items").isEmpty()) {
            output.printMessage(whenEmpty);
        }
    }

    /** The count in the first of these members that exists. */
    static long firstCount(JsonNode node, String... names) {
        for (String name : names) {
            if (node.path(name).isIntegralNumber()) {
                return node.path(name).asLong();
            }
        }
        return 0;
    }

    static String formatTime(CommandOutput output, JsonNode node, String member, Instant now) {
        @Nullable Instant moment = TerminalJson.instant(node, member);
        return moment == null ? "" : output.formatTime(moment, now);
    }
}
