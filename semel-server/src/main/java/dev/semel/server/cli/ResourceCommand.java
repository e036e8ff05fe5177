package dev.semel.server.cli;

import java.util.concurrent.Callable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** A resource of the command line, such as `semel run`: contains one subcommand per verb. */
@Command
final class ResourceCommand implements Callable<Integer> {
    @Spec
    @SuppressWarnings("NullAway.Init") // picocli sets it before the call
    CommandSpec spec;

    private ResourceCommand() {}

    /** @param verbs the subcommands: commands or {@link CommandLine}s, each with its own name */
    static CommandLine create(String name, String description, Object... verbs) {
        CommandLine command = new CommandLine(new ResourceCommand()).setCommandName(name);
        command.getCommandSpec().usageMessage().description(description);
        for (Object verb : verbs) {
            command.addSubcommand(verb);
        }
        return command;
    }

    @Override
    public Integer call() {
        throw new ParameterException(spec.commandLine(), "Missing verb: " + verbs(spec) + ".");
    }

    /** The resource with its verbs, such as `semel token create|list|revoke`. */
    static String verbs(CommandSpec resource) {
        return resource.qualifiedName() + " "
                + String.join("|", resource.subcommands().keySet());
    }
}
