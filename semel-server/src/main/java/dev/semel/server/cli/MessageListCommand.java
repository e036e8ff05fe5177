package dev.semel.server.cli;

import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;
import tools.jackson.databind.JsonNode;

/** `semel log list`: lists the messages of a workflow's newest runs. */
@Command(
        name = "list",
        description =
                "Lists the messages of a workflow's newest runs: sent, suppressed, failed or skipped, with the reason.",
        footerHeading = "%nExamples:%n",
        footer = {"  semel log list new_lead", "  semel log list new_lead --json"})
final class MessageListCommand extends ListCommand {
    @Parameters(paramLabel = "WORKFLOW", description = "Name or id.")
    String workflow = "";

    MessageListCommand(CommandEnvironment environment) {
        super(environment);
    }

    @Override
    ListDefinition listDefinition() {
        return ListDefinition.of(
                        ApiRequest.get(ApiRequest.path("v1", "workflows", workflow, "log")),
                        "log list " + ShellQuoting.quote(workflow),
                        "these runs sent no messages")
                .addTime("WHEN", "at")
                .addText("MESSAGE", "step")
                .addText("CHANNEL", "channel")
                .addText("STATUS", "status")
                .addText("REASON", "reason")
                .addText("RUN", "run_id");
    }

    @Override
    String nextCommand(JsonNode first) {
        return "semel run timeline " + ShellQuoting.quote(TerminalJson.text(first, "run_id"));
    }
}
