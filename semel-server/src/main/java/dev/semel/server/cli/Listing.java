package dev.semel.server.cli;

import java.time.Instant;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;
import tools.jackson.databind.JsonNode;

/** Paging options of every list, and what a list's end says. */
final class Listing {
    @Option(names = "--limit", paramLabel = "N", description = "At most so many, 50 unless told.")
    int limit = 50;

    @Option(names = "--after", paramLabel = "CURSOR", description = "Go on where the last page ended.")
    String after = "";

    Call page(Call call) {
        return call.where("limit", Integer.toString(limit)).where("after", after);
    }

    /** Says how to see more, or how to fill an empty list. */
    static void end(Output output, JsonNode list, String command, String whenEmpty) {
        String next = Json.text(list, "next");
        if (!next.isEmpty()) {
            output.talk("more: semel " + command + " --after " + Shell.word(next));
        } else if (list.path("items").isEmpty()) {
            output.talk(whenEmpty);
        }
    }

    /** The count under the first of these names that is there. */
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
