package dev.semel.server.cli;

import picocli.CommandLine.Command;

/** `semel workflows`: lists the published workflows. */
@Command(name = "workflows", description = "Lists the published workflows.")
final class WorkflowsCommand extends ListCommand {
    WorkflowsCommand(Surroundings environment) {
        super(environment);
    }

    @Override
    Sheet sheet() {
        return Sheet.of(
                        Call.get(Call.path("v1", "workflows")),
                        "workflows",
                        "no workflows yet. Publish one: semel publish FILE.yaml")
                .cell("WORKFLOW", item -> Json.text(item, item.has("workflow") ? "workflow" : "name"))
                .text("VERSION", "version")
                .text("ID", "workflow_id")
                .text("TITLE", "title");
    }
}
