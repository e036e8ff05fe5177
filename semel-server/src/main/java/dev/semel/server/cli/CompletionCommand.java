package dev.semel.server.cli;

import java.util.concurrent.Callable;
import picocli.AutoComplete;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/** `semel completion`: prints a completion script for the shell. */
@Command(
        name = "completion",
        description = "Prints a completion script for bash and zsh.",
        footerHeading = "%nExample:%n",
        footer = "  source <(semel completion)")
final class CompletionCommand implements Callable<Integer> {
    @Mixin
    final CommandOutput output;

    @Spec
    @SuppressWarnings("NullAway.Init") // picocli sets it before the call
    CommandSpec spec;

    CompletionCommand(CommandEnvironment environment) {
        this.output = new CommandOutput(environment);
    }

    @Override
    public Integer call() {
        String script = AutoComplete.bash("semel", spec.root().commandLine());
        if (output.json) {
            output.printJson(TerminalJson.newObject().put("script", script));
        } else {
            output.printLine(script);
        }
        return ExitCode.OK;
    }
}
