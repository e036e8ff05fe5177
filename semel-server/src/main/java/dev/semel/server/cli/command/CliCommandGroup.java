package dev.semel.server.cli.command;

import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;

/** A resource of the command line, such as `semel run`: contains one subcommand per verb. */
@Command
public final class CliCommandGroup extends CliCommand {
    private CliCommandGroup() {}

    /** @param verbs the subcommands: commands or {@link CommandLine}s, each with its own name */
    public static CommandLine create(String name, String description, Object... verbs) {
        CommandLine command = toCommandLine(name, description, new CliCommandGroup());
        for (Object verb : verbs) {
            command.addSubcommand(verb);
        }
        return command;
    }

    @Override
    public Integer call() {
        throw usage("Missing verb: " + verbs(spec) + ".");
    }

    /** The resource with its verbs, such as `semel token create|list|revoke`. */
    public static String verbs(CommandSpec resource) {
        return resource.qualifiedName() + " "
                + String.join("|", resource.subcommands().keySet());
    }
}
