package dev.semel.server;

import dev.semel.server.cli.Cli;
import dev.semel.server.cli.ServeOptions;
import dev.semel.server.cli.Surroundings;
import java.util.function.Function;

/** The one entry of the jar: server and command line. */
public final class Main {
    private Main() {}

    public static void main(String[] arguments) {
        // A lambda, not a method reference: the server's classes are loaded by dev and serve only.
        System.exit(run(Surroundings.real(), options -> Serve.run(options), arguments));
    }

    /** Everything but the exit of the process, so that tests can call it. */
    static int run(Surroundings around, Function<ServeOptions, Integer> serve, String... arguments) {
        int exit = Cli.commandLine(around, serve).execute(arguments);
        around.out().flush();
        around.err().flush();
        return exit;
    }
}
