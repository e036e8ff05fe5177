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
final class RevealCommand implements Callable<Integer> {
    @Mixin
    final Output output;

    @Mixin
    final Connection connection;

    @Parameters(paramLabel = "RUN")
    String run = "";

    @Option(names = "--reason", required = true, paramLabel = "TEXT", description = "Why you need to see it.")
    String reason = "";

    RevealCommand(Surroundings environment) {
        this.output = new Output(environment);
        this.connection = new Connection(environment);
    }

    @Override
    public Integer call() {
        String body = Json.compactUnprinted(Json.object().put("reason", reason));
        Answer answer = connection.api().ask(Call.post(Call.path("v1", "runs", run, "reveal"), body));
        output.document(answer.body());
        return Exit.DONE;
    }
}
