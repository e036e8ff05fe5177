package dev.semel.server.cli;

import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** `semel demo`: demonstrates the guarantees on temporary servers. */
@Command(
        name = "demo",
        description = "Demonstrates the guarantees on temporary servers that leave nothing behind.",
        footerHeading = "%nExamples:%n",
        footer = "  semel demo crash")
final class DemoCommand implements Callable<Integer> {
    @Spec
    @Nullable
    CommandSpec spec;

    static CommandLine commandLine(CommandEnvironment environment) {
        return new CommandLine(new DemoCommand()).addSubcommand(new CrashDemoCommand(environment));
    }

    @Override
    public Integer call() {
        if (spec == null) {
            throw new IllegalStateException("not wired");
        }
        throw new ParameterException(spec.commandLine(), "Missing subcommand: semel demo crash.");
    }

    @Command(
            name = "crash",
            description =
                    "Kills a server after a provider acted and before the server recorded it, restarts it,"
                            + " counts effects.")
    static final class CrashDemoCommand implements Callable<Integer> {
        private final CommandEnvironment environment;

        @Mixin
        final CommandOutput output;

        CrashDemoCommand(CommandEnvironment environment) {
            this.environment = environment;
            this.output = new CommandOutput(environment);
        }

        @Override
        public Integer call() {
            return new CrashDemo(environment, output).run();
        }
    }
}
