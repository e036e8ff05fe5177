package dev.semel.server.operations;

import dev.semel.server.http.TokenScope;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Collectors;

/** Writes the reference page of the declared operations as Markdown, with one table per tag. */
public final class ReferencePage {
    private static final String INTRO = """
        # Operations

        One row per operation: route, scope, purpose and command. [API](api.md) explains paging, filters and errors; [Command line](cli.md)
        explains the options that all commands have. This page is generated from the declarations in the server.
        """;

    private ReferencePage() {}

    public static String of(OperationTable table) {
        Map<String, List<Operation<?>>> byTag = table.operations().stream()
                .collect(Collectors.groupingBy(one -> one.declared.tag, LinkedHashMap::new, Collectors.toList()));
        StringBuilder page = new StringBuilder(INTRO);
        byTag.forEach((tag, operations) -> {
            page.append("\n## ").append(tag).append("\n\n| route | scope | purpose | command |\n|---|---|---|---|\n");
            operations.forEach(one -> page.append(row(one)));
        });
        return page.toString();
    }

    private static String row(Operation<?> operation) {
        String scope = operation.scope() == TokenScope.OPEN
                ? "none"
                : operation.scope().name().toLowerCase(Locale.ROOT);
        return "| `%s` | %s | %s | %s |\n".formatted(operation, scope, purpose(operation), command(operation));
    }

    private static String purpose(Operation<?> operation) {
        Operation.Declaration declared = operation.declared;
        StringBuilder text = new StringBuilder(declared.summary).append('.');
        if (!declared.description.isEmpty()) {
            text.append(' ').append(declared.description);
        }
        declared.parameters.stream()
                .filter(one -> one.place() == Parameter.Place.QUERY)
                .filter(one -> !one.equals(Parameter.LIMIT) && !one.equals(Parameter.AFTER))
                .forEach(one ->
                        text.append(" `?").append(one.name()).append("=`: ").append(one.description()));
        return text.toString().replace("|", "\\|");
    }

    private static String command(Operation<?> operation) {
        CommandDeclaration command = operation.command();
        if (command == null) {
            return "";
        }
        StringBuilder usage = new StringBuilder("`semel ").append(command.words());
        command.arguments()
                .forEach(one -> usage.append(
                        switch (one.count()) {
                            case ONE -> " " + one.label();
                            case ZERO_OR_ONE -> " [" + one.label() + "]";
                            case ANY -> " [" + one.label() + "...]";
                        }));
        command.options()
                .forEach(one -> usage.append(" [")
                        .append((one.name() + " " + one.label()).strip())
                        .append(']'));
        return usage.append(command.hasExport() ? " [--export FILE]`" : "`").toString();
    }
}
