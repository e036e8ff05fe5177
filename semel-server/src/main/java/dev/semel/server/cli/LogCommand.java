package dev.semel.server.cli;

import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;
import tools.jackson.databind.JsonNode;

/** `semel log`: lists the messages of a workflow's newest runs. */
@Command(
        name = "log",
        description =
                "Lists the messages of a workflow's newest runs: sent, suppressed, failed or skipped, with the reason.",
        footerHeading = "%nExamples:%n",
        footer = {"  semel log new_lead", "  semel log new_lead --json"})
final class LogCommand extends ListCommand {
    @Parameters(paramLabel = "WORKFLOW", description = "Name or id.")
    String workflow = "";

    LogCommand(Surroundings environment) {
        super(environment);
    }

    @Override
    Sheet sheet() {
        return Sheet.of(
                        Call.get(Call.path("v1", "workflows", workflow, "log")),
                        "log " + Shell.word(workflow),
                        "these runs sent no messages")
                .time("WHEN", "at")
                .text("MESSAGE", "step")
                .text("CHANNEL", "channel")
                .text("STATUS", "status")
                .text("REASON", "because")
                .text("RUN", "run_id");
    }

    @Override
    String next(JsonNode first) {
        return "semel timeline " + Shell.word(Json.text(first, "run_id"));
    }
}
