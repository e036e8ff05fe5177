package dev.semel.server.cli;

import java.time.Instant;
import java.util.concurrent.Callable;
import picocli.CommandLine.Mixin;
import tools.jackson.databind.JsonNode;

/**
 * Base of all list commands: fetches one page and prints it as JSON or as a table. Below the table it shows how to see
 * more, or how to fill an empty list. A subclass provides its {@link Sheet}.
 */
abstract class ListCommand implements Callable<Integer> {
    final Surroundings environment;

    @Mixin
    final Output output;

    @Mixin
    final Connection connection;

    @Mixin
    final Listing listing = new Listing();

    ListCommand(Surroundings environment) {
        this.environment = environment;
        this.output = new Output(environment);
        this.connection = new Connection(environment);
    }

    abstract Sheet sheet();

    /** Filter of the rows; empty for all. */
    String query() {
        return "";
    }

    /** A command that shows details of the first row; empty for none. */
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
            Instant now = answer.date().orElse(environment.clock().instant());
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
