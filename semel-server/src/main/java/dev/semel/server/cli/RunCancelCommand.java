package dev.semel.server.cli;

import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import tools.jackson.databind.JsonNode;

/** `semel run cancel`: cancels a run. */
@Command(
        name = "cancel",
        description = "Cancels a run. No new step starts, and the engine runs the registered compensations.",
        footerHeading = "%nExample:%n",
        footer = "  semel run cancel run_9kXmP2vQwL --reason \"ordered by mistake\"")
final class RunCancelCommand extends ApiCommand {
    @Parameters(paramLabel = "ID", description = "Id of the run.")
    String id = "";

    @Option(names = "--reason", paramLabel = "TEXT", description = "Reason for the audit log.")
    String reason = "";

    RunCancelCommand(CommandEnvironment environment) {
        super(environment);
    }

    @Override
    public Integer call() {
        JsonNode response = send(ApiRequest.post(
                ApiRequest.path("v1", "runs", id, "cancel"),
                TerminalJson.newObject().put("reason", reason).toString()));
        boolean cancelled = response.path("cancelled").booleanValue();
        if (output.json) {
            output.printJson(response);
        } else if (cancelled) {
            output.printLine("cancelled " + id + " (" + TerminalJson.text(response, "status") + ")");
        } else {
            output.printMessage("the run has ended already; nothing was changed");
        }
        return cancelled ? ExitCode.OK : ExitCode.FAILED;
    }
}
