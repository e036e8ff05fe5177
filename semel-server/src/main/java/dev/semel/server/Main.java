package dev.semel.server;

import dev.semel.server.cli.CliRootCommand;
import dev.semel.server.cli.command.CliCommandEnvironment;
import dev.semel.server.cli.server.ServerOptions;
import java.util.function.Function;

/** Entry point of the jar: runs the command line, which also starts the server. */
public final class Main {
    private Main() {}

    public static void main(String[] arguments) {
        // A lambda, not a method reference: only dev and serve load the classes of the server.
        System.exit(run(CliCommandEnvironment.system(), options -> SemelServer.run(options), arguments));
    }

    /** Runs a command without ending the process, so that tests can call it. */
    static int run(CliCommandEnvironment environment, Function<ServerOptions, Integer> serve, String... arguments) {
        int exit = CliRootCommand.commandLine(environment, serve).execute(arguments);
        environment.out().flush();
        environment.err().flush();
        return exit;
    }
}
