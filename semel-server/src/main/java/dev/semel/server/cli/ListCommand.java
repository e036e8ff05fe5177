package dev.semel.server.cli;

import java.time.Instant;
import java.util.concurrent.Callable;
import picocli.CommandLine.Mixin;
import tools.jackson.databind.JsonNode;

/**
 * The frame of every list: a page is asked for, shown as one JSON document or as a table, and behind it stands how to
 * see more, or how to fill an empty one. A command declares its {@link Sheet}.
 */
abstract class ListCommand implements Callable<Integer> {
    final Surroundings around;

    @Mixin
    final Output output;

    @Mixin
    final Connection connection;

    @Mixin
    final Listing listing = new Listing();

    ListCommand(Surroundings around) {
        this.around = around;
        this.output = new Output(around);
        this.connection = new Connection(around);
    }

    abstract Sheet sheet();

    /** What rows must fit; empty for all. */
    String query() {
        return "";
    }

    /** A command that tells more of the first row; empty for none. */
    String next(JsonNode first) {
        return "";
    }

    @Override
    public Integer call() {
        Sheet sheet = sheet();
        Answer answer = connection.api().ask(listing.page(sheet.call()).where("q", query()));
        if (output.json) {
            output.document(answer.body());
            return Exit.DONE;
        }
        JsonNode items = answer.body().path("items");
        if (!items.isEmpty()) {
            Instant now = answer.date().orElse(around.clock().instant());
            sheet.table(items, output, now).print(output);
            String next = next(items.get(0));
            if (!next.isEmpty()) {
                output.next(next);
            }
        }
        Listing.end(output, answer.body(), sheet.again(), sheet.whenEmpty());
        return Exit.DONE;
    }
}
