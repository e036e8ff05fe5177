package dev.semel.server.cli;

import dev.semel.server.cli.command.CliCommand;
import dev.semel.server.cli.command.CliCommandOutput;
import dev.semel.server.cli.command.TerminalJsonFormatter;
import picocli.AutoComplete;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

@Command(
        name = "completion",
        description = "Prints a completion script for bash and zsh.",
        footer = "  source <(semel completion)")
final class ShellCompletionCommand extends CliCommand {
    @Mixin
    final CliCommandOutput output = new CliCommandOutput();

    @Override
    public Integer call() {
        String script = AutoComplete.bash("semel", spec.root().commandLine());
        return output.print(TerminalJsonFormatter.newObject().put("script", script), () -> output.printLine(script));
    }
}
