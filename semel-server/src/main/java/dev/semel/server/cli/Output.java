package dev.semel.server.cli;

import java.time.Instant;
import picocli.CommandLine.Option;
import tools.jackson.databind.JsonNode;

/** How a command speaks: data on stdout, talk on stderr; colour on a terminal only. */
final class Output {
    private final Surroundings around;

    @Option(names = "--json", description = "One JSON document on stdout.")
    boolean json;

    @Option(names = "--plain", description = "For grep and cut: tab-separated, full times, no heading, no colour.")
    boolean plain;

    @Option(names = "--no-color", description = "No colour; NO_COLOR does the same.")
    boolean noColor;

    Output(Surroundings around) {
        this.around = around;
    }

    /** A line of data. */
    void line(String text) {
        around.out().println(text);
    }

    void document(JsonNode document) {
        line(Json.pretty(document));
    }

    /** A line for the person, never for a pipe. */
    void talk(String text) {
        around.err().println(text);
    }

    /** Talk that is written over by the next of its kind; for a terminal. */
    void over(String text) {
        around.err().print("\r" + text);
        around.err().flush();
    }

    /** Suggests what to do next. */
    void next(String command) {
        if (!json && !plain) {
            talk(faint("next: " + command));
        }
    }

    /** A moment, seen from {@code now}. */
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
        return !json && !plain && !noColor && mayColour(around) ? "\u001b[" + colour + "m" + text + "\u001b[0m" : text;
    }

    static boolean mayColour(Surroundings around) {
        return around.terminal()
                && around.variable("NO_COLOR").isEmpty()
                && !around.variable("TERM").equals("dumb");
    }
}
