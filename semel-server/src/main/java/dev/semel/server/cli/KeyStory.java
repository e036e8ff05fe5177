package dev.semel.server.cli;

import java.time.Duration;
import java.time.Instant;
import java.util.LinkedHashSet;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/** Prints a key record in sentences: its window, its first request, its duplicates, and what a repeat would return. */
final class KeyStory {
    private final Output output;
    private final JsonNode record;
    private final Instant now;

    KeyStory(Output output, JsonNode record, Instant now) {
        this.output = output;
        this.record = record;
        this.now = now;
    }

    /** @param runStatus status of the run; empty if unknown */
    void print(String runStatus, JsonNode requests) {
        String workflow = Json.text(record, "operation_name");
        output.line(Json.text(record, "idempotency_key") + (workflow.isEmpty() ? "" : "  in " + workflow) + "  "
                + window(runStatus));
        output.line(past(runStatus, requests));
        String error = Json.text(record, "error_summary");
        if (!error.isEmpty()) {
            output.line("The run failed: " + error + ".");
        }
        if (!requests.isEmpty()) {
            output.line("");
            RequestsCommand.table(output, requests, now).print(output);
            output.line("");
        }
        for (JsonNode sentence : record.path("story")) {
            if (sentence.asString("").startsWith("Step ")) {
                output.line(Json.clean(sentence.asString("")));
            }
        }
        output.line(future(runStatus));
        for (JsonNode other : record.path("others")) {
            output.line("The same key also belongs to " + Json.text(other, "response_reference") + " in "
                    + Json.text(other, "operation_name") + " (" + Json.text(other, "status") + ").");
        }
    }

    private String window(String runStatus) {
        String status = Json.text(record, "status");
        @Nullable Duration left = left();
        return switch (status) {
            case "active" ->
                output.green("active")
                        + (left == null || left.isNegative() ? "" : ", " + Times.span(left) + " left")
                        + (held(runStatus) ? ", held while the run has not ended" : "");
            default -> status;
        };
    }

    private String past(String runStatus, JsonNode requests) {
        StringBuilder story = new StringBuilder();
        @Nullable Instant first = Json.instant(record, "created_at");
        story.append(first == null ? "Seen" : "First seen " + output.when(first, now));
        String run = Json.text(record, "response_reference");
        if (!run.isEmpty()) {
            story.append(", started ").append(run);
            story.append(runStatus.isEmpty() ? "" : " (" + output.status(runStatus) + ")");
        }
        long replays = Listing.count(record, "replays", "replay_count");
        long conflicts = Listing.count(record, "conflicts", "conflict_count");
        if (replays == 0 && conflicts == 0) {
            return story.append(". It was not sent again.").toString();
        }
        story.append(". Since then ");
        if (replays > 0) {
            story.append(SendReport.count(replays, "duplicate")).append(replays == 1 ? " was" : " were");
            story.append(" answered with that run");
        }
        if (conflicts > 0) {
            story.append(replays > 0 ? " and " : "").append(SendReport.count(conflicts, "request"));
            story.append(conflicts == 1 ? " was" : " were").append(" rejected").append(because(requests));
        }
        return story.append('.').toString();
    }

    private static String because(JsonNode requests) {
        Set<String> names = new LinkedHashSet<>();
        for (JsonNode request : requests) {
            if (Json.text(request, "kind").equals("conflict")) {
                names.addAll(RequestsCommand.changed(request));
            }
        }
        return names.isEmpty() ? "" : " because " + String.join(", ", names) + " differed";
    }

    private String future(String runStatus) {
        if (!Json.text(record, "status").equals("active")) {
            return "If it came again now: 200, a new run would start.";
        }
        String run = Json.text(record, "response_reference");
        String answer = "If it came again now with the same data: 200, same run" + (run.isEmpty() ? "" : " " + run);
        if (runStatus.equals("failed")) {
            answer += ", still failed (a new run only if the workflow sets on_failed: run_again)";
        }
        @Nullable Duration left = left();
        if (held(runStatus)) {
            return answer + ". The key is held at least until the run has ended.";
        }
        return answer
                + (left == null || left.isNegative() ? "." : ". In " + Times.span(left) + ": a new run would start.");
    }

    /** The key of an unfinished run does not expire. */
    private static boolean held(String runStatus) {
        return switch (runStatus) {
            case "", "completed", "failed", "cancelled" -> false;
            default -> true;
        };
    }

    private @Nullable Duration left() {
        @Nullable Instant expires = Json.instant(record, "expires_at");
        return expires == null ? null : Duration.between(now, expires);
    }
}
