package dev.semel.server.cli.run;

import dev.semel.server.cli.command.CliApiCommand;
import dev.semel.server.cli.command.CliApiRequest;
import dev.semel.server.cli.command.TerminalJsonFormatter;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import tools.jackson.databind.JsonNode;

@Command(
        name = "cancel",
        description = "Cancels a run. No new step starts, and the server runs the defined undo steps (compensations).",
        footer = "  semel run cancel run_9kXmP2vQwL --reason \"ordered by mistake\"")
public final class RunCancelCommand extends CliApiCommand {
    @Parameters(paramLabel = "ID", description = "Id of the run.")
    String id = "";

    @Option(names = "--reason", paramLabel = "TEXT", description = "Reason for the audit log.")
    String reason = "";

    @Override
    public Integer call() {
        JsonNode response = send(CliApiRequest.post("v1", "runs", id, "cancel")
                .withJson(TerminalJsonFormatter.newObject().put("reason", reason)));
        return printAction(response, "cancelled", id, "the run has ended already; nothing was changed");
    }
}
