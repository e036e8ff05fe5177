package dev.semel.server.cli.run;

import dev.semel.server.cli.command.CliApiRequest;
import dev.semel.server.cli.command.CliListCommand;
import dev.semel.server.cli.command.CliListDefinition;
import dev.semel.server.cli.command.ShellQuoting;
import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;

@Command(
        name = "list",
        description =
                "Lists the messages of a workflow's newest runs: sent, suppressed, failed or skipped, with the reason.",
        footer = {"  semel log list new_lead", "  semel log list new_lead --json"})
public final class NotificationLogListCommand extends CliListCommand {
    @Parameters(paramLabel = "WORKFLOW", description = "Name or id of the workflow.")
    String workflow = "";

    @Override
    protected CliListDefinition listDefinition() {
        return CliListDefinition.of(
                        CliApiRequest.get("v1", "workflows", workflow, "log"),
                        "log list " + ShellQuoting.quote(workflow),
                        "these runs sent no messages")
                .addTime("WHEN", "at")
                .addText("MESSAGE", "step")
                .addText("CHANNEL", "channel")
                .addText("STATUS", "status")
                .addText("REASON", "reason")
                .addText("RUN", "run_id")
                .suggest("semel run timeline", "run_id");
    }
}
