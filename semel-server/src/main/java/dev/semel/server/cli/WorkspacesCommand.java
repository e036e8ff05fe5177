package dev.semel.server.cli;

import picocli.CommandLine.Command;

/** `semel workspaces`: lists the workspaces of the server. */
@Command(
        name = "workspaces",
        description = "Lists the workspaces of the server. Creating the first token of a workspace creates it.",
        footerHeading = "%nExample:%n",
        footer = "  semel token create --workspace shop --scope admin > token.txt     creates the workspace shop")
final class WorkspacesCommand extends ListCommand {
    WorkspacesCommand(CommandEnvironment environment) {
        super(environment);
    }

    @Override
    ListDefinition listDefinition() {
        return ListDefinition.of(ApiRequest.get(ApiRequest.path("v1", "workspaces")), "workspaces", "no workspaces")
                .addText("WORKSPACE", "workspace")
                .addColumn("OWN", one -> one.path("current").asBoolean(false) ? "this one" : "");
    }
}
