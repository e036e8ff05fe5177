package dev.semel.server.cli.workflow;

import dev.semel.server.cli.command.CliApiRequest;
import dev.semel.server.cli.command.CliListCommand;
import dev.semel.server.cli.command.CliListDefinition;
import dev.semel.server.cli.command.ShellQuoting;
import dev.semel.server.cli.command.TerminalJsonFormatter;
import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;

@Command(
        name = "versions",
        description = "Lists the versions of a workflow, newest first, with their rollout percentages.",
        footerHeading = "%nExamples:%n",
        footer = {"  semel workflow versions payment_receipt"})
public final class WorkflowVersionListCommand extends CliListCommand {
    @Parameters(paramLabel = "WORKFLOW", description = "Name or id of the workflow.")
    String workflow = "";

    @Override
    protected CliListDefinition listDefinition() {
        return CliListDefinition.of(
                        CliApiRequest.get("v1", "workflows", workflow, "versions"),
                        "workflow versions " + ShellQuoting.quote(workflow),
                        "no versions")
                .addText("VERSION", "version")
                .addText("ROLE", "role")
                .addColumn(
                        "TRIGGERS",
                        version -> TerminalJsonFormatter.text(version, "role").equals("past")
                                ? ""
                                : TerminalJsonFormatter.text(version, "percentage") + " %")
                .addTime("PUBLISHED", "published_at")
                .addText("BY", "actor_id");
    }
}
