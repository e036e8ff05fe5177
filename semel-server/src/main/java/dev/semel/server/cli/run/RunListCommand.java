package dev.semel.server.cli.run;

import dev.semel.server.cli.command.CliApiRequest;
import dev.semel.server.cli.command.CliListCommand;
import dev.semel.server.cli.command.CliListDefinition;
import dev.semel.server.cli.command.CliPagingOptions;
import dev.semel.server.cli.command.TerminalJsonFormatter;
import java.util.List;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import tools.jackson.databind.JsonNode;

@Command(
        name = "list",
        description = "Lists runs, newest first, with the number of their requests.",
        footer = {
            "  semel run list",
            "  semel run list status:failed --limit 10",
            "  semel run list --workflow payment_receipt --json"
        })
public final class RunListCommand extends CliListCommand {
    @Parameters(
            paramLabel = "QUERY",
            arity = "0..*",
            description = "Filter terms such as status:failed workflow:payment_receipt key:evt_1 correlation:ord_1"
                    + " replayed:true since:2h ended_since:2h failed_since:2h.")
    List<String> query = List.of();

    @Option(names = "--workflow", paramLabel = "W", description = "Only runs of this workflow.")
    String workflow = "";

    @Override
    protected CliListDefinition listDefinition() {
        CliApiRequest call = workflow.isEmpty()
                ? CliApiRequest.get("v1", "runs")
                : CliApiRequest.get("v1", "workflows", workflow, "runs");
        return CliListDefinition.of(call, "run list", "no runs. Start one: semel send WORKFLOW --key KEY --data '{}'")
                .filter(query)
                .addText("RUN", "run_id")
                .addColumn("STATUS", run -> output.colourStatus(TerminalJsonFormatter.text(run, "status")))
                .addColumn(
                        "WORKFLOW",
                        run -> TerminalJsonFormatter.text(run, run.has("workflow") ? "workflow" : "workflow_id"))
                .addText("KEY", "key")
                .addColumn("REQUESTS", RunListCommand::requests)
                .addTime("CREATED", "created_at")
                .suggest("semel run show", "run_id");
    }

    /** `1 ↺2 ✗1`: the first request, two replayed requests, one conflict. */
    private static String requests(JsonNode run) {
        long replays = Math.max(CliPagingOptions.firstCount(run, "replays", "replay_count"), kind(run, "replayed"));
        long conflicts =
                Math.max(CliPagingOptions.firstCount(run, "conflicts", "conflict_count"), kind(run, "conflict"));
        return "1" + (replays == 0 ? "" : " ↺" + replays) + (conflicts == 0 ? "" : " ✗" + conflicts);
    }

    private static long kind(JsonNode run, String kind) {
        return run.path("requests")
                .valueStream()
                .filter(request -> TerminalJsonFormatter.text(request, "kind").equals(kind))
                .count();
    }
}
