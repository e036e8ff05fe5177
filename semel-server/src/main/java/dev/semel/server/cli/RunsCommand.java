package dev.semel.server.cli;

import java.time.Instant;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import tools.jackson.databind.JsonNode;

@Command(
        name = "runs",
        description = "Lists runs, newest first, with the requests that asked for them.",
        footerHeading = "%nExamples:%n",
        footer = {
            "  semel runs",
            "  semel runs status:failed --limit 10",
            "  semel runs --workflow payment_receipt --json"
        })
final class RunsCommand implements Callable<Integer> {
    private final Surroundings around;

    @Mixin
    final Output output;

    @Mixin
    final Connection connection;

    @Mixin
    final Listing listing = new Listing();

    @Parameters(paramLabel = "QUERY", arity = "0..*", description = "status:S workflow:W key:K replayed:true since:2h.")
    List<String> query = List.of();

    @Option(names = "--workflow", paramLabel = "W", description = "Only runs of this workflow.")
    String workflow = "";

    RunsCommand(Surroundings around) {
        this.around = around;
        this.output = new Output(around);
        this.connection = new Connection(around);
    }

    @Override
    public Integer call() {
        String path = workflow.isEmpty() ? Call.path("v1", "runs") : Call.path("v1", "workflows", workflow, "runs");
        Answer answer = connection.api().ask(listing.page(Call.get(path)).where("q", String.join(" ", query)));
        if (output.json) {
            output.document(answer.body());
            return Exit.DONE;
        }
        JsonNode items = answer.body().path("items");
        if (!items.isEmpty()) {
            table(items, answer.date().orElse(around.clock().instant())).print(output);
            output.next("semel run " + Shell.word(Json.text(items.get(0), "run_id")));
        }
        Listing.end(
                output, answer.body(), "runs", "no runs here. Start one: semel send WORKFLOW --key KEY --data '{}'");
        return Exit.DONE;
    }

    private Table table(JsonNode items, Instant now) {
        Table table = new Table("RUN", "STATUS", "WORKFLOW", "KEY", "REQUESTS", "CREATED");
        for (JsonNode run : items) {
            String name = Json.text(run, "workflow");
            table.row(
                    Json.text(run, "run_id"),
                    output.status(Json.text(run, "status")),
                    name.isEmpty() ? Json.text(run, "workflow_id") : name,
                    Json.text(run, "key"),
                    requests(run),
                    Listing.when(output, run, "created_at", now));
        }
        return table;
    }

    /** `1 ↺2 ✗1`: one that started it, two replayed, one refused. */
    private static String requests(JsonNode run) {
        long replays = Math.max(Listing.count(run, "replays", "replay_count"), kind(run, "replayed"));
        long conflicts = Math.max(Listing.count(run, "conflicts", "conflict_count"), kind(run, "conflict"));
        return "1" + (replays == 0 ? "" : " ↺" + replays) + (conflicts == 0 ? "" : " ✗" + conflicts);
    }

    private static long kind(JsonNode run, String kind) {
        long count = 0;
        for (JsonNode request : run.path("requests")) {
            count += Json.text(request, "kind").equals(kind) ? 1 : 0;
        }
        return count;
    }
}
