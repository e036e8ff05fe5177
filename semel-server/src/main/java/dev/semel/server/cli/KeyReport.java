package dev.semel.server.cli;

import java.time.Duration;
import java.time.Instant;
import java.util.LinkedHashSet;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/** Prints a key record in sentences: its window, its first request, its duplicates, and what a repeat would return. */
final class KeyReport {
    private final CommandOutput output;
    private final JsonNode record;
    private final Instant now;

    KeyReport(CommandOutput output, JsonNode record, Instant now) {
        this.output = output;
        this.record = record;
        this.now = now;
    }

    /** @param runStatus status of the run; empty if unknown */
    void print(String runStatus, JsonNode requests) {
        String workflow = TerminalJson.text(record, "operation_name");
        output.printLine(TerminalJson.text(record, "idempotency_key") + (workflow.isEmpty() ? "" : "  in " + workflow)
                + "  " + window(runStatus));
        output.printLine(past(runStatus, requests));
        String error = TerminalJson.text(record, "error_summary");
        if (!error.isEmpty()) {
            output.printLine("The run failed: " + error + ".");
        }
        if (!requests.isEmpty()) {
            output.printLine("");
            RequestListCommand.toTable(output, requests, now).print(output);
            output.printLine("");
        }
        for (JsonNode sentence : record.path("history")) {
            if (sentence.asString("").startsWith("Step ")) {
                output.printLine(TerminalJson.sanitize(sentence.asString("")));
            }
        }
        output.printLine(future(runStatus));
        for (JsonNode other : record.path("others")) {
            output.printLine("The same key also belongs to " + TerminalJson.text(other, "response_reference") + " in "
                    + TerminalJson.text(other, "operation_name") + " (" + TerminalJson.text(other, "status") + ").");
        }
    }

    private String window(String runStatus) {
        String status = TerminalJson.text(record, "status");
        @Nullable Duration left = left();
        return switch (status) {
            case "active" ->
                output.green("active")
                        + (left == null || left.isNegative() ? "" : ", " + DurationText.format(left) + " left")
                        + (held(runStatus) ? ", held while the run has not ended" : "");
            default -> status;
        };
    }

    private String past(String runStatus, JsonNode requests) {
        StringBuilder story = new StringBuilder();
        @Nullable Instant first = TerminalJson.instant(record, "created_at");
        story.append(first == null ? "Seen" : "First seen " + output.formatTime(first, now));
        String run = TerminalJson.text(record, "response_reference");
        if (!run.isEmpty()) {
            story.append(", started ").append(run);
            story.append(runStatus.isEmpty() ? "" : " (" + output.colourStatus(runStatus) + ")");
        }
        long replays = PagingOptions.firstCount(record, "replays", "replay_count");
        long conflicts = PagingOptions.firstCount(record, "conflicts", "conflict_count");
        if (replays == 0 && conflicts == 0) {
            return story.append(". It was not sent again.").toString();
        }
        story.append(". Since then ");
        if (replays > 0) {
            story.append(SendReport.countOf(replays, "duplicate")).append(replays == 1 ? " was" : " were");
            story.append(" answered with that run");
        }
        if (conflicts > 0) {
            story.append(replays > 0 ? " and " : "").append(SendReport.countOf(conflicts, "request"));
            story.append(conflicts == 1 ? " was" : " were").append(" rejected").append(because(requests));
        }
        return story.append('.').toString();
    }

    private static String because(JsonNode requests) {
        Set<String> names = new LinkedHashSet<>();
        for (JsonNode request : requests) {
            if (TerminalJson.text(request, "kind").equals("conflict")) {
                names.addAll(RequestListCommand.changedFields(request));
            }
        }
        return names.isEmpty() ? "" : " because " + String.join(", ", names) + " differed";
    }

    private String future(String runStatus) {
        if (!TerminalJson.text(record, "status").equals("active")) {
            return "If it came again now: 200, a new run would start.";
        }
        String run = TerminalJson.text(record, "response_reference");
        String answer = "If it came again now with the same data: 200, same run" + (run.isEmpty() ? "" : " " + run);
        if (runStatus.equals("failed")) {
            answer += ", still failed (a new run only if the workflow sets on_failed: run_again)";
        }
        @Nullable Duration left = left();
        if (held(runStatus)) {
            return answer + ". The key is held at least until the run has ended.";
        }
        return answer
                + (left == null || left.isNegative()
                        ? "."
                        : ". In " + DurationText.format(left) + ": a new run would start.");
    }

    /** The key of an unfinished run does not expire. */
    private static boolean held(String runStatus) {
        return switch (runStatus) {
            case "", "completed", "failed", "cancelled" -> false;
            default -> true;
        };
    }

    private @Nullable Duration left() {
        @Nullable Instant expires = TerminalJson.instant(record, "expires_at");
        return expires == null ? null : Duration.between(now, expires);
    }
}
