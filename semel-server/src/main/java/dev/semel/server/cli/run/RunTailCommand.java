package dev.semel.server.cli.run;

import dev.semel.server.cli.command.CliApiClient;
import dev.semel.server.cli.command.CliApiCommand;
import dev.semel.server.cli.command.CliApiRequest;
import dev.semel.server.cli.command.CliDurationFormatter;
import dev.semel.server.cli.command.CliNoServerResponseException;
import dev.semel.server.cli.command.CliPagingOptions;
import dev.semel.server.cli.command.ExitCode;
import dev.semel.server.cli.command.TerminalJsonFormatter;
import java.time.Duration;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.Map;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/** `semel tail`: prints one line for each change of a run, from the server's event stream. */
@Command(
        name = "tail",
        description = "Shows runs, duplicates and conflicts as they happen.",
        footer = {
            "  semel tail",
            "  semel tail --workflow payment_receipt --only conflict",
            "  semel tail --for 30s --json"
        })
public final class RunTailCommand extends CliApiCommand {
    private static final Duration AGAIN = Duration.ofSeconds(1);
    private static final int LONGEST_STREAM = 600;
    private static final int MOST_REMEMBERED = 10_000;

    @Option(names = "--workflow", paramLabel = "W", description = "Only runs of this workflow, by its name.")
    String workflow = "";

    @Option(names = "--key", paramLabel = "K", description = "Only the run of this key.")
    String key = "";

    @Option(names = "--status", paramLabel = "S", description = "Only runs that reach this status, such as failed.")
    String status = "";

    @Option(names = "--only", paramLabel = "WHAT", description = "Only lines of this kind: run, replayed or conflict.")
    String only = "";

    @Option(names = "--for", paramLabel = "TIME", description = "Stop after this time. Default: when interrupted.")
    String length = "";

    /** The state in which each run was last printed; the oldest entry is dropped first. */
    private final Map<String, RunSnapshot> printed = new LinkedHashMap<>();

    private record RunSnapshot(String status, long replays, long conflicts) {
        static final RunSnapshot UNKNOWN = new RunSnapshot("", 0, 0);

        static RunSnapshot of(JsonNode event) {
            return new RunSnapshot(
                    TerminalJsonFormatter.text(event, "status"),
                    CliPagingOptions.firstCount(event, "replays"),
                    CliPagingOptions.firstCount(event, "conflicts"));
        }
    }

    @Override
    public Integer call() throws InterruptedException {
        if (!only.matches("|run|replayed|conflict")) {
            throw usage("--only must be run, replayed or conflict.");
        }
        Instant end =
                length.isEmpty() ? Instant.MAX : environment().clock().instant().plus(typed(length));
        CliApiClient api = connection.api();
        for (boolean first = true; ; first = false) {
            Instant now = environment().clock().instant();
            if (!now.isBefore(end)) {
                return ExitCode.OK;
            }
            long left = end.equals(Instant.MAX)
                    ? LONGEST_STREAM
                    : Duration.between(now, end).toSeconds();
            long seconds = Math.clamp(left, 1, LONGEST_STREAM);
            try {
                api.streamLines(
                        CliApiRequest.get("v1", "tail").withQuery("seconds", Long.toString(seconds)), this::line);
            } catch (CliNoServerResponseException none) {
                if (first) {
                    throw api.toUnreachableFailure(none);
                }
                output.printMessage(none.reason() + "; trying again");
            }
            // The server ends a stream after a while. The next begins with the current state; nothing prints twice.
            environment().sleeper().sleep(AGAIN);
        }
    }

    private Duration typed(String text) {
        try {
            return CliDurationFormatter.parse(text);
        } catch (IllegalArgumentException e) {
            throw usage("--for: " + e.getMessage() + ".");
        }
    }

    private void line(String line) {
        if (!line.startsWith("data: ")) {
            return;
        }
        JsonNode event;
        try {
            event = TerminalJsonFormatter.parse(line.substring("data: ".length()));
        } catch (JacksonException notJson) {
            return;
        }
        if (!event.has("run_id")) {
            return; // counts of reviews and requests; lists show them
        }
        if (!workflow.isEmpty() && !workflow.equals(event.path("workflow").asString(""))
                || !key.isEmpty() && !key.equals(event.path("key").asString(""))) {
            return;
        }
        RunSnapshot before = printed.getOrDefault(TerminalJsonFormatter.text(event, "run_id"), RunSnapshot.UNKNOWN);
        RunSnapshot now = RunSnapshot.of(event);
        remember(TerminalJsonFormatter.text(event, "run_id"), now);
        if (!now.status().equals(before.status())) {
            print(event, "run", now.status(), 1);
        }
        if (status.isEmpty()) {
            print(event, "replayed", "replayed", now.replays() - before.replays());
            print(event, "conflict", "conflict", now.conflicts() - before.conflicts());
        }
    }

    private void remember(String run, RunSnapshot state) {
        printed.remove(run);
        printed.put(run, state);
        if (printed.size() > MOST_REMEMBERED) {
            printed.remove(printed.keySet().iterator().next());
        }
    }

    private void print(JsonNode event, String what, String word, long times) {
        boolean wanted = (only.isEmpty() || only.equals(what)) && (status.isEmpty() || status.equals(word));
        if (times < 1 || !wanted) {
            return;
        }
        if (output.json) {
            ObjectNode out = (ObjectNode) event.deepCopy();
            output.printLine(TerminalJsonFormatter.compact(out.put("what", what).put("times", times)));
            return;
        }
        String shown = switch (what) {
            case "replayed" -> output.plain ? word : output.yellow("↺ replayed");
            case "conflict" -> output.plain ? word : output.red("✗ conflict");
            default -> output.colourStatus(word);
        };
        String mark = output.plain ? "\t" : "  ";
        output.printLine(String.join(
                        mark,
                        TerminalJsonFormatter.text(event, "run_id"),
                        TerminalJsonFormatter.text(event, "workflow"),
                        TerminalJsonFormatter.text(event, "key").isEmpty()
                                ? "-"
                                : TerminalJsonFormatter.text(event, "key"),
                        shown)
                + (times > 1 ? mark + "×" + times : ""));
    }
}
