package dev.semel.server.cli;

import java.util.List;
import java.util.function.BiFunction;
import java.util.function.Function;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.PositionalParamSpec;
import tools.jackson.databind.JsonNode;

/** A command without options of its own: sends one API call and prints one line, or with --json the response. */
@Command
final class CallCommand extends ApiCommand {
    private final Function<List<String>, ApiRequest> request;
    private final BiFunction<List<String>, JsonNode, String> line;

    private CallCommand(
            CommandEnvironment environment,
            Function<List<String>, ApiRequest> request,
            BiFunction<List<String>, JsonNode, String> line) {
        super(environment);
        this.request = request;
        this.line = line;
    }

    /**
     * Creates the command.
     *
     * @param usage name of the command and labels of its parameters, such as `pause WORKFLOW`
     * @param line gets the parameters, safe to print, and the response
     */
    static CommandLine create(
            CommandEnvironment environment,
            String usage,
            String description,
            Function<List<String>, ApiRequest> request,
            BiFunction<List<String>, JsonNode, String> line) {
        CommandLine command = new CommandLine(new CallCommand(environment, request, line));
        List<String> words = List.of(usage.split(" "));
        command.setCommandName(words.getFirst());
        command.getCommandSpec().usageMessage().description(description);
        for (int i = 1; i < words.size(); i++) {
            command.getCommandSpec()
                    .addPositional(PositionalParamSpec.builder()
                            .index(String.valueOf(i - 1))
                            .paramLabel(words.get(i))
                            .type(String.class)
                            .required(true)
                            .build());
        }
        return command;
    }

    @Override
    public Integer call() {
        List<String> arguments = spec.positionalParameters().stream()
                .map(parameter -> String.valueOf(parameter.<Object>getValue()))
                .toList();
        JsonNode response = send(request.apply(arguments));
        return print(
                response,
                line.apply(arguments.stream().map(TerminalJson::sanitize).toList(), response));
    }
}
