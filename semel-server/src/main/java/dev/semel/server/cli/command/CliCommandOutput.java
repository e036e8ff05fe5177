package dev.semel.server.cli.command;

import java.time.Instant;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;
import tools.jackson.databind.JsonNode;

/** Output options and printing of a command: data to stdout, messages to stderr, colour only on a terminal. */
public final class CliCommandOutput {
    @Spec(Spec.Target.MIXEE)
    @SuppressWarnings("NullAway.Init") // picocli sets it before the call
    CommandSpec spec;

    @Option(names = "--json", description = "Print one JSON document to stdout.")
    public boolean json;

    @Option(
            names = "--plain",
            description = "Print tab-separated lines for grep and cut: full times, no heading, no colour.")
    public boolean plain;

    @Option(names = "--no-color", description = "Print no colours. The environment variable NO_COLOR does the same.")
    boolean noColor;

    private CliCommandEnvironment environment() {
        return CliCommandEnvironment.of(spec);
    }

    /** Prints a line of data to stdout. */
    public void printLine(String text) {
        environment().out().println(text);
    }

    public void printJson(JsonNode document) {
        printLine(TerminalJsonFormatter.pretty(document));
    }

    /** Prints a response: with --json as it is, else as the given text. Returns the exit code for success. */
    public int print(JsonNode response, Runnable text) {
        if (json) {
            printJson(response);
        } else {
            text.run();
        }
        return ExitCode.OK;
    }

    /** Prints the warnings of a response to stderr. */
    public void printWarnings(JsonNode response) {
        TerminalJsonFormatter.texts(response.path("warnings")).forEach(warning -> printMessage("warning: " + warning));
    }

    /** Prints a message for the user to stderr. */
    public void printMessage(String text) {
        environment().err().println(text);
    }

    /** Prints a progress line that the next one overwrites; for a terminal. */
    public void printProgress(String text) {
        environment().err().print("\r" + text);
        environment().err().flush();
    }

    public void suggestCommand(String command) {
        if (!json && !plain) {
            printMessage(faint("next: " + command));
        }
    }

    /** A time relative to {@code now}. */
    public String formatTime(Instant moment, Instant now) {
        return plain ? moment.toString() : CliDurationFormatter.formatRelative(moment, now);
    }

    /** The time in a member relative to {@code now}; empty if there is none. */
    public String formatTime(JsonNode node, String member, Instant now) {
        @Nullable Instant moment = TerminalJsonFormatter.instant(node, member);
        return moment == null ? "" : formatTime(moment, now);
    }

    public String green(String text) {
        return coloured("32", text);
    }

    public String red(String text) {
        return coloured("31", text);
    }

    public String yellow(String text) {
        return coloured("33", text);
    }

    String faint(String text) {
        return coloured("2", text);
    }

    public String colourStatus(String status) {
        return switch (status) {
            case "completed" -> green(status);
            case "failed", "cancelled" -> red(status);
            case "in_doubt", "held" -> yellow(status);
            default -> status;
        };
    }

    private String coloured(String colour, String text) {
        return !json && !plain && !noColor && supportsColour(environment())
                ? "\u001b[" + colour + "m" + text + "\u001b[0m"
                : text;
    }

    /** Such as `1 run` or `2 runs`. */
    public static String countOf(long number, String noun) {
        return number + " " + noun + (number == 1 ? "" : "s");
    }

    public static boolean supportsColour(CliCommandEnvironment environment) {
        return environment.isTerminal()
                && environment.variable("NO_COLOR").isEmpty()
                && !environment.variable("TERM").equals("dumb");
    }
}
