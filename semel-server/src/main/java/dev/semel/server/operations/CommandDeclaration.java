package dev.semel.server.operations;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/**
 * The command that calls an operation: its words, arguments and options, and how it prints the response. Arguments and
 * options name the parameter, or the member of the request body, that they set.
 */
public final class CommandDeclaration {
    /** @param count how many words the argument takes; several are joined by spaces */
    public record Argument(String label, String parameter, String description, Count count) {}

    public enum Count {
        ONE,
        ZERO_OR_ONE,
        ANY
    }

    /** @param label the label of the value; empty for a flag */
    public record Option(String name, String label, String parameter, String description) {}

    /**
     * @param member the member of a row, or empty for {@code text}
     * @param text computes the cell from the row
     */
    public record Column(String heading, String member, CellKind kind, Function<JsonNode, String> text) {}

    /** @param member the member of the first row that is the argument of the command */
    public record Suggestion(String command, String member) {}

    public enum CellKind {
        TEXT,
        /** A time, shown relative to now. */
        TIME,
        /** The status of a run, in its colour. */
        STATUS,
        /** A list of texts, joined by commas. */
        TEXTS
    }

    private final String words;
    private final String description;
    private final List<String> examples = new ArrayList<>();
    private final List<Argument> arguments = new ArrayList<>();
    private final List<Option> options = new ArrayList<>();
    private final List<Column> columns = new ArrayList<>();
    private String whenEmpty = "";
    private boolean exports;
    private @Nullable Function<JsonNode, String> line;
    private @Nullable Suggestion suggestion;

    private CommandDeclaration(String words, String description) {
        this.words = words;
        this.description = description;
    }

    /** @param words resource and verb, such as `run list` */
    public static CommandDeclaration of(String words, String description) {
        return new CommandDeclaration(words, description);
    }

    /** @param lines whole command lines, shown below the options */
    public CommandDeclaration examples(String... lines) {
        examples.addAll(List.of(lines));
        return this;
    }

    public CommandDeclaration argument(String label, String parameter, String about) {
        arguments.add(new Argument(label, parameter, about, Count.ONE));
        return this;
    }

    public CommandDeclaration optionalArgument(String label, String parameter, String about) {
        arguments.add(new Argument(label, parameter, about, Count.ZERO_OR_ONE));
        return this;
    }

    /** The remaining words are the terms of the filter `q`. */
    public CommandDeclaration filter(String label, String about) {
        arguments.add(new Argument(label, "q", about, Count.ANY));
        return this;
    }

    public CommandDeclaration option(String name, String label, String parameter, String about) {
        options.add(new Option(name, label, parameter, about));
        return this;
    }

    /** Adds `--export FILE`, which writes the rows of all pages to a file. */
    public CommandDeclaration exports() {
        exports = true;
        return this;
    }

    /** The text for a list without rows: how to create one. */
    public CommandDeclaration whenEmpty(String text) {
        whenEmpty = text;
        return this;
    }

    public CommandDeclaration text(String heading, String member) {
        return column(heading, member, CellKind.TEXT);
    }

    public CommandDeclaration time(String heading, String member) {
        return column(heading, member, CellKind.TIME);
    }

    public CommandDeclaration column(String heading, String member, CellKind kind) {
        columns.add(new Column(heading, member, kind, _ -> ""));
        return this;
    }

    /** A column whose text is computed from the row. */
    public CommandDeclaration column(String heading, Function<JsonNode, String> text) {
        columns.add(new Column(heading, "", CellKind.TEXT, text));
        return this;
    }

    /** Suggests a command about the first row, whose argument is the text of a member. */
    public CommandDeclaration suggest(String command, String member) {
        suggestion = new Suggestion(command, member);
        return this;
    }

    /** Prints the response of an operation that is no list as one line. */
    public CommandDeclaration line(Function<JsonNode, String> text) {
        line = text;
        return this;
    }

    public String words() {
        return words;
    }

    /** The first word: the resource. */
    public String group() {
        return words.substring(0, words.indexOf(' '));
    }

    public String verb() {
        return words.substring(words.indexOf(' ') + 1);
    }

    public String description() {
        return description;
    }

    public List<String> exampleLines() {
        return List.copyOf(examples);
    }

    public List<Argument> arguments() {
        return List.copyOf(arguments);
    }

    public List<Option> options() {
        return List.copyOf(options);
    }

    public List<Column> columns() {
        return List.copyOf(columns);
    }

    public String emptyText() {
        return whenEmpty;
    }

    public boolean hasExport() {
        return exports;
    }

    public @Nullable Function<JsonNode, String> lineText() {
        return line;
    }

    public @Nullable Suggestion suggestion() {
        return suggestion;
    }
}
