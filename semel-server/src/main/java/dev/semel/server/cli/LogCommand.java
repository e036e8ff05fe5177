package dev.semel.server.cli;

import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;
import tools.jackson.databind.JsonNode;

@Command(
        name = "log",
        description =
                "Lists what a workflow wrote to people in its newest runs: sent, suppressed, failed, left out, why.",
        footerHeading = "%nExamples:%n",
        footer = {"  semel log new_lead", "  semel log new_lead --json"})
final class LogCommand extends ListCommand {
    @Parameters(paramLabel = "WORKFLOW", description = "Name or id.")
    String workflow = "";

    LogCommand(Surroundings around) {
        super(around);
    }

    @Override
    Sheet sheet() {
        return Sheet.of(
                        Call.get(Call.path("v1", "workflows", workflow, "log")),
                        "log " + Shell.word(workflow),
                        "none of these runs wrote to anybody")
                .time("WHEN", "at")
                .text("MESSAGE", "step")
                .text("CHANNEL", "channel")
                .text("BECAME", "status")
                .text("BECAUSE", "because")
                .text("RUN", "run_id");
    }

    @Override
    String next(JsonNode first) {
        return "semel timeline " + Shell.word(Json.text(first, "run_id"));
    }
}
