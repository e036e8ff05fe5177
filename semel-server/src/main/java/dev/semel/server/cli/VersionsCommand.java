package dev.semel.server.cli;

import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;

/** `semel versions`: lists the versions of a workflow with their rollout percentages. */
@Command(
        name = "versions",
        description = "Lists the versions of a workflow, newest first, with their rollout percentages.",
        footerHeading = "%nExamples:%n",
        footer = {"  semel versions payment_receipt"})
final class VersionsCommand extends ListCommand {
    @Parameters(paramLabel = "WORKFLOW", description = "Name or id.")
    String workflow = "";

    VersionsCommand(Surroundings environment) {
        super(environment);
    }

    @Override
    Sheet sheet() {
        return Sheet.of(
                        Call.get(Call.path("v1", "workflows", workflow, "versions")),
                        "versions " + Shell.word(workflow),
                        "no versions")
                .text("VERSION", "version")
                .text("ROLE", "role")
                .cell(
                        "TRIGGERS",
                        version -> Json.text(version, "role").equals("past") ? "" : Json.text(version, "share") + " %")
                .time("PUBLISHED", "published_at")
                .text("BY", "actor_id");
    }
}
