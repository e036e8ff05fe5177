package dev.semel.server.cli.command;

import java.time.Instant;
import picocli.CommandLine.Mixin;
import tools.jackson.databind.JsonNode;

/** Base of all commands that call the API: their output and connection options, and the frame of one call. */
public abstract class CliApiCommand extends CliCommand {
    @Mixin
    protected final CliCommandOutput output = new CliCommandOutput();

    @Mixin
    protected final CliServerConnectionOptions connection = new CliServerConnectionOptions();

    /** Sends a call and returns the body of its 2xx response. */
    protected final JsonNode send(CliApiRequest call) {
        return connection.api().send(call).body();
    }

    /** Prints the response: with --json as it is, else as one line. */
    protected final int print(JsonNode response, String line) {
        return output.print(response, () -> output.printLine(line));
    }

    /** Prints whether an action on a run took effect: the member of the response with its name. Exits 1 if not. */
    protected final int printAction(JsonNode response, String action, String run, String unchanged) {
        boolean done = response.path(action).booleanValue();
        output.print(response, () -> {
            if (done) {
                output.printLine(action + " " + run + " (" + TerminalJsonFormatter.text(response, "status") + ")");
            } else {
                output.printMessage(unchanged);
            }
        });
        return done ? ExitCode.OK : ExitCode.FAILED;
    }

    /** Prints the response as JSON, with or without --json. */
    protected final int printJson(JsonNode response) {
        output.printJson(response);
        return ExitCode.OK;
    }

    /** The server's time, or the local time if the response has none. */
    protected final Instant now(CliApiResponse response) {
        return response.date().orElse(environment().clock().instant());
    }
}
