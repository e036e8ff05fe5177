package dev.semel.server.cli;

import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** `semel reveal`: shows the masked personal data of a run; the audit log records the reason. */
@Command(
        name = "reveal",
        description =
                "Shows the masked personal data of a run. The audit log records the user and the reason.",
        footerHeading = "%nExamples:%n",
        footer = {"  semel reveal run_7Hq --reason \"ticket 4711: the customer asks for a copy\""})
final class RunRevealCommand implements Callable<Integer> {
    @Mixin
    final CommandOutput output;

    @Mixin
    final ServerConnectionOptions connection;

    @Parameters(paramLabel = "RUN")
    String run = "";

    @Option(names = "--reason", required = true, paramLabel = "TEXT", description = "Why you need to see it.")
    String reason = "";

    RunRevealCommand(CommandEnvironment environment) {
        this.output = new CommandOutput(environment);
        this.connection = new ServerConnectionOptions(environment);
    }

    @Override
    public Integer call() {
        String body = TerminalJson.compactForRequest(TerminalJson.newObject().put("reason", reason));
        ApiResponse answer = connection.api().send(ApiRequest.post(ApiRequest.path("v1", "runs", run, "reveal"), body));
        output.printJson(answer.body());
        return ExitCode.OK;
    }
}
