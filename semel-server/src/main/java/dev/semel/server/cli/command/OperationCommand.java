package dev.semel.server.cli.command;

import dev.semel.server.operations.CommandDeclaration;
import dev.semel.server.operations.Operation;
import dev.semel.server.operations.Parameter;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.Function;
import java.util.stream.Stream;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.Model.PositionalParamSpec;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/** The command that an operation declares: its arguments and options become the request. */
public record OperationCommand(Operation<?> operation, CommandDeclaration declared) {
    private static final String EXPORT = "--export";

    public static CommandLine create(Operation<?> operation) {
        CommandDeclaration declared = Objects.requireNonNull(operation.command());
        OperationCommand made = new OperationCommand(operation, declared);
        CliCommand command = declared.columns().isEmpty() ? new LineCommand(made) : new TableCommand(made);
        CommandLine line = CliCommand.toCommandLine(declared.verb(), declared.description(), command);
        made.addTo(line.getCommandSpec());
        return line;
    }

    private void addTo(CommandSpec spec) {
        spec.usageMessage()
                .footer(declared.exampleLines().stream().map(one -> "  " + one).toArray(String[]::new));
        for (int i = 0; i < declared.arguments().size(); i++) {
            CommandDeclaration.Argument argument = declared.arguments().get(i);
            boolean any = argument.count() == CommandDeclaration.Count.ANY;
            spec.addPositional(PositionalParamSpec.builder()
                    .index(any ? i + "..*" : String.valueOf(i))
                    .arity(
                            switch (argument.count()) {
                                case ONE -> "1";
                                case ZERO_OR_ONE -> "0..1";
                                case ANY -> "0..*";
                            })
                    .paramLabel(argument.label())
                    .description(argument.description())
                    .type(any ? String[].class : String.class)
                    .build());
        }
        for (CommandDeclaration.Option option : declared.options()) {
            boolean flag = option.label().isEmpty();
            OptionSpec.Builder built = OptionSpec.builder(option.name()).description(option.description());
            spec.addOption(
                    flag
                            ? built.type(boolean.class).arity("0").build()
                            : built.type(String.class)
                                    .paramLabel(option.label())
                                    .build());
        }
        if (declared.hasExport()) {
            spec.addOption(OptionSpec.builder(EXPORT)
                    .paramLabel("FILE")
                    .description("Write all matching entries to a file, one JSON object per line.")
                    .type(String.class)
                    .build());
        }
    }

    /** The value of each parameter and body member that the user set. */
    private Map<String, String> values(CommandSpec spec) {
        Map<String, String> values = new LinkedHashMap<>();
        List<CommandDeclaration.Argument> arguments = declared.arguments();
        for (int i = 0; i < arguments.size(); i++) {
            Object value = spec.positionalParameters().get(i).getValue();
            put(
                    values,
                    arguments.get(i).parameter(),
                    value instanceof String[] words ? String.join(" ", words) : value);
        }
        declared.options()
                .forEach(option -> put(
                        values,
                        option.parameter(),
                        spec.findOption(option.name()).getValue()));
        return values;
    }

    private static void put(Map<String, String> values, String name, @org.jspecify.annotations.Nullable Object value) {
        if (value != null && !value.equals(false) && !value.equals("")) {
            values.put(name, value.toString());
        }
    }

    private CliApiRequest request(CommandSpec spec) {
        Map<String, String> values = values(spec);
        String[] segments = Stream.of(operation.path().substring(1).split("/"))
                .map(part -> part.startsWith("{")
                        ? Objects.requireNonNull(values.remove(part.substring(1, part.length() - 1)))
                        : part)
                .toArray(String[]::new);
        CliApiRequest request = CliApiRequest.of(operation.method(), CliApiRequest.path(segments));
        for (Parameter parameter : operation.parameters()) {
            String value = values.remove(parameter.name());
            request = value == null ? request : request.withQuery(parameter.name(), value);
        }
        ObjectNode body = TerminalJsonFormatter.newObject();
        values.forEach(body::put);
        return !body.isEmpty() ? request.withJson(body) : operation.changes() ? request.withJson("") : request;
    }

    /** The words that repeat this command, without `semel`. */
    private String again(CommandSpec spec) {
        List<String> words = new ArrayList<>(List.of(declared.words()));
        for (PositionalParamSpec argument : spec.positionalParameters()) {
            Object value = argument.getValue();
            Stream.of(value instanceof String[] several ? several : new Object[] {value})
                    .filter(Objects::nonNull)
                    .forEach(word -> words.add(ShellQuoting.quote(word.toString())));
        }
        for (CommandDeclaration.Option option : declared.options()) {
            Object value = spec.findOption(option.name()).getValue();
            if (value != null && !value.equals(false)) {
                words.add(option.name() + (value.equals(true) ? "" : " " + ShellQuoting.quote(value.toString())));
            }
        }
        return String.join(" ", words);
    }

    private CliListDefinition table(CommandSpec spec) {
        CliListDefinition table = CliListDefinition.of(request(spec), again(spec), declared.emptyText());
        declared.columns().forEach(column -> addTo(table, column));
        CommandDeclaration.Suggestion next = declared.suggestion();
        return next == null ? table : table.suggest(next.command(), next.member());
    }

    private static void addTo(CliListDefinition table, CommandDeclaration.Column column) {
        String member = column.member();
        if (member.isEmpty()) {
            table.addColumn(
                    column.heading(),
                    row -> TerminalJsonFormatter.sanitize(column.text().apply(row)));
            return;
        }
        switch (column.kind()) {
            case TEXT -> table.addText(column.heading(), member);
            case TIME -> table.addTime(column.heading(), member);
            case TEXTS -> table.addTexts(column.heading(), member, ", ");
            case STATUS ->
                table.addCell(
                        column.heading(),
                        (row, output, _) -> output.colourStatus(TerminalJsonFormatter.text(row, member)));
        }
    }

    @Command
    private static final class TableCommand extends CliListCommand {
        private final OperationCommand made;

        TableCommand(OperationCommand made) {
            this.made = made;
        }

        @Override
        public Integer call() {
            String file = made.declared.hasExport() ? spec.findOption(EXPORT).getValue() : null;
            return file == null ? super.call() : new CliListExport(this, made.request(spec)).writeTo(file);
        }

        @Override
        protected CliListDefinition listDefinition() {
            return made.table(spec);
        }
    }

    /** Prints one line about the response. */
    @Command
    private static final class LineCommand extends CliApiCommand {
        private final OperationCommand made;

        LineCommand(OperationCommand made) {
            this.made = made;
        }

        @Override
        public Integer call() {
            JsonNode response = send(made.request(spec));
            Function<JsonNode, String> line = made.declared.lineText();
            return line == null
                    ? printJson(response)
                    : print(response, TerminalJsonFormatter.sanitize(line.apply(response)));
        }
    }
}
