package dev.semel.server.cli.idempotency;

import dev.semel.server.cli.command.CliCommandOutput;
import dev.semel.server.cli.command.CliDurationFormatter;
import dev.semel.server.cli.command.CliPagingOptions;
import dev.semel.server.cli.command.TerminalJsonFormatter;
import java.time.Duration;
import java.time.Instant;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/** Prints a key record in sentences: its window, its first request, its duplicates, and what a repeat would return. */
record CliIdempotencyKeyHistoryPrinter(CliCommandOutput output, JsonNode record, Instant now) {
    /** @param runStatus status of the run; empty if unknown */
    void print(String runStatus, JsonNode requests) {
        String workflow = TerminalJsonFormatter.text(record, "operation_name");
        output.printLine(TerminalJsonFormatter.text(record, "idempotency_key")
                + (workflow.isEmpty() ? "" : "  in " + workflow) + "  " + window(runStatus));
        output.printLine(past(runStatus, requests));
        String error = TerminalJsonFormatter.text(record, "error_summary");
        if (!error.isEmpty()) {
            output.printLine("The run failed: " + error + ".");
        }
        if (!requests.isEmpty()) {
            output.printLine("");
            DuplicateRequestListCommand.toTable(output, requests, now).print(output);
            output.printLine("");
        }
        for (JsonNode sentence : record.path("history")) {
            if (sentence.asString("").startsWith("Step ")) {
                output.printLine(TerminalJsonFormatter.sanitize(sentence.asString("")));
            }
        }
        output.printLine(future(runStatus));
        for (JsonNode other : record.path("others")) {
            output.printLine("The same key also belongs to " + TerminalJsonFormatter.text(other, "response_reference")
                    + " in " + TerminalJsonFormatter.text(other, "operation_name") + " ("
                    + TerminalJsonFormatter.text(other, "status") + ").");
        }
    }

    private String window(String runStatus) {
        String status = TerminalJsonFormatter.text(record, "status");
        @Nullable Duration left = left();
        return switch (status) {
            case "active" ->
                output.green("active")
                        + (left == null || left.isNegative() ? "" : ", " + CliDurationFormatter.format(left) + " left")
                        + (held(runStatus) ? ", active at least until the run ends" : "");
            default -> status;
        };
    }

    private String past(String runStatus, JsonNode requests) {
        StringBuilder story = new StringBuilder();
        @Nullable Instant first = TerminalJsonFormatter.instant(record, "created_at");
        story.append(first == null ? "Seen" : "First seen " + output.formatTime(first, now));
        String run = TerminalJsonFormatter.text(record, "response_reference");
        if (!run.isEmpty()) {
            story.append(", started ").append(run);
            story.append(runStatus.isEmpty() ? "" : " (" + output.colourStatus(runStatus) + ")");
        }
        long replays = CliPagingOptions.firstCount(record, "replays", "replay_count");
        long conflicts = CliPagingOptions.firstCount(record, "conflicts", "conflict_count");
        if (replays == 0 && conflicts == 0) {
            return story.append(". No other request used this key.").toString();
        }
        story.append(". Since then ");
        if (replays > 0) {
            story.append(CliCommandOutput.countOf(replays, "duplicate")).append(replays == 1 ? " was" : " were");
            story.append(" answered with that run");
        }
        if (conflicts > 0) {
            story.append(replays > 0 ? " and " : "").append(CliCommandOutput.countOf(conflicts, "request"));
            story.append(conflicts == 1 ? " was" : " were").append(" rejected").append(because(requests));
        }
        return story.append('.').toString();
    }

    private static String because(JsonNode requests) {
        String names = requests.valueStream()
                .filter(request -> TerminalJsonFormatter.text(request, "kind").equals("conflict"))
                .flatMap(request -> DuplicateRequestListCommand.changedFields(request).stream())
                .distinct()
                .collect(Collectors.joining(", "));
        return names.isEmpty() ? "" : " because " + names + " differed";
    }

    private String future(String runStatus) {
        if (!TerminalJsonFormatter.text(record, "status").equals("active")) {
            return "A request with this key would now get status 200 and start a new run.";
        }
        String run = TerminalJsonFormatter.text(record, "response_reference");
        String answer = "A request with this key and the same data would now get status 200 and the same run"
                + (run.isEmpty() ? "" : " " + run);
        if (runStatus.equals("failed")) {
            answer += ", which failed (a new run would start only if the workflow sets on_failed: run_again)";
        }
        @Nullable Duration left = left();
        if (held(runStatus)) {
            return answer + ". The key stays active at least until the run ends.";
        }
        return answer
                + (left == null || left.isNegative()
                        ? "."
                        : ". After " + CliDurationFormatter.format(left) + ", such a request would start a new run.");
    }

    /** The key of an unfinished run does not expire. */
    private static boolean held(String runStatus) {
        return switch (runStatus) {
            case "", "completed", "failed", "cancelled" -> false;
            default -> true;
        };
    }

    private @Nullable Duration left() {
        @Nullable Instant expires = TerminalJsonFormatter.instant(record, "expires_at");
        return expires == null ? null : Duration.between(now, expires);
    }
}
