package dev.semel.server.cli;

import picocli.CommandLine.Command;

@Command(
        name = "workspaces",
        description = "Lists the workspaces of the server. One is made with its first token.",
        footerHeading = "%nExample:%n",
        footer = "  semel token create --workspace shop --scope admin > token.txt     makes the workspace shop")
final class WorkspacesCommand extends ListCommand {
    WorkspacesCommand(Surroundings around) {
        super(around);
    }

    @Override
    Sheet sheet() {
        return Sheet.of(Call.get(Call.path("v1", "workspaces")), "workspaces", "there is none")
                .text("WORKSPACE", "workspace")
                .cell("OWN", one -> one.path("own").asBoolean(false) ? "this one" : "");
    }
}
