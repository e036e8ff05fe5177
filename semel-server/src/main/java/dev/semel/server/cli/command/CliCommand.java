package dev.semel.server.cli.command;

import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.PositionalParamSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** Base of all commands below the root. */
public abstract class CliCommand implements Callable<Integer> {
    @Spec
    @SuppressWarnings("NullAway.Init") // picocli sets it before the call
    protected CommandSpec spec;

    /**
     * Creates a command whose description and parameters are not annotations of its class.
     *
     * @param usage name of the command and labels of its parameters, such as `pause WORKFLOW`
     */
    public static CommandLine toCommandLine(String usage, String description, CliCommand command) {
        List<String> words = List.of(usage.split(" "));
        CommandLine line = new CommandLine(command).setCommandName(words.getFirst());
        line.getCommandSpec().usageMessage().description(description);
        for (int i = 1; i < words.size(); i++) {
            line.getCommandSpec()
                    .addPositional(PositionalParamSpec.builder()
                            .index(String.valueOf(i - 1))
                            .paramLabel(words.get(i))
                            .type(String.class)
                            .required(true)
                            .build());
        }
        return line;
    }

    protected final CliCommandEnvironment environment() {
        return CliCommandEnvironment.of(spec);
    }

    /** The values of the parameters of {@link #toCommandLine}. */
    final List<String> arguments() {
        return spec.positionalParameters().stream()
                .map(parameter -> String.valueOf(parameter.<Object>getValue()))
                .toList();
    }

    protected final ParameterException usage(String message) {
        return new ParameterException(spec.commandLine(), message);
    }
}
