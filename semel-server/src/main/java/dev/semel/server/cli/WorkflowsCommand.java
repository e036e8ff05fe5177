package dev.semel.server.cli;

import picocli.CommandLine.Command;

/** `semel workflows`: lists the published workflows. */
@Command(name = "workflows", description = "Lists the published workflows.")
final class WorkflowsCommand extends ListCommand {
    WorkflowsCommand(CommandEnvironment environment) {
        super(environment);
    }

    @Override
    ListDefinition listDefinition() {
        return ListDefinition.of(
                        ApiRequest.get(ApiRequest.path("v1", "workflows")),
                        "workflows",
                        "no workflows yet. Publish one: semel publish FILE.yaml")
                .addColumn("WORKFLOW", item -> TerminalJson.text(item, item.has("workflow") ? "workflow" : "name"))
                .addText("VERSION", "version")
                .addText("ID", "workflow_id")
                .addText("TITLE", "title");
    }
}
