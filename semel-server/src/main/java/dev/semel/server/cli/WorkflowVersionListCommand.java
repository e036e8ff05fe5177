package dev.semel.server.cli;

import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;

@Command(
        name = "versions",
        description = "Lists the versions of a workflow, newest first, with their rollout percentages.",
        footerHeading = "%nExamples:%n",
        footer = {"  semel workflow versions payment_receipt"})
final class WorkflowVersionListCommand extends CliListCommand {
    @Parameters(paramLabel = "WORKFLOW", description = "Name or id of the workflow.")
    String workflow = "";

    @Override
    CliListDefinition listDefinition() {
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
