package dev.semel.server.cli;

import java.time.Instant;
import java.util.concurrent.Callable;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;
import tools.jackson.databind.JsonNode;

/** Base of all commands that call the API: their output and connection options, and the frame of one call. */
abstract class ApiCommand implements Callable<Integer> {
    final CommandEnvironment environment;

    @Mixin
    final CommandOutput output;

    @Mixin
    final ServerConnectionOptions connection;

    @Spec
    @SuppressWarnings("NullAway.Init") // picocli sets it before the call
    CommandSpec spec;

    ApiCommand(CommandEnvironment environment) {
        this.environment = environment;
        this.output = new CommandOutput(environment);
        this.connection = new ServerConnectionOptions(environment);
    }

    /** Sends a call and returns the body of its 2xx response. */
    final JsonNode send(ApiRequest call) {
        return connection.api().send(call).body();
    }

    /** Prints the response: with --json as it is, else as one line. */
    final int print(JsonNode response, String line) {
        if (output.json) {
            output.printJson(response);
        } else {
            output.printLine(line);
        }
        return ExitCode.OK;
    }

    /** Prints the response as JSON, with or without --json. */
    final int printJson(JsonNode response) {
        output.printJson(response);
        return ExitCode.OK;
    }

    /** The server's time, or the local time if the response has none. */
    final Instant now(ApiResponse response) {
        return response.date().orElse(environment.clock().instant());
    }

    final ParameterException usage(String message) {
        return new ParameterException(spec.commandLine(), message);
    }
}
