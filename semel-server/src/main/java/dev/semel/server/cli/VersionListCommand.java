package dev.semel.server.cli;

import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;

/** `semel workflow versions`: lists the versions of a workflow with their rollout percentages. */
@Command(
        name = "versions",
        description = "Lists the versions of a workflow, newest first, with their rollout percentages.",
        footerHeading = "%nExamples:%n",
        footer = {"  semel workflow versions payment_receipt"})
final class VersionListCommand extends ListCommand {
    @Parameters(paramLabel = "WORKFLOW", description = "Name or id.")
    String workflow = "";

    VersionListCommand(CommandEnvironment environment) {
        super(environment);
    }

    @Override
    ListDefinition listDefinition() {
        return ListDefinition.of(
                        ApiRequest.get(ApiRequest.path("v1", "workflows", workflow, "versions")),
                        "workflow versions " + ShellQuoting.quote(workflow),
                        "no versions")
                .addText("VERSION", "version")
                .addText("ROLE", "role")
                .addColumn(
                        "TRIGGERS",
                        version -> TerminalJson.text(version, "role").equals("past")
                                ? ""
                                : TerminalJson.text(version, "percentage") + " %")
                .addTime("PUBLISHED", "published_at")
                .addText("BY", "actor_id");
    }
}
