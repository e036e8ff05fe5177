package dev.semel.server.cli;

import java.time.Instant;
import picocli.CommandLine.Option;
import tools.jackson.databind.JsonNode;

/** Output options and printing of a command: data to stdout, messages to stderr, colour only on a terminal. */
final class CommandOutput {
    private final CommandEnvironment environment;

    @Option(names = "--json", description = "Print one JSON document to stdout.")
    boolean json;

    @Option(names = "--plain", description = "For grep and cut: tab-separated, full times, no heading, no colour.")
    boolean plain;

    @Option(names = "--no-color", description = "No colour, as with NO_COLOR.")
    boolean noColor;

    CommandOutput(CommandEnvironment environment) {
        this.environment = environment;
    }

    /** Prints a line of data to stdout. */
    void printLine(String text) {
        environment.out().println(text);
    }

    void printJson(JsonNode document) {
        printLine(TerminalJson.pretty(document));
    }

    /** Prints a message for the user to stderr. */
    void printMessage(String text) {
        environment.err().println(text);
    }

    /** Prints a progress line that the next one overwrites; for a terminal. */
    void printProgress(String text) {
        environment.err().print("\r" + text);
        environment.err().flush();
    }

    /** Suggests the next command. */
    void suggestCommand(String command) {
        if (!json && !plain) {
            printMessage(faint("next: " + command));
        }
    }

    /** A time relative to {@code now}. */
    String formatTime(Instant moment, Instant now) {
        return plain ? moment.toString() : DurationText.formatRelative(moment, now);
    }

    String green(String text) {
        return coloured("32", text);
    }

    String red(String text) {
        return coloured("31", text);
    }

    String yellow(String text) {
        return coloured("33", text);
    }

    String faint(String text) {
        return coloured("2", text);
    }

    /** A run's status in its colour. */
    String colourStatus(String status) {
        return switch (status) {
            case "completed" -> green(status);
            case "failed", "cancelled" -> red(status);
            case "in_doubt", "held" -> yellow(status);
            default -> status;
        };
    }

    private String coloured(String colour, String text) {
        return !json && !plain && !noColor && supportsColour(environment)
                ? "\u001b[" + colour + "m" + text + "\u001b[0m"
                : text;
    }

    static boolean supportsColour(CommandEnvironment environment) {
        return environment.isTerminal()
                && environment.variable("NO_COLOR").isEmpty()
                && !environment.variable("TERM").equals("dumb");
    }
}
