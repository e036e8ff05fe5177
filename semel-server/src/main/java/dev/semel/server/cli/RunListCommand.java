package dev.semel.server.cli;

import java.util.List;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import tools.jackson.databind.JsonNode;

/** `semel run list`: lists runs with their requests. */
@Command(
        name = "list",
        description = "Lists runs, newest first, with the number of their requests.",
        footerHeading = "%nExamples:%n",
        footer = {
            "  semel run list",
            "  semel run list status:failed --limit 10",
            "  semel run list --workflow payment_receipt --json"
        })
final class RunListCommand extends ListCommand {
    @Parameters(paramLabel = "QUERY", arity = "0..*", description = "status:S workflow:W key:K replayed:true since:2h.")
    List<String> query = List.of();

    @Option(names = "--workflow", paramLabel = "W", description = "Only runs of this workflow.")
    String workflow = "";

    RunListCommand(CommandEnvironment environment) {
        super(environment);
    }

    @Override
    ListDefinition listDefinition() {
        String path = workflow.isEmpty()
                ? ApiRequest.path("v1", "runs")
                : ApiRequest.path("v1", "workflows", workflow, "runs");
        return ListDefinition.of(
                        ApiRequest.get(path),
                        "run list",
                        "no runs. Start one: semel send WORKFLOW --key KEY --data '{}'")
                .addText("RUN", "run_id")
                .addColumn("STATUS", run -> output.colourStatus(TerminalJson.text(run, "status")))
                .addColumn("WORKFLOW", run -> TerminalJson.text(run, run.has("workflow") ? "workflow" : "workflow_id"))
                .addText("KEY", "key")
                .addColumn("REQUESTS", RunListCommand::requests)
                .addTime("CREATED", "created_at");
    }

    @Override
    String query() {
        return String.join(" ", query);
    }

    @Override
    String nextCommand(JsonNode first) {
        return "semel run show " + ShellQuoting.quote(TerminalJson.text(first, "run_id"));
    }

    /** `1 ↺2 ✗1`: the first request, two replayed requests, one conflict. */
    private static String requests(JsonNode run) {
        long replays = Math.max(PagingOptions.firstCount(run, "replays", "replay_count"), kind(run, "replayed"));
        long conflicts = Math.max(PagingOptions.firstCount(run, "conflicts", "conflict_count"), kind(run, "conflict"));
        return "1" + (replays == 0 ? "" : " ↺" + replays) + (conflicts == 0 ? "" : " ✗" + conflicts);
    }

    private static long kind(JsonNode run, String kind) {
        long count = 0;
        for (JsonNode request : run.path("requests")) {
            count += TerminalJson.text(request, "kind").equals(kind) ? 1 : 0;
        }
        return count;
    }
}
