package dev.semel.server.cli.run;

import dev.semel.server.cli.command.CliApiCommand;
import dev.semel.server.cli.command.CliApiRequest;
import dev.semel.server.cli.command.TerminalJsonFormatter;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** `semel run reveal` and `semel profile reveal`: show masked personal data; the audit log records the reason. */
@Command(
        name = "reveal",
        description = "Shows masked personal data. The audit log records the user and the reason.",
        footer = "  semel run reveal run_7Hq --reason \"ticket 4711: the customer asks for a copy\"")
public final class PiiRevealCommand extends CliApiCommand {
    private final String resource;

    @Parameters(paramLabel = "ID", description = "Id of the run or the profile.")
    String id = "";

    @Option(names = "--reason", required = true, paramLabel = "TEXT", description = "Why you need to see it.")
    String reason = "";

    /** @param resource path below /v1 */
    public PiiRevealCommand(String resource) {
        this.resource = resource;
    }

    @Override
    public Integer call() {
        String body = TerminalJsonFormatter.compactForRequest(
                TerminalJsonFormatter.newObject().put("reason", reason));
        return printJson(send(CliApiRequest.post("v1", resource, id, "reveal").withJson(body)));
    }
}
