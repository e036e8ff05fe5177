package dev.semel.server.cli;

import java.time.Instant;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import tools.jackson.databind.JsonNode;

/** `semel keys`: lists idempotency keys with their runs. */
@Command(
        name = "keys",
        description = "Lists keys in alphabetical order, each with its run.",
        footerHeading = "%nExamples:%n",
        footer = {"  semel keys evt_", "  semel keys --workflow payment_receipt"})
final class KeysCommand implements Callable<Integer> {
    private final Surroundings environment;

    @Mixin
    final Output output;

    @Mixin
    final Connection connection;

    @Mixin
    final Listing listing = new Listing();

    @Parameters(paramLabel = "PREFIX", arity = "0..1", description = "Only keys that begin with this.")
    String prefix = "";

    @Option(names = "--workflow", paramLabel = "W", description = "Only keys of this workflow.")
    String workflow = "";

    KeysCommand(Surroundings environment) {
        this.environment = environment;
        this.output = new Output(environment);
        this.connection = new Connection(environment);
    }

    @Override
    public Integer call() {
        Call call = Call.get(Call.path("v1", "keys")).where("prefix", prefix).where("workflow", workflow);
        Answer answer = connection.api().ask(listing.page(call));
        if (output.json) {
            output.document(answer.body());
            return Exit.DONE;
        }
        Instant now = answer.date().orElse(environment.clock().instant());
        JsonNode items = answer.body().path("items");
        Table table = new Table("KEY", "STATUS", "WORKFLOW", "RUN", "RUN STATUS", "REPLAYED", "CONFLICTS", "FIRST SEEN");
        for (JsonNode key : items) {
            table.row(
                    Json.text(key, "idempotency_key"),
                    Json.text(key, "status"),
                    Json.text(key, "operation_name"),
                    Json.text(key, "run_id"),
                    Json.text(key, "run_status"),
                    Json.text(key, "replays"),
                    Json.text(key, "conflicts"),
                    Listing.when(output, key, "created_at", now));
        }
        if (!items.isEmpty()) {
            table.print(output);
            output.next("semel key " + Shell.word(Json.text(items.get(0), "idempotency_key")));
        }
        String command = "keys" + (prefix.isEmpty() ? "" : " " + Shell.word(prefix))
                + (workflow.isEmpty() ? "" : " --workflow " + Shell.word(workflow));
        Listing.end(output, answer.body(), command, "no key matches. See the requests: semel requests");
        return Exit.DONE;
    }
}
