package dev.semel.server.cli;

import java.time.Instant;
import picocli.CommandLine.Option;
import tools.jackson.databind.JsonNode;

/** Output options and printing of a command: data to stdout, messages to stderr, colour only on a terminal. */
final class Output {
    private final Surroundings environment;

    @Option(names = "--json", description = "Print one JSON document to stdout.")
    boolean json;

    @Option(names = "--plain", description = "For grep and cut: tab-separated, full times, no heading, no colour.")
    boolean plain;

    @Option(names = "--no-color", description = "No colour, as with NO_COLOR.")
    boolean noColor;

    Output(Surroundings environment) {
        this.environment = environment;
    }

    /** Prints a line of data to stdout. */
    void line(String text) {
        environment.out().println(text);
    }

    void document(JsonNode document) {
        line(Json.pretty(document));
    }

    /** Prints a message for the user to stderr. */
    void talk(String text) {
        environment.err().println(text);
    }

    /** Prints a progress line that the next one overwrites; for a terminal. */
    void over(String text) {
        environment.err().print("\r" + text);
        environment.err().flush();
    }

    /** Suggests the next command. */
    void next(String command) {
        if (!json && !plain) {
            talk(faint("next: " + command));
        }
    }

    /** A time relative to {@code now}. */
    String when(Instant moment, Instant now) {
        return plain ? moment.toString() : Times.ago(moment, now);
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
    String status(String status) {
        return switch (status) {
            case "completed" -> green(status);
            case "failed", "cancelled" -> red(status);
            case "in_doubt" -> yellow(status);
            default -> status;
        };
    }

    private String coloured(String colour, String text) {
        return !json && !plain && !noColor && mayColour(environment) ? "\u001b[" + colour + "m" + text + "\u001b[0m" : text;
    }

    static boolean mayColour(Surroundings environment) {
        return environment.terminal()
                && environment.variable("NO_COLOR").isEmpty()
                && !environment.variable("TERM").equals("dumb");
    }
}
