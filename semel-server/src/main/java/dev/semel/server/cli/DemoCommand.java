package dev.semel.server.cli;

import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** `demo crash`. */
@Command(
        name = "demo",
        description = "Shows what is promised, on servers of its own that leave nothing behind.",
        footerHeading = "%nExamples:%n",
        footer = "  semel demo crash")
final class DemoCommand implements Callable<Integer> {
    @Spec
    @Nullable
    CommandSpec spec;

    static CommandLine commandLine(Surroundings around) {
        return new CommandLine(new DemoCommand()).addSubcommand(new Crash(around));
    }

    @Override
    public Integer call() {
        if (spec == null) {
            throw new IllegalStateException("not wired");
        }
        throw new ParameterException(spec.commandLine(), "Say what to show: semel demo crash.");
    }

    @Command(
            name = "crash",
            description = "Kills a server between a provider's yes and the record of it, starts it again, and counts.")
    static final class Crash implements Callable<Integer> {
        private final Surroundings around;

        @Mixin
        final Output output;

        Crash(Surroundings around) {
            this.around = around;
            this.output = new Output(around);
        }

        @Override
        public Integer call() {
            return new CrashShow(around, output).run();
        }
    }
}
