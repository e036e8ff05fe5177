package dev.semel.server.cli.command;

import java.util.List;
import java.util.function.BiFunction;
import java.util.function.Function;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import tools.jackson.databind.JsonNode;

/** A command without options of its own: sends one API call and prints one line, or with --json the response. */
@Command
public final class GenericApiCallCommand extends CliApiCommand {
    private final Function<List<String>, CliApiRequest> request;
    private final BiFunction<List<String>, JsonNode, String> line;

    private GenericApiCallCommand(
            Function<List<String>, CliApiRequest> request, BiFunction<List<String>, JsonNode, String> line) {
        this.request = request;
        this.line = line;
    }

    /** @param line gets the parameters, safe to print, and the response */
    public static CommandLine create(
            String usage,
            String description,
            Function<List<String>, CliApiRequest> request,
            BiFunction<List<String>, JsonNode, String> line) {
        return toCommandLine(usage, description, new GenericApiCallCommand(request, line));
    }

    @Override
    public Integer call() {
        JsonNode response = send(request.apply(arguments()));
        return print(
                response,
                line.apply(
                        arguments().stream()
                                .map(TerminalJsonFormatter::sanitize)
                                .toList(),
                        response));
    }
}
