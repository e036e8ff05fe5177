package dev.semel.server.cli;

import java.time.Instant;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;
import tools.jackson.databind.JsonNode;

/** Paging options of every list command, and the footer below a list. */
final class Listing {
    @Option(names = "--limit", paramLabel = "N", description = "Maximum number of rows. Default: 50.")
    int limit = 50;

    @Option(names = "--after", paramLabel = "CURSOR", description = "Continue after this cursor.")
    String after = "";

    Call page(Call call) {
        return call.where("limit", Integer.toString(limit)).where("after", after);
    }

    /** Prints how to see more, or how to fill an empty list. */
    static void end(Output output, JsonNode list, String command, String whenEmpty) {
        String next = Json.text(list, "next");
        if (!next.isEmpty()) {
            output.talk("more: semel " + command + " --after " + Shell.word(next));
        } else if (list.path("items").isEmpty()) {
            output.talk(whenEmpty);
        }
    }

    /** The count in the first of these members that exists. */
    static long count(JsonNode node, String... names) {
        for (String name : names) {
            if (node.path(name).isIntegralNumber()) {
                return node.path(name).asLong();
            }
        }
        return 0;
    }

    static String when(Output output, JsonNode node, String member, Instant now) {
        @Nullable Instant moment = Json.instant(node, member);
        return moment == null ? "" : output.when(moment, now);
    }
}
