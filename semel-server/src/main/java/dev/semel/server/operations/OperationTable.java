package dev.semel.server.operations;

import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;

/** All declared operations, in the order of the reference. Ids, routes and commands are unique. */
public record OperationTable(List<Operation<?>> operations) {
    public OperationTable {
        operations = List.copyOf(operations);
        Set<String> taken = new HashSet<>();
        for (Operation<?> one : operations) {
            CommandDeclaration command = one.command();
            Stream.of(one.id(), one.toString(), command == null ? "" : "semel " + command.words())
                    .filter(name -> !name.isEmpty() && !taken.add(name))
                    .forEach(name -> {
                        throw new IllegalArgumentException("Two operations have " + name);
                    });
        }
    }

    @SafeVarargs
    @SuppressWarnings("varargs") // the lists are only read
    public static OperationTable of(List<Operation<?>>... groups) {
        return new OperationTable(
                Stream.of(groups).<Operation<?>>flatMap(List::stream).toList());
    }
}
